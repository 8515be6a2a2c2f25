// SPDX-License-Identifier: GPL-2.0-only
/* Lines after the death of a node, see sweep.h. */
#include "lines/sweep.h"

#include "base/blade.h"
#include "base/log.h"
#include "lines/blocks.h"
#include "lines/lines.h"
#include "lines/p4.h"
#include "lines/region.h"
#include "net/members.h"

#define STEP_LINES	4096	/* looked at in one go */
#define STEP_RUNS	65536
#define ASKED_MAX	256	/* lines on their way home that are waited for */
#define LIMIT_MS	10000	/* without one that arrives */
#define LATE_LINES	(1u << 20)	/* looked at to name one of those that do not */
#define SETTLE_MS	5	/* to see whether the switch knows who is dead */

/* --- looking ---------------------------------------------------------------------- */

static u32 waited_for(const struct sweep *s)
{
	return s->asked - s->late;
}

static bool may_ask(const struct sweep *s)
{
	return waited_for(s) < ASKED_MAX;
}

static void look_at(struct memd *m, struct region *r, struct block *b)
{
	struct sweep *s = m->b->sweep;

	/* a copy that came, or is left, because the region moves: it is its home that looks */
	if (!region_is_home(m->b->regions, r, b->line.key))
		return;
	/* a switch that has outlived what we knew may have it, whatever nodes claim of a lock */
	if (lines_fetch(m, r, b)) {
		s->asked += !b->swept;
		b->swept = true;
		return;
	}
	if (!b->known)
		return;
	switch (lines_gone(m, r, b)) {
	case WEFT_GONE_ASKS:
		s->asked += !b->swept;
		b->swept = true;
		break;
	case WEFT_GONE_LOST:
		/* weft_home_gone() says so until somebody asks for the block */
		s->lost += !b->lost;
		blocks_lost(m, r, b);
		break;
	case WEFT_GONE_FREE:
		s->freed++;
		count(m, LOCK_FREED);
		break;
	default:
		break;
	}
}

/* A line that was asked back is here, or nobody knows of it any more. */
static void forgotten(struct memd *m, struct block *b)
{
	struct sweep *s = m->b->sweep;

	if (!b->swept)
		return;
	b->swept = false;
	s->asked--;
	/* which of them it was is not known: one that is late is looked at when it comes, too */
	if (s->late > s->asked)
		s->late = s->asked;
	s->give_up = m->timers.now + LIMIT_MS;
	/* not from here: the caller holds on to the line */
	if (!waited_for(s) || waited_for(s) == ASKED_MAX / 2)
		timer_set(&m->timers, &s->timer, 1);
}

static void arrived(struct memd *m, struct region *r, struct block *b)
{
	if (b->line.place == WEFT_AT_HOME)
		forgotten(m, b);
	look_at(m, r, b);
}

static void all_blocks(struct memd *m, struct region *r, u32 *lines)
{
	struct sweep *s = m->b->sweep;
	u32 runs = STEP_RUNS, i;

	for (; s->run < r->runs && *lines && runs && may_ask(s); s->run++, runs--) {
		struct run *run = r->run[s->run];

		for (i = 0; run && i < RUN_BLOCKS; i++)
			look_at(m, r, &run->block[i]);
		if (run)
			*lines -= *lines < RUN_BLOCKS ? *lines : RUN_BLOCKS;
	}
}

static void all_locks(struct memd *m, struct region *r, u32 *lines)
{
	struct sweep *s = m->b->sweep;
	struct lock *l;

	for (; s->bucket < r->locks.buckets && *lines && may_ask(s); s->bucket++)
		SLIST_FOREACH(l, &r->locks.bucket[s->bucket], next) {
			look_at(m, r, &l->block);
			*lines -= *lines > 0;
		}
}

static void begin(struct memd *m)
{
	struct sweep *s = m->b->sweep;

	s->again = false;
	s->region = 0;
	s->run = 0;
	s->bucket = 0;
}

static void end(struct memd *m)
{
	struct sweep *s = m->b->sweep;

	if (s->lost)
		log_warn("%llu blocks that only dead nodes had modified are lost: they are what was last written home (weftctl line lost)",
			 (unsigned long long)s->lost);
	log_say("%llu locks of dead nodes are free after %llu ms",
		(unsigned long long)s->freed,
		(unsigned long long)(m->timers.now - s->began));
	s->active = false;
	s->lost = 0;
	s->freed = 0;
}

/* A line that was asked back and has not come, of those that are looked at first; or NULL. */
static const struct block *late_one(struct memd *m)
{
	struct region *r = NULL;
	u32 lines = LATE_LINES, i;
	struct lock *l;
	u64 run;

	while (lines && (r = region_after(m->b->regions, r ? r->id : 0))) {
		lines--;
		for (i = 0; i < r->locks.buckets && lines; i++)
			SLIST_FOREACH(l, &r->locks.bucket[i], next) {
				lines -= lines > 0;
				if (l->block.swept)
					return &l->block;
			}
		for (run = 0; run < r->runs && lines; run++) {
			lines--;
			for (i = 0; r->run[run] && i < RUN_BLOCKS && lines; i++, lines--)
				if (r->run[run]->block[i].swept)
					return &r->run[run]->block[i];
		}
	}
	return NULL;
}

