// SPDX-License-Identifier: GPL-2.0-only
/* A region whose homes change, see rehome.h. */
#include "lines/rehome.h"

#include "base/blade.h"
#include "lines/blocks.h"
#include "lines/grace.h"
#include "lines/lines.h"
#include "lines/looks.h"
#include "net/members.h"
#include "store/backing.h"
#include "store/frames.h"

#define STEP_MS		1
#define AGAIN_MS	50	/* until a block is sent again */
#define STEP_RUNS	65536	/* looked at in one go */

static u64 all_of(const struct region *r, u64 run)
{
	u64 bits = 0;
	u32 i;

	for (i = 0; r->run[run] && i < RUN_BLOCKS; i++) {
		const struct block *b = &r->run[run]->block[i];

		if (b->frame != FRAME_NONE || b->lost)
			bits |= 1ull << i;
	}
	return bits;
}

/* All blocks that came with what the region has grown by. */
static bool extend(struct rehome *h)
{
	struct region *r = h->r;
	u64 *left;

	if (h->r->unsent.runs >= r->runs)
		return true;
	left = realloc(h->r->unsent.left, r->runs * sizeof(*left));
	if (!left)
		return false;
	for (h->r->unsent.left = left; h->r->unsent.runs < r->runs; h->r->unsent.runs++)
		left[h->r->unsent.runs] = all_of(r, h->r->unsent.runs);
	return true;
}

void rehome_free(struct region *r)
{
	struct rehome *h = r->rehome;

	if (!h)
		return;
	timer_stop(&h->timer);
	if (h->flush.running)
		(void)flush_end(&h->flush);
	flush_close(&h->flush);
	free(r->unsent.left);
	r->unsent = (struct unsent){ 0 };
	free(h);
	r->rehome = NULL;
}

/* --- sending ---------------------------------------------------------------------- */

/* Of a run that has another home: the lowest block that is to be sent, RUN_BLOCKS: none. */
static u32 next_in_run(struct rehome *h, u64 run)
{
	u64 left = __atomic_load_n(&h->r->unsent.left[run], __ATOMIC_RELAXED);

	return left ? (u32)__builtin_ctzll(left) : RUN_BLOCKS;
}

static bool goes_elsewhere(const struct memd *m, const struct region *r, u64 run)
{
	u64 key = weft_line_key(r->id, WEFT_KIND_PAGE, run * RUN_BLOCKS);

	return region_is_home(m->b->regions, r, key) &&
	       !region_will_be_home(m->b->regions, r, key);
}

static void send(struct memd *m, struct rehome *h, struct sent_block *s)
{
	struct region *r = h->r;
	struct block *b = region_block(m->b->regions, r, s->index, false);
	u64 key = weft_line_key(r->id, WEFT_KIND_PAGE, s->index);

	if (!b) {
		s->txn = 0;
		h->n--;
		return;
	}
	s->at = m->timers.now;
	s->version = b->version;
	blocks_send(m, r, b, s->txn, WEFT_BLADE_MIN + weft_line_blade(key, r->to));
}

static struct sent_block *free_place(struct rehome *h)
{
	u32 i;

	for (i = 0; i < REHOME_BLOCKS; i++)
		if (!h->sent[i].txn)
			return &h->sent[i];
	return NULL;
}

static void send_again(struct memd *m, struct rehome *h)
{
	u32 i;

	for (i = 0; h->n && i < REHOME_BLOCKS; i++)
		if (h->sent[i].txn && m->timers.now - h->sent[i].at >= AGAIN_MS)
			send(m, h, &h->sent[i]);
}

/* Send those of a run.  Return: false: no more may be in flight. */
static bool send_run(struct memd *m, struct rehome *h, u64 run)
{
	u32 limit = h->r->block < REHOME_BYTES ? REHOME_BYTES / h->r->block : 1, i;

	if (!goes_elsewhere(m, h->r, run))
		__atomic_store_n(&h->r->unsent.left[run], 0, __ATOMIC_RELAXED);
	while ((i = next_in_run(h, run)) < RUN_BLOCKS) {
		struct sent_block *s = h->n < limit ? free_place(h) : NULL;

		h->clean = 0;
		if (!s)
			return false;
		/* a write after this sends the block once more */
		__atomic_fetch_and(&h->r->unsent.left[run], ~(1ull << i), __ATOMIC_ACQ_REL);
		s->index = run * RUN_BLOCKS + i;
		s->txn = weft_txn(m->b->opt.id, memd_seq(m));
		h->n++;
		send(m, h, s);
	}
	return true;
}

