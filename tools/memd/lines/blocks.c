// SPDX-License-Identifier: GPL-2.0-only
/* Contents on the wire, see blocks.h. */
#include "lines/blocks.h"

#include "base/blade.h"
#include "base/log.h"
#include "lines/access.h"
#include "lines/grace.h"
#include "net/held.h"
#include "net/members.h"
#include "net/send.h"
#include "net/udp.h"
#include "rdma/write.h"
#include "standby/mirror.h"
#include "store/backing.h"
#include "store/frames.h"
#include "store/layer.h"

/* --- READ ------------------------------------------------------------------- */

/* Fill in @len bytes of a block, from @offset.  Return: false: unreadable. */
static bool load(struct memd *m, const struct block *b, u32 offset, void *to,
		 u32 len)
{
	if (!b || b->frame == FRAME_NONE) {
		memset(to, 0, len);
		return true;
	}
	return !frames_load(m->b->frames, b->frame, offset, to, len);
}

void blocks_lost(struct memd *m, struct region *r, struct block *b)
{
	if (b->lost)
		return;
	b->lost = true;
	/* a node that reads by its remote handle would not hear of the loss */
	frames_unmark(m->b->frames, b->frame);
	__atomic_add_fetch(&r->lost, 1, __ATOMIC_RELAXED);
	count(m, BLOCK_LOST);
}

/* Contents that the end of a machine has mixed up are given to nobody. */
static void check(struct memd *m, struct region *r, struct block *b)
{
	u64 version = b->version;

	if (b->frame == FRAME_NONE || frames_check(m->b->frames, b->frame))
		return;
	/* once for each block and start, so it is said whatever else there is to say */
	log_say("block %llu of region %u is lost: %s has other contents in its place, as after a power failure",
		 (unsigned long long)block_index(b), r->id, m->b->backing->path);
	blocks_clear(m, r, b);
	frames_give_back(m->b->frames);
	b->version = version;
}

/* Return: true if the card brings the block to where the request says, if it does. */
static bool landed(struct memd *m, const struct weft_msg *msg, const struct weft_msg *data,
		   const struct block *b, u32 to)
{
	struct weft_landing landing;
	struct weft_msg tell = *data;

	if (!weft_landing_unpack(&landing, msg))
		return false;
	tell.type = WEFT_MSG_LANDED;
	tell.info = 0;
	return rdma_write(m, &tell, &landing, to, b ? b->frame : FRAME_NONE);
}

/* Is what is here older than what a node had that has died? */
static bool is_lost(struct memd *m, struct region *r, struct block *b,
		    const struct weft_msg *msg)
{
	if (!weft_home_reads_lost(b ? &b->line : NULL, grace_nodes(m), msg))
		return b && b->lost;
	if (!b)
		b = region_block(m->b->regions, r, weft_line_index(msg->line), true);
	/* mark it once for each READ: a copy of the READ may come after the loss was accepted */
	if (b && b->lost_txn != msg->txn) {
		blocks_lost(m, r, b);
		b->lost_txn = msg->txn;
	}
	return true;
}

void blocks_read(struct memd *m, const struct weft_msg *msg)
{
	u32 to = weft_txn_member(msg->txn), addr, offset, full;
	u64 index = weft_line_index(msg->line), none, *hash;
	struct weft_msg data;
	struct region *r;
	struct block *b;
	u16 why;

	if (!(weft_node_bit(to) & grace_nodes(m))) {
		count(m, STRANGER);
		return;
	}
	addr = m->b->members->by_id[to].addr;
	r = access_block(m, msg->line);
	if (!r) {
		access_refuse(m, msg, WEFT_WHY_NO_LINE, addr);
		return;
	}
	why = access_contents(m, r, to);
	if (why) {
		access_refuse(m, msg, why, addr);
		return;
	}
	b = region_block(m->b->regions, r, index, false);
	if (b)
		check(m, r, b);
	full = m->udp->fragment < r->block ? m->udp->fragment : r->block;
	data = (struct weft_msg){
		.type = WEFT_MSG_DATA,
		.flags = msg->flags & (WEFT_F_BUSY | WEFT_F_EXCL | WEFT_F_SWITCH),
		.status = msg->status,
		.info = (u16)full,
		.txn = msg->txn,
		.line = msg->line,
		.copyset = msg->copyset,
		.grant = msg->grant,
		.version = b ? b->version : region_base(r, index),
		.size = r->block,
	};
	count(m, READ);
	if (is_lost(m, r, b, msg))
		data.flags |= WEFT_F_LOST;
	if (!b || b->frame == FRAME_NONE)
		count(m, READ_ZEROS);
	m->stats.count[STAT_READ_BYTES] += r->block;
	if (landed(m, msg, &data, b, to))
		return;
	for (offset = 0; offset < r->block; offset += full) {
		data.offset = offset;
		data.len = r->block - offset < full ? r->block - offset : full;
		if (!load(m, b, offset, send_buffer(m), data.len))
			return;
		none = 0;
		hash = b && b->frame != FRAME_NONE ?
			frames_hash(m->b->frames, b->frame, offset) : NULL;
		send_hashed(m, &data, addr, hash ? hash : &none);
	}
}