/* Go on without the lines that have not come home: they are looked at when they come. */
static void give_up(struct memd *m)
{
	struct sweep *s = m->b->sweep;
	const struct block *b = late_one(m);
	char name[64] = "";

	if (b)
		snprintf(name, sizeof(name), " (one is %s %llu of region %u)",
			 weft_line_kind(b->line.key) == WEFT_KIND_LOCK ? "lock" : "block",
			 (unsigned long long)weft_line_index(b->line.key),
			 weft_line_region(b->line.key));
	log_warn("%u lines do not come back from the switch%s: what dead nodes had of them is seen when they do",
		 waited_for(s), name);
	s->late = s->asked;
	s->give_up = m->timers.now + LIMIT_MS;
}

/* Locks first: who waits for one cannot do anything else. */
static void on_timer(struct memd *m, struct timer *t)
{
	struct sweep *s = m->b->sweep;
	u32 lines = STEP_LINES;
	struct region *r = NULL;

	if (!s->active)
		return;
	/*
	 * A switch that takes the dead for members would serve what they have sent before, and
	 * give them a line that this has been through.
	 */
	if (!p4_settled(m)) {
		timer_set(&m->timers, t, SETTLE_MS);
		return;
	}
	if (waited_for(s) && m->timers.now >= s->give_up)
		give_up(m);
	if (s->again && !waited_for(s))
		begin(m);
	while (lines && may_ask(s) &&
	       (r = region_after(m->b->regions, s->region))) {
		all_locks(m, r, &lines);
		if (s->bucket < r->locks.buckets)
			break;
		all_blocks(m, r, &lines);
		if (s->run < r->runs)
			break;
		s->region = r->id;
		s->run = 0;
		s->bucket = 0;
		r = NULL;
		lines -= lines > 0;
	}
	if (waited_for(s))
		timer_set(&m->timers, t, r && may_ask(s) ? 1 : s->give_up - m->timers.now);
	else if (!region_after(m->b->regions, s->region) && !s->again)
		end(m);
	else
		timer_set(&m->timers, t, 1);
}

void sweep_init(struct memd *m)
{
	m->b->sweep->timer.fn = on_timer;
	m->b->line_ops->arrived = arrived;
	m->b->line_ops->forgotten = forgotten;
}

void sweep_begin(struct memd *m)
{
	struct sweep *s = m->b->sweep;

	s->give_up = m->timers.now + LIMIT_MS;
	s->again = s->active;
	if (!s->active) {
		s->active = true;
		s->began = m->timers.now;
		begin(m);
	}
	timer_set(&m->timers, &s->timer, 1);
}

bool sweep_is_active(const struct memd *m)
{
	return m->b->sweep->active;
}

/* --- telling ------------------------------------------------------------------------ */

#define ENTRY_LEN	24	/* u32 region, u32 bytes of a block, u64 first block, u64 how many */

/* Where a listing goes on: 24 bits of region, 40 of block. */
static u64 place(u32 region, u64 index)
{
	return (u64)region << 40 | index;
}

static bool add(struct weft_call *reply, const struct region *r, u64 first, u64 n)
{
	u8 *p = reply->list + reply->list_len;

	if (reply->list_len + ENTRY_LEN > WEFT_CALL_LIST_MAX)
		return false;
	put_unaligned_be32(r->id, p);
	put_unaligned_be32(r->block, p + 4);
	put_unaligned_be64(first, p + 8);
	put_unaligned_be64(n, p + 16);
	reply->list_len += ENTRY_LEN;
	return true;
}

/* Return: false if the reply is full: it goes on at reply->cookie. */
static bool list_region(struct region *r, u64 from, struct weft_call *reply)
{
	u64 n, i, first = 0, many = 0;

	for (n = from / RUN_BLOCKS; n < r->runs; n++) {
		for (i = 0; r->run[n] && i < RUN_BLOCKS; i++) {
			u64 index = n * RUN_BLOCKS + i;

			if (index < from || !r->run[n]->block[i].lost)
				continue;
			if (many && first + many == index) {
				many++;
				continue;
			}
			if (many && !add(reply, r, first, many)) {
				reply->cookie = place(r->id, first);
				return false;
			}
			first = index;
			many = 1;
		}
	}
	if (!many || add(reply, r, first, many))
		return true;
	reply->cookie = place(r->id, first);
	return false;
}

static void list(struct memd *m, u32 region, u64 from, struct weft_call *reply)
{
	u32 id = (u32)(from >> 40);
	u64 index = from & ((1ull << 40) - 1);
	struct region *r;

	reply->cookie = 0;
	while ((r = region_after(m->b->regions, id ? id - 1 : 0))) {
		if (r->id != id)
			index = 0;
		if ((!region || r->id == region) && r->lost &&
		    !list_region(r, index, reply))
			return;
		id = r->id + 1;
		index = 0;
	}
}

static u64 accept(struct region *r)
{
	u64 n, i, many = 0;

	for (n = 0; n < r->runs; n++)
		for (i = 0; r->run[n] && i < RUN_BLOCKS; i++) {
			many += r->run[n]->block[i].lost;
			r->run[n]->block[i].lost = false;
		}
	r->lost = 0;
	return many;
}

enum answer sweep_call(struct memd *m, struct request *q)
{
	struct region *r = region_find(m->b->regions, q->call.region);

	if (q->call.region && (!r || r->gone))
		return reply_refuse(q, ENOENT);
	/* a list that is not whole yet would be taken for one that is: it is asked for again */
	if (m->b->members->dead || sweep_is_active(m))
		return ANSWER_NOT;
	if (q->call.valid & WEFT_LOST_ACCEPT) {
		if (r)
			q->reply.used = accept(r);
		else
			q->reply.err = EINVAL;
		return ANSWER;
	}
	list(m, q->call.region, q->call.cookie, &q->reply);
	return ANSWER;
}
