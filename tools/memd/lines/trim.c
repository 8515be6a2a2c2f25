// SPDX-License-Identifier: GPL-2.0-only
/* Taking blocks away, see trim.h. */
#include "lines/trim.h"

#include "base/blade.h"
#include "base/log.h"
#include "lines/blocks.h"
#include "lines/lines.h"
#include "net/deferred.h"
#include "store/frames.h"

#define STEP_BLOCKS	1024	/* in one go */
#define STEP_RUNS	65536	/* looked at in one go */
#define WAITING_MAX	256	/* lines on their way at a time */
#define LIMIT_MS	4000	/* somebody waits for it */
#define GONE_LIMIT_MS	60000	/* nobody does */

static void done(struct memd *m, struct region *r)
{
	struct trim *t = &r->trim;
	struct deferred *dc = t->dc;
	u64 n = (t->from + RUN_BLOCKS - 1) / RUN_BLOCKS, i;
	/* a deferred call that keeps it busy sees to it itself */
	bool doomed = r->doomed && !r->busy;

	t->active = false;
	t->dc = NULL;
	timer_stop(&t->timer);
	if (r->gone) {
		log_note("region %u is freed", r->id);
		region_free(m->b->regions, r);
	} else {
		for (; n < r->runs; n++) {
			bool wanted = false;

			for (i = 0; r->run[n] && i < RUN_BLOCKS; i++)
				wanted |= r->run[n]->block[i].wanted;
			if (wanted)
				continue;	/* its lines are still on their way */
			free(r->run[n]);
			r->run[n] = NULL;
		}
		region_drop_locks(r, t->from * r->block, false);
		if (doomed)
			m->b->regions->destroy(m, r);
	}
	deferred_release(m, dc, 0);
}

/* The switch, or a node, is silent. */
static void give_up(struct memd *m, struct region *r)
{
	struct trim *t = &r->trim;
	struct lock *l;
	u64 n, i;

	log_warn("%u lines of region %u do not come back from the switch",
		 t->waiting, r->id);
	t->waiting = 0;
	/* forget the lines of a region that is gone; those of others come home later */
	for (n = t->from / RUN_BLOCKS; r->gone && n < r->runs; n++)
		for (i = 0; r->run[n] && i < RUN_BLOCKS; i++)
			if (r->run[n]->block[i].wanted)
				lines_forget(m, r, &r->run[n]->block[i]);
	for (n = 0; r->gone && n < r->locks.buckets; n++)
		SLIST_FOREACH(l, &r->locks.bucket[n], next)
			if (l->block.wanted)
				lines_forget(m, r, &l->block);
}

/* All locks that stand there are asked back. */
static void take_locks(struct memd *m, struct region *r)
{
	u64 from = r->trim.from * r->block;
	struct lock *l;
	u32 i;

	for (i = 0; i < r->locks.buckets; i++)
		SLIST_FOREACH(l, &r->locks.bucket[i], next)
			if (block_index(&l->block) >= from &&
			    !lines_recall(m, r, &l->block))
				r->trim.waiting++;
}

/* The next blocks: contents go, lines are asked back. */
static void take_away(struct memd *m, struct region *r)
{
	struct trim *t = &r->trim;
	u32 blocks = STEP_BLOCKS, runs = STEP_RUNS;

	while (t->next / RUN_BLOCKS < r->runs && blocks && runs &&
	       t->waiting < WAITING_MAX) {
		struct run *run = r->run[t->next / RUN_BLOCKS];
		struct block *b;

		if (!run) {
			t->next = (t->next / RUN_BLOCKS + 1) * RUN_BLOCKS;
			runs--;
			continue;
		}
		b = &run->block[t->next % RUN_BLOCKS];
		blocks_clear(m, r, b);
		if (!lines_recall(m, r, b))
			t->waiting++;
		t->next++;
		blocks--;
	}
	frames_give_back(m->b->frames);
}

static void step(struct memd *m, struct region *r)
{
	struct trim *t = &r->trim;
	bool all;

	take_away(m, r);
	all = t->next / RUN_BLOCKS >= r->runs;
	if (t->waiting && m->timers.now >= t->give_up)
		give_up(m, r);
	if (all && !t->waiting)
		done(m, r);
	else if (all || t->waiting >= WAITING_MAX)
		timer_set(&m->timers, &t->timer, t->give_up > m->timers.now ?
			  t->give_up - m->timers.now : 1);
	else
		timer_set(&m->timers, &t->timer, 1);
}

static void on_timer(struct memd *m, struct timer *t)
{
	step(m, timer_owner(t, struct region, trim.timer));
}

void trim_start(struct memd *m, struct region *r, u64 from, struct deferred *dc)
{
	struct trim *t = &r->trim;

	t->active = true;
	t->from = from;
	t->next = from;
	t->waiting = 0;
	t->dc = dc;
	t->timer.fn = on_timer;
	t->give_up = m->timers.now + (r->gone ? GONE_LIMIT_MS : LIMIT_MS);
	deferred_hold(dc);
	take_locks(m, r);
	step(m, r);
}

/* A line that was waited for has come back. */
static void arrived(struct memd *m, struct region *r)
{
	struct trim *t = &r->trim;

	if (!t->active || !t->waiting)
		return;
	t->waiting--;
	/* not from here: the caller holds on to the line */
	if (!t->waiting || t->waiting == WAITING_MAX / 2)
		timer_set(&m->timers, &t->timer, 1);
}

void trim_init(struct memd *m)
{
	m->b->line_ops->trimmed = arrived;
}