/* As many as may be in flight. */
static void send_more(struct memd *m, struct rehome *h)
{
	u32 runs;

	for (runs = STEP_RUNS; runs && h->clean < h->r->unsent.runs; runs--) {
		if (!send_run(m, h, h->run))
			return;
		h->clean++;
		if (++h->run >= h->r->unsent.runs) {
			h->run = 0;
			h->passed = true;
		}
	}
	h->passed |= h->clean >= h->r->unsent.runs;
}

static void on_timer(struct memd *m, struct timer *t)
{
	struct rehome *h = timer_owner(t, struct rehome, timer);

	send_again(m, h);
	send_more(m, h);
	if (h->r->phase < WEFT_REHOME_SYNC)
		timer_set(&m->timers, t, STEP_MS);
}

static bool acknowledged(struct memd *m, struct rehome *h, const struct weft_msg *msg)
{
	u32 i;

	for (i = 0; i < REHOME_BLOCKS; i++) {
		struct sent_block *s = &h->sent[i];

		if (s->txn != msg->txn || s->version != msg->version ||
		    s->index != weft_line_index(msg->line))
			continue;
		s->txn = 0;
		h->n--;
		h->done++;
		send_more(m, h);
		break;
	}
	return true;
}

/* --- phases ----------------------------------------------------------------------- */

/* Drop blocks and locks whose home is another blade. */
static void drop_strays(struct memd *m, struct region *r)
{
	struct regions *rs = m->b->regions;
	u64 n;
	u32 i;

	if (!r->strays || r->frozen || r->trim.active)
		return;
	r->strays = false;
	for (n = 0; n < r->runs; n++) {
		if (!r->run[n] || region_is_home(rs, r, weft_line_key(r->id, WEFT_KIND_PAGE,
								      n * RUN_BLOCKS)))
			continue;
		for (i = 0; i < RUN_BLOCKS; i++) {
			blocks_clear(m, r, &r->run[n]->block[i]);
			lines_forget(m, r, &r->run[n]->block[i]);
		}
		free(r->run[n]);
		r->run[n] = NULL;
	}
	lines_drop_strays(m, r);
	frames_give_back(m->b->frames);
}

static u16 copies(const struct memd *m, const struct region *r, u64 *done)
{
	struct rehome *h = r->rehome;

	*done = h->done;
	return h->passed && grace_is_over(m) ? 0 : EINPROGRESS;
}

/* Stop serving the region: the directory forgets its lines, late answers go nowhere. */
static u16 freezes(struct memd *m, struct region *r, const struct weft_call *c, u64 *done)
{
	struct rehome *h = r->rehome;

	/* a recovery in which nodes give back ends first */
	if (!r->frozen && !grace_is_over(m))
		return EINPROGRESS;
	if (!r->frozen) {
		r->frozen = true;
		lines_renew_region(m, r, c->life & ~(u32)WEFT_GRANT_OWNED);
		h->clean = 0;
	}
	*done = h->done;
	if (!extend(h))
		return ENOMEM;
	send_more(m, h);
	return looks_mark(m) && h->clean >= h->r->unsent.runs && !h->n ? 0 : EINPROGRESS;
}

static u16 syncs(struct memd *m, struct region *r)
{
	struct rehome *h = r->rehome;

	if (m->b->backing->fd < 0 || h->synced)
		return 0;
	if (!h->flush.running) {
		flush_begin(&h->flush, 0, 0);
		return EINPROGRESS;
	}
	if (!flush_over(&h->flush))
		return EINPROGRESS;
	if (flush_end(&h->flush)) {
		backing_fails(m->b->backing);
		return EIO;
	}
	h->synced = true;
	return 0;
}

static u16 adopts(struct memd *m, struct region *r, const struct weft_call *c)
{
	if (!r->frozen) {
		r->frozen = true;
		lines_renew_region(m, r, c->life & ~(u32)WEFT_GRANT_OWNED);
	}
	r->strays = true;
	region_set_homes(m->b->regions, r, c->homes, 0);
	return looks_mark(m) ? 0 : EINPROGRESS;
}

static u16 thaws(struct memd *m, struct region *r, const struct weft_call *c)
{
	rehome_free(r);
	region_set_homes(m->b->regions, r, c->homes, 0);
	r->frozen = false;
	drop_strays(m, r);
	return 0;
}

/* Return: false: no memory, or no more files. */
static bool begin(struct memd *m, struct region *r, u32 to)
{
	struct rehome *h = calloc(1, sizeof(*h));

	if (!h)
		return false;
	h->r = r;
	r->rehome = h;
	if (!extend(h) || (m->b->backing->fd >= 0 &&
			   flush_open(&h->flush, m->b->backing->fd, false))) {
		rehome_free(r);
		return false;
	}
	r->strays = true;
	region_set_homes(m->b->regions, r, r->homes, to);
	h->timer.fn = on_timer;
	timer_set(&m->timers, &h->timer, 1);
	return true;
}

