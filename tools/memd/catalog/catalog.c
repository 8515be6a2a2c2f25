// SPDX-License-Identifier: GPL-2.0-only
/* The catalog of regions, see catalog.h. */
#include "catalog/catalog.h"

#include <time.h>

#include "base/blade.h"
#include "base/log.h"
#include "catalog/allow.h"
#include "catalog/blades.h"
#include "catalog/journal.h"
#include "catalog/move.h"
#include "catalog/policy.h"
#include "catalog/remove.h"
#include "catalog/tell.h"
#include "lines/access.h"
#include "lines/quota.h"
#include "lines/region.h"
#include "lines/trim.h"
#include "net/deferred.h"
#include "net/held.h"
#include "net/members.h"
#include "net/push.h"
#include "tools/common/clock.h"

#define MODE_MASK	07777u

static u64 wall_clock(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* --- names ------------------------------------------------------------------ */

/* The region of that name, or why not: *a says what to do. */
static struct region *named(struct memd *m, struct request *q, enum answer *a)
{
	const char *name = q->call.name;
	u32 len = q->call.name_len;
	struct region *r = NULL;

	*a = ANSWER;
	if (!len || (len == 1 && name[0] == '.') ||
	    (len == 2 && name[0] == '.' && name[1] == '.')) {
		q->reply.err = EINVAL;
		return NULL;
	}
	r = region_named(m->b->regions, name, len);
	if (!r)
		q->reply.err = ENOENT;
	else if (r->hatching)
		*a = ANSWER_NOT;
	return *a == ANSWER ? r : NULL;
}

static enum answer lookup(struct memd *m, struct request *q)
{
	enum answer a;
	const struct region *r = named(m, q, &a);

	if (r)
		tell_attributes(r, &q->reply);
	return a;
}

/* No room: perhaps there will be when what was removed is gone, but for numbers. */
static enum answer no_room(struct memd *m, struct request *q)
{
	u32 i;

	if (q->call.op == WEFT_CALL_CREATE && !quota_numbers_left(m)) {
		log_warn("all %u numbers of regions were used, and none is used twice: no region can be made until the rack begins anew with an empty --backing file, or without one",
			 WEFT_REGION_MAX);
		return reply_refuse(q, ENOSPC);
	}
	for (i = 0; i < m->b->regions->n; i++)
		if (m->b->regions->by_id[i]->gone)
			return ANSWER_NOT;
	return reply_refuse(q, ENOSPC);
}

static enum answer over_quota(struct memd *m, struct request *q, u16 err)
{
	count(m, OVER_QUOTA);
	return reply_refuse(q, err);
}

/* It is on the disk, so that its number is never another one's, or it is not to be. */
static void end_create(struct memd *m, struct deferred *dc)
{
	struct region *r = dc->region;

	r->hatching = false;
	if (dc->err) {
		dc->q.reply.err = dc->err;
		remove_region(m, r);
	} else {
		tell_attributes(r, &dc->q.reply);
		dc->q.reply.valid = WEFT_CREATE_NEW;
	}
	reply_finish(m, &dc->q);
}

static void finish_create(struct memd *m, struct deferred *dc)
{
	struct region *r = dc->region;

	if (!dc->err && journal_region(m, r, false))
		dc->err = EIO;
	r->noted = !dc->err;
	/* the other half of the log may begin with this: it has what is noted */
	if (!dc->err && journal_policy(m, r))
		dc->err = EIO;
	dc->finish = end_create;
	if (dc->err || !journal_hold(m, dc))
		end_create(m, dc);
}

/* Nobody has heard of it: its number is that of the next one. */
static void abandon(struct memd *m, struct region *r)
{
	m->b->regions->next_id = r->id;
	region_free(m->b->regions, r);
}

static struct region *new_region(struct memd *m, const struct weft_call *c)
{
	u32 block = c->block ? c->block : WEFT_BLOCK_MIN;
	struct region *r;

	if (m->b->regions->next_id > WEFT_REGION_MAX)
		return NULL;
	r = region_add(m->b->regions, m->b->regions->next_id, block, c->name,
		       c->name_len);
	if (!r)
		return NULL;
	r->homes = blades_in_use(m);
	r->mode = c->mode & MODE_MASK;
	r->uid = c->uid;
	r->gid = c->gid;
	r->mtime = c->mtime ? c->mtime : wall_clock();
	r->grant = m->b->life & ~(u32)WEFT_GRANT_OWNED;
	if (!region_reserve(m->b->regions, r, c->size)) {
		abandon(m, r);
		return NULL;
	}
	if (!region_prepare(r, c->size)) {
		region_account(m->b->regions, r, c->size, 0);
		abandon(m, r);
		return NULL;
	}
	r->size = c->size;
	return r;
}

static enum answer create(struct memd *m, struct request *q)
{
	const struct weft_call *c = &q->call;
	enum answer a;
	struct region *r = named(m, q, &a);
	struct deferred *dc;
	u16 err;

	if (a != ANSWER || (!r && q->reply.err != ENOENT))
		return a;
	if (r) {
		if (c->valid & WEFT_CREATE_EXCL)
			return reply_refuse(q, EEXIST);
		tell_attributes(r, &q->reply);
		return ANSWER;
	}
	if (c->block && !region_block_ok(c->block))
		return reply_refuse(q, EINVAL);
	err = blades_there(m);
	if (err)
		return err == EAGAIN ? ANSWER_NOT : reply_refuse(q, err);
	err = quota_region(m, c->uid, c->valid & WEFT_CREATE_UNLIMITED);
	if (!err)
		err = quota_memory(m, c->uid, c->valid & WEFT_CREATE_UNLIMITED, c->size);
	if (err)
		return over_quota(m, q, err);
	q->reply.err = 0;
	r = new_region(m, c);
	if (!r)
		return no_room(m, q);
	dc = deferred_new(q, finish_create);
	if (!dc) {
		abandon(m, r);
		return reply_refuse(q, ENOMEM);
	}
	quota_numbered(m, c->uid, c->valid & WEFT_CREATE_UNLIMITED);
	r->hatching = true;
	dc->region = r;
	tell_blades(m, r, r->size, dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}

static enum answer unlink_region(struct memd *m, struct request *q)
{
	enum answer a;
	struct region *r = named(m, q, &a);
	struct deferred *dc;

	if (!r)
		return a;
	/* the caller may remove that one; the name was gone, and is another's now */
	if (q->call.region && q->call.region != r->id)
		return reply_refuse(q, ENOENT);
	q->reply.region = r->id;
	dc = deferred_new(q, deferred_answer);
	if (!dc)
		return reply_refuse(q, ENOMEM);
	if (journal_region(m, r, true)) {
		deferred_release(m, dc, EIO);
		return ANSWER_LATER;
	}
	journal_hold(m, dc);
	region_unname(r);
	remove_unused(m, r);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}

/* --- attributes ------------------------------------------------------------- */

static void set_attributes(struct region *r, const struct weft_call *c)
{
	if (c->valid & WEFT_SET_MODE)
		r->mode = c->mode & MODE_MASK;
	if (c->valid & WEFT_SET_OWNER) {
		r->uid = c->uid;
		r->gid = c->gid;
	}
	if (c->valid & WEFT_SET_MTIME)
		r->mtime = c->mtime;
	else if (c->valid & WEFT_SET_SIZE)
		r->mtime = wall_clock();
	if (c->valid & WEFT_SET_SIZE)
		r->size = c->size;
}

/* Change the attributes here and in the file, or neither. */
static int commit_attributes(struct memd *m, struct region *r,
			     const struct weft_call *c)
{
	struct region old = *r;

	set_attributes(r, c);
	region_cut(r, old.size, r->size);
	if (!journal_attributes(m, r))
		return 0;
	r->mode = old.mode;
	r->uid = old.uid;
	r->gid = old.gid;
	r->mtime = old.mtime;
	r->size = old.size;
	r->epoch = old.epoch;
	r->cuts = old.cuts;
	memcpy(r->cut, old.cut, sizeof(r->cut));
	return -1;
}

static void end_resize(struct memd *m, struct deferred *dc)
{
	struct region *r = dc->region;

	r->busy = false;
	r->growing = 0;
	dc->q.reply.err = dc->err;
	if (!dc->err)
		tell_attributes(r, &dc->q.reply);
	if (r->doomed)
		remove_region(m, r);
	reply_finish(m, &dc->q);
}

static void finish_grow(struct memd *m, struct deferred *dc)
{
	struct region *r = dc->region;
	u64 old = r->size;

	if (!dc->err && commit_attributes(m, r, &dc->q.call))
		dc->err = EIO;
	if (dc->err) {
		region_account(m->b->regions, r, dc->q.call.size, old);
		tell_blades(m, r, old, NULL);
	}
	/*
	 * A sync of our file that has its blocks has its size.  That of another blade does
	 * not, and what is behind the end that we know of would have to go there.
	 */
	dc->finish = end_resize;
	if (dc->err || !(m->b->regions->blades == 1 ? held_hold(m, dc) : journal_hold(m, dc)))
		end_resize(m, dc);
}

static enum answer grow(struct memd *m, struct request *q, struct region *r)
{
	struct deferred *dc;
	u16 err = blades_there(m);

	if (err)
		return err == EAGAIN ? ANSWER_NOT : reply_refuse(q, err);
	err = quota_memory(m, r->uid, q->call.valid & WEFT_SET_UNLIMITED,
			   q->call.size - r->size);
	if (err)
		return over_quota(m, q, err);
	if (!region_reserve(m->b->regions, r, q->call.size))
		return no_room(m, q);
	dc = region_prepare(r, q->call.size) ? deferred_new(q, finish_grow) : NULL;
	if (!dc) {
		region_account(m->b->regions, r, q->call.size, r->size);
		return reply_refuse(q, ENOMEM);
	}
	r->busy = true;
	r->growing = q->call.size;
	dc->region = r;
	tell_blades(m, r, q->call.size, dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}

static void finish_shrink(struct memd *m, struct deferred *dc)
{
	struct region *r = dc->region;

	/* the new size holds, whether all nodes have answered in time or not */
	dc->err = dc->unnoted ? EIO : 0;
	region_account(m->b->regions, r, dc->size, r->size);
	end_resize(m, dc);
}

static enum answer shrink(struct memd *m, struct request *q, struct region *r)
{
	struct weft_call recall = {
		.op = WEFT_CALL_RECALLED,
		.region = r->id,
		.size = q->call.size,
	};
	struct deferred *dc = deferred_new(q, finish_shrink);
	u32 id;

	if (!dc)
		return reply_refuse(q, ENOMEM);
	dc->region = r;
	dc->size = r->size;
	if (commit_attributes(m, r, &q->call)) {
		dc->finish = end_resize;
		deferred_release(m, dc, EIO);
		return ANSWER_LATER;
	}
	r->busy = true;
	/* else a restart could bring blocks back that were cut off */
	journal_hold(m, dc);
	for_each_node(r->opens & m->b->members->mask, id)
		push_call(m, (u8)id, &recall, 0, dc);
	tell_blades(m, r, r->size, dc);
	trim_start(m, r, region_blocks(r, r->size), dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}

static enum answer set_attr(struct memd *m, struct request *q, struct region *r)
{
	const struct weft_call *c = &q->call;
	struct deferred *dc;

	if (c->valid & WEFT_SET_NODES)
		return allow_set(m, q, r);
	if (c->valid & WEFT_SET_POLICY)
		return policy_set(m, q, r);
	if (c->valid & ~(u32)(WEFT_SET_SIZE | WEFT_SET_MODE | WEFT_SET_OWNER |
			      WEFT_SET_MTIME | WEFT_SET_GROW |
			      WEFT_SET_UNLIMITED))
		return reply_refuse(q, EINVAL);
	if (c->valid & WEFT_SET_SIZE) {
		if (!access_node(r, q->src))
			return reply_refuse(q, EACCES);
		if (r->busy || r->trim.active)
			return ANSWER_NOT;
		/* somebody else made it as large, or larger */
		if (c->valid & WEFT_SET_GROW && c->size < r->size)
			q->call.size = r->size;
		if (c->size > r->size)
			return grow(m, q, r);
		if (c->size < r->size && m->b->move->region == r->id) {
			move_give_way(m, r);
			return ANSWER_NOT;
		}
		if (c->size < r->size)
			return shrink(m, q, r);
	}
	if (commit_attributes(m, r, c))
		return reply_refuse(q, EIO);
	tell_attributes(r, &q->reply);
	/* times come with every close: they are not waited for */
	dc = c->valid & (WEFT_SET_MODE | WEFT_SET_OWNER) ? deferred_new(q, deferred_answer) : NULL;
	if (!dc)
		return ANSWER;
	journal_hold(m, dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}

/* --- open and close --------------------------------------------------------- */

static enum answer close_region(struct memd *m, struct request *q,
				struct region *r)
{
	allow_close(m, r, q->src);
	remove_unused(m, r);
	return ANSWER;
}

/* --- lists ------------------------------------------------------------------ */

static enum answer read_dir(struct memd *m, struct request *q)
{
	struct weft_call *reply = &q->reply;
	u64 at = q->call.cookie;
	struct region *r;
	u8 *p;

	if (at > WEFT_REGION_MAX)
		return reply_refuse(q, EINVAL);
	/* where a listing that begins now ends, whatever is made meanwhile */
	reply->size = m->b->regions->next_id ? m->b->regions->next_id - 1 : 0;
	while ((r = region_after(m->b->regions, (u32)at))) {
		u32 len = 9u + r->name_len;

		if (!r->unlinked && !r->gone && !r->hatching) {
			if (reply->list_len + len > WEFT_CALL_LIST_MAX) {
				reply->cookie = at;
				return ANSWER;
			}
			p = reply->list + reply->list_len;
			put_unaligned_be32(r->id, p);
			put_unaligned_be32(r->mode, p + 4);
			p[8] = (u8)r->name_len;
			memcpy(p + 9, r->name, r->name_len);
			reply->list_len = (u16)(reply->list_len + len);
		}
		at = r->id;
	}
	return ANSWER;
}

static enum answer stat_fs(struct memd *m, struct request *q)
{
	u32 i;

	for (i = 0; i < m->b->regions->blades; i++) {
		if (!blades_needed(m, i))
			continue;
		q->reply.size += m->b->regions->size[i];
		q->reply.used += m->b->regions->reserved[i];
	}
	q->reply.block = WEFT_BLOCK_MIN;
	q->reply.cookie = m->b->regions->n;
	q->reply.region = REGIONS_MAX - m->b->regions->n;
	if (q->reply.region > quota_numbers_left(m))
		q->reply.region = quota_numbers_left(m);
	return ANSWER;
}

/* --- entry ------------------------------------------------------------------ */

enum answer catalog_call(struct memd *m, struct request *q)
{
	struct region *r;

	switch (q->call.op) {
	case WEFT_CALL_LOOKUP:
		return lookup(m, q);
	case WEFT_CALL_CREATE:
		return create(m, q);
	case WEFT_CALL_UNLINK:
		return unlink_region(m, q);
	case WEFT_CALL_READDIR:
		return read_dir(m, q);
	case WEFT_CALL_STATFS:
		return stat_fs(m, q);
	default:
		break;
	}
	r = region_find(m->b->regions, q->call.region);
	if (r && (r->gone || r->hatching))
		r = NULL;
	/* to close what is gone is no mistake */
	if (!r)
		return reply_refuse(q, q->call.op == WEFT_CALL_CLOSE ? 0 : ESTALE);
	switch (q->call.op) {
	case WEFT_CALL_GETATTR:
		tell_attributes(r, &q->reply);
		q->reply.valid = r->frozen ? WEFT_REGION_FROZEN : 0;
		return ANSWER;
	case WEFT_CALL_SETATTR:
		return set_attr(m, q, r);
	case WEFT_CALL_OPEN:
		return allow_open(m, q, r);
	case WEFT_CALL_CLOSE:
		return close_region(m, q, r);
	default:
		return reply_refuse(q, EOPNOTSUPP);
	}
}