void blocks_send(struct memd *m, struct region *r, struct block *b, u32 txn, u32 to)
{
	u32 full = m->udp->fragment < r->block ? m->udp->fragment : r->block, offset;
	struct weft_msg wb;

	check(m, r, b);
	wb = (struct weft_msg){
		.type = WEFT_MSG_WB,
		.flags = b->lost ? WEFT_F_LOST : 0,
		.info = (u16)full,
		.txn = txn,
		.line = b->line.key,
		.version = b->version,
		.size = r->block,
	};
	for (offset = 0; offset < r->block; offset += full) {
		wb.offset = offset;
		wb.len = r->block - offset < full ? r->block - offset : full;
		if (!load(m, b, offset, send_buffer(m), wb.len))
			return;
		send_written(m, &wb, m->b->members->by_id[to].addr);
	}
}

/* If it is there.  It may not be ours, or beyond the end. */
static const struct block *made(struct memd *m, u64 line)
{
	struct region *r;

	/* another thread may change its lines meanwhile */
	if (memd_of(m, line) != m)
		return NULL;
	r = region_find_again(m->b->regions, m->hint, weft_line_region(line));
	return r && weft_line_kind(line) == WEFT_KIND_PAGE ?
		region_block(m->b->regions, r, weft_line_index(line), false) : NULL;
}

void blocks_far(struct memd *m, u64 line)
{
	const struct block *b = made(m, line);

	if (!b)
		return;
	/* a block's record is not aligned: it has two cache lines */
	__builtin_prefetch(b, 1);
	__builtin_prefetch((const u8 *)(b + 1) - 1, 1);
}

void blocks_near(struct memd *m, u64 line)
{
	const struct block *b = made(m, line);

	if (b && b->frame != FRAME_NONE)
		frames_ahead(m->b->frames, b->frame);
}

/* --- WB --------------------------------------------------------------------- */

/* Does the acknowledgement of what belongs to @r wait for the standby?  NULL: it is gone. */
static bool waits(const struct memd *m, const struct region *r)
{
	return mirror_holding(m) &&
	       (!r || (r->policy & WEFT_POLICY_DURABILITY) == WEFT_POLICY_MIRROR ||
		mirror_is_crowded(m));
}

/* Now, or when the standby has what is acknowledged; @r NULL: the region is gone. */
static void acknowledge(struct memd *m, const struct region *r, const struct weft_msg *msg)
{
	struct weft_msg ack = {
		.type = WEFT_MSG_WB_ACK,
		.txn = msg->txn,
		.line = msg->line,
		.version = msg->version,
	};

	if (waits(m, r))
		held_keep(m, msg);
	else
		send_to_member(m, &ack, weft_txn_member(msg->txn));
}

void blocks_clear(struct memd *m, struct region *r, struct block *b)
{
	r->lost -= b->lost;
	b->lost = false;
	if (b->frame != FRAME_NONE) {
		frames_release(m->b->frames, b->frame, true);
		b->frame = FRAME_NONE;
		__atomic_sub_fetch(&r->used, r->block, __ATOMIC_RELAXED);
	}
	b->version = region_base(r, block_index(b));
}

/* A whole block has come. */
static void store(struct memd *m, struct region *r, const struct weft_msg *msg,
		  const u8 *data)
{
	u32 pieces = r->block / FRAME_SIZE, frame;
	u64 index = weft_line_index(msg->line);
	struct block *b = region_block(m->b->regions, r, index, true);
	bool later;

	if (!b) {
		log_warn("out of memory for the directory");
		return;
	}
	/* the former home says that a node has died with a newer version */
	if (msg->flags & WEFT_F_LOST && weft_is_blade(msg->src))
		blocks_lost(m, r, b);
	if (msg->version <= b->version) {
		count(m, WRITE_OLD);
		acknowledge(m, r, msg);
		return;
	}
	frame = frames_store(m->b->frames, r->id, index * pieces, pieces,
			     msg->version, data, &later);
	/* not acknowledged: the node keeps the block and tries again */
	if (frame == FRAME_NONE && later) {
		count(m, WRITE_LATE);
		store_flush_soon(m);
		return;
	}
	if (frame == FRAME_NONE) {
		count(m, WRITE_FAILED);
		log_warn("cannot keep block %llu of region %u",
			 (unsigned long long)index, r->id);
		if (weft_node_bit(msg->src))
			grace_refused(m, msg->src);
		return;
	}
	/* the region has lines of other threads, too */
	if (b->frame == FRAME_NONE)
		__atomic_add_fetch(&r->used, r->block, __ATOMIC_RELAXED);
	else
		frames_release(m->b->frames, b->frame, false);
	b->frame = frame;
	b->version = msg->version;
	if (msg->flags & WEFT_F_LENT && weft_node_bit(msg->src))
		weft_home_saved(&b->line);
	count(m, WRITE);
	m->stats.count[STAT_WRITE_BYTES] += r->block;
	if (weft_node_bit(msg->src))
		grace_stored(m, msg->src);
	region_changed(r, index);
	acknowledge(m, r, msg);
}