static bool is_newer(u32 a, u32 b)
{
	return (int)(a - b) > 0;
}

u16 rehome_phase(struct memd *m, struct region *r, const struct weft_call *c, u64 *done)
{
	*done = 0;
	if (r->moved && (is_newer(r->moved, c->life) ||
			 (r->moved == c->life && r->phase > c->valid)))
		return ESTALE;
	if (r->gone || !c->homes || c->homes >> m->b->regions->blades)
		return ESTALE;
	if (r->trim.active || r->withdraw.active)
		return EINPROGRESS;
	if (!r->rehome && c->valid < WEFT_REHOME_ADOPT && !begin(m, r, c->homes))
		return ENOMEM;
	r->moved = c->life;
	r->phase = (u8)c->valid;
	switch (c->valid) {
	case WEFT_REHOME_COPY:
		return copies(m, r, done);
	case WEFT_REHOME_FREEZE:
		return freezes(m, r, c, done);
	case WEFT_REHOME_SYNC:
		return r->frozen ? syncs(m, r) : EAGAIN;
	case WEFT_REHOME_ADOPT:
		return adopts(m, r, c);
	case WEFT_REHOME_THAW:
		return thaws(m, r, c);
	default:
		return EINVAL;
	}
}

enum answer rehome_call(struct memd *m, struct request *q)
{
	struct region *r = region_find(m->b->regions, q->call.region);

	if (!m->b->ready)
		return ANSWER_NOT;
	q->reply.valid = q->call.valid;
	q->reply.err = r && !r->gone ? rehome_phase(m, r, &q->call, &q->reply.used) : ESTALE;
	return ANSWER;
}

/* --- what else comes --------------------------------------------------------------- */

/* Invalidate the remote handles of all blocks: another blade may have newer contents. */
static void unmark(struct memd *m, struct region *r)
{
	u64 n;
	u32 i;

	for (n = 0; n < r->runs; n++)
		for (i = 0; r->run[n] && i < RUN_BLOCKS; i++)
			frames_unmark(m->b->frames, r->run[n]->block[i].frame);
}

void rehome_told(struct memd *m, struct region *r, u32 homes, bool frozen)
{
	/* the move itself says so */
	if (r->rehome)
		return;
	if (frozen || (homes && homes != r->homes))
		unmark(m, r);
	if (homes && homes != r->homes) {
		r->strays = true;
		region_set_homes(m->b->regions, r, homes, 0);
	}
	/* its lines were reset and its nodes not asked: the next recovery asks all nodes */
	m->b->grace->unsure |= r->frozen && !frozen;
	r->frozen = frozen;
	drop_strays(m, r);
}

bool rehome_freezes(const struct memd *m)
{
	u32 i;

	for (i = 0; i < m->b->regions->n; i++)
		if (m->b->regions->by_id[i]->frozen && !m->b->regions->by_id[i]->gone)
			return true;
	return false;
}

void rehome_restart(struct memd *m)
{
	struct region *r;
	u32 id;

	for_each_region(m, r, id)
		drop_strays(m, r);
}

void rehome_forget_all(struct memd *m)
{
	struct region *r;
	u32 id;

	for_each_region(m, r, id) {
		rehome_free(r);
		if (r->to)
			region_set_homes(m->b->regions, r, r->homes, 0);
		r->moved = 0;
		r->phase = 0;
	}
}

bool rehome_takes(struct memd *m, const struct weft_msg *msg, u32 from)
{
	bool ack = msg->type == WEFT_MSG_WB_ACK && weft_is_blade(msg->src) &&
		   members_sender(m, msg->src, from);
	struct region *r;
	bool home;

	/* before anything is looked at: who is alone before us may end the move, or the region */
	if (ack)
		turn_alone(m);
	r = region_find_again(m->b->regions, m->hint, weft_line_region(msg->line));
	if (!r || r->gone)
		return false;
	if (msg->type == WEFT_MSG_WB_ACK)
		return ack && r->rehome && acknowledged(m, r->rehome, msg);
	/* a WB of another blade: blocks_write() looks whether it is expected */
	if (msg->type == WEFT_MSG_WB && weft_is_blade(msg->src))
		return false;
	home = region_is_home(m->b->regions, r, msg->line);
	/* a node with other homes than ours hears so; its WB is dropped, and it keeps the block */
	if (!r->frozen && (home || (msg->type != WEFT_MSG_WB &&
				    r->homes == weft_first_homes(m->b->opt.blades))))
		return false;
	/* nodes give back */
	if (home && r->phase == WEFT_REHOME_ADOPT && msg->type == WEFT_MSG_WB)
		return false;
	count(m, REHOMED);
	return true;
}

void rehome_init(struct memd *m)
{
	m->b->regions->end_move = rehome_free;
}
