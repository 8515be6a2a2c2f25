// SPDX-License-Identifier: GPL-2.0-only
/* Lines that come home to stay, see withdraw.h. */
#include "lines/withdraw.h"

#include "base/blade.h"
#include "base/log.h"
#include "lines/grace.h"
#include "lines/lines.h"
#include "lines/looks.h"
#include "lines/p4.h"
#include "net/deferred.h"
#include "rdma/rdma.h"

#define STEP_RUNS	65536	/* looked at in one go */
#define ELSEWHERE_MAX	256	/* lines on their way at a time */
#define LOOK_MS		2	/* to see which have come */
#define LIMIT_MS	8000	/* less than the first blade waits for another one */

/* Return: whether the line is here; else it has been asked for. */
static bool is_home(struct memd *m, struct withdraw *w, struct block *b)
{
	if (lines_bring_home(m, b))
		return true;
	w->elsewhere++;
	return false;
}

static bool run_is_home(struct memd *m, struct withdraw *w, struct run *run)
{
	bool all = true;
	u32 i;

	for (i = 0; run && i < RUN_BLOCKS; i++)
		all &= is_home(m, w, &run->block[i]);
	return all;
}

static bool bucket_is_home(struct memd *m, struct withdraw *w, const struct bucket *b)
{
	bool all = true;
	struct lock *l;

	SLIST_FOREACH(l, b, next)
		all &= is_home(m, w, &l->block);
	return all;
}

/* Ask for the next ones.  Those before the first that is elsewhere are not looked at again. */
static void look(struct memd *m, struct region *r)
{
	struct withdraw *w = &r->withdraw;
	u32 steps = STEP_RUNS, at;
	u64 n;

	w->elsewhere = 0;
	/* locks first: who waits for one cannot do anything else */
	for (at = w->bucket; at < r->locks.buckets && w->elsewhere < ELSEWHERE_MAX; at++)
		if (bucket_is_home(m, w, &r->locks.bucket[at]) && at == w->bucket)
			w->bucket++;
	for (n = w->run; n < r->runs && w->elsewhere < ELSEWHERE_MAX && steps; n++, steps--)
		if (run_is_home(m, w, r->run[n]) && n == w->run)
			w->run++;
}

static void end(struct memd *m, struct region *r, u16 err)
{
	struct withdraw *w = &r->withdraw;
	struct deferred *dc = w->dc;

	w->active = false;
	w->dc = NULL;
	/* a deferred call that keeps it busy sees to it itself */
	if (r->doomed && !r->busy)
		m->b->regions->destroy(m, r);
	deferred_release(m, dc, err);
}

static void on_timer(struct memd *m, struct timer *t)
{
	struct region *r = timer_owner(t, struct region, withdraw.timer);
	struct withdraw *w = &r->withdraw;

	look(m, r);
	if (w->life != m->b->grace->life) {
		/* the directory has forgotten which lines were in the switch */
		end(m, r, EAGAIN);
	} else if (w->bucket >= r->locks.buckets && w->run >= r->runs && rdma_handles_over(m)) {
		end(m, r, 0);
	} else if (m->timers.now >= w->give_up) {
		log_warn("%u lines of region %u do not come back from the switch",
			 w->elsewhere, r->id);
		end(m, r, ETIMEDOUT);
	} else {
		timer_set(&m->timers, t, LOOK_MS);
	}
}

void withdraw_start(struct memd *m, struct region *r, struct deferred *dc)
{
	struct withdraw *w = &r->withdraw;

	w->active = true;
	w->run = 0;
	w->bucket = 0;
	w->life = m->b->grace->life;
	w->dc = dc;
	w->timer.fn = on_timer;
	w->give_up = m->timers.now + LIMIT_MS;
	deferred_hold(dc);
	/* not from here: the caller is not through with the region */
	timer_set(&m->timers, &w->timer, 1);
}

bool withdraw_possible(const struct memd *m, const struct region *r)
{
	return !r->doubtful || (!m->b->p4->in_use && !m->b->looks->marked);
}