/* --- incomplete blocks ------------------------------------------------------ */

void blocks_init(struct memd *m)
{
	u32 i, id;

	for (i = 0; i < m->b->threads; i++)
		for (id = 0; id <= WEFT_BLADE_MAX; id++)
			TAILQ_INIT(&m->b->thread[i]->staging->of[id]);
}

/* Nobody finds it any more. */
static void take_stage(struct staging *s, u8 node, struct stage *st)
{
	TAILQ_REMOVE(&s->of[node], st, next);
	s->bytes[node] -= st->size;
}

static void drop_stage(struct staging *s, u8 node, struct stage *st)
{
	take_stage(s, node, st);
	free(st);
}

void blocks_forget(struct memd *m, u8 node)
{
	struct staging *s;
	u32 i;

	for (i = 0; i < m->b->threads; i++) {
		s = m->b->thread[i]->staging;
		while (!TAILQ_EMPTY(&s->of[node]))
			drop_stage(s, node, TAILQ_FIRST(&s->of[node]));
	}
}

/* Make room for a block of @size: the oldest goes. */
static void make_room(struct memd *m, u8 node, u32 size)
{
	struct staging *s = m->staging;

	while (!TAILQ_EMPTY(&s->of[node]) &&
	       s->bytes[node] + size > STAGING_PER_NODE / m->b->threads) {
		drop_stage(s, node, TAILQ_LAST(&s->of[node], stages));
		count(m, STAGING_DROPPED);
	}
}

static struct stage *new_stage(struct memd *m, const struct weft_msg *msg)
{
	struct staging *s = m->staging;
	struct stage *st;

	make_room(m, msg->src, msg->size);
	st = malloc(sizeof(*st) + msg->size);
	if (!st)
		return NULL;
	st->line = msg->line;
	st->version = msg->version;
	st->size = msg->size;
	st->fragment = msg->info;
	st->have = 0;
	TAILQ_INSERT_HEAD(&s->of[msg->src], st, next);
	s->bytes[msg->src] += st->size;
	return st;
}

/*
 * The block that a fragment belongs to.  A newer version of a line displaces an
 * older one: the node has given that up.
 */
static struct stage *find_stage(struct memd *m, const struct weft_msg *msg)
{
	struct stage *st = TAILQ_FIRST(&m->staging->of[msg->src]), *older;

	for (; st; st = older) {
		older = TAILQ_NEXT(st, next);
		if (st->line != msg->line)
			continue;
		if (st->version == msg->version && st->size == msg->size &&
		    st->fragment == msg->info)
			return st;
		if (st->version <= msg->version)
			drop_stage(m->staging, msg->src, st);
	}
	return NULL;
}

void blocks_write(struct memd *m, const struct weft_msg *msg)
{
	/* a card writes a whole block, whatever its size */
	u32 n = msg->len == msg->size ? 1 : (msg->size + msg->info - 1) / msg->info;
	u32 frag = n == 1 ? 0 : msg->offset / msg->info;
	struct region *r = access_block(m, msg->line);
	struct stage *st;
	const struct block *b;

	/* another blade may send only blocks that move here */
	if (weft_is_blade(msg->src) && (!r || !region_expects(m->b->regions, r, msg->line))) {
		count(m, UNEXPECTED);
		return;
	}
	if (!r) {
		/* nobody wants it: the region is gone, or shorter */
		acknowledge(m, r, msg);
		return;
	}
	if (msg->size != r->block || n > 64) {
		count(m, BAD);
		return;
	}
	if (weft_node_bit(msg->src) && !access_write(m, r, msg->src))
		return;
	if (n == 1) {
		store(m, r, msg, msg->payload);
		return;
	}
	b = region_block(m->b->regions, r, weft_line_index(msg->line), false);
	if (b && msg->version <= b->version) {
		/* one acknowledgement for a block, not one for each fragment */
		count(m, WRITE_OLD);
		if (frag == n - 1)
			acknowledge(m, r, msg);
		return;
	}
	st = find_stage(m, msg);
	if (!st)
		st = new_stage(m, msg);
	if (!st)
		return;
	memcpy(st->data + msg->offset, msg->payload, msg->len);
	st->have |= 1ull << frag;
	if (st->have != (n == 64 ? ~0ull : (1ull << n) - 1))
		return;
	/* store() may wait to be alone; another thread may forget the node's stages meanwhile */
	take_stage(m->staging, msg->src, st);
	store(m, r, msg, st->data);
	free(st);
}
