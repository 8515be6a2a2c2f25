// SPDX-License-Identifier: GPL-2.0-only
/* Timers, see timer.h. */
#include "base/timer.h"

#include <time.h>

#include "tools/common/clock.h"

void timers_init(struct timers *ts)
{
	memset(ts, 0, sizeof(*ts));
	ts->clock = now_ms();
	ts->now = ts->clock;
	ts->ran = ts->clock;
}

void timers_share(struct timers *ts, struct moment *with)
{
	timers_init(ts);
	ts->shared = with;
	timers_look(ts);
	ts->ran = ts->now;
}

/* Milliseconds that count of those since @before. */
static u64 counted(u64 clock, u64 before)
{
	u64 passed = clock - before;

	return passed < STALL_MS ? passed : STALL_MS;
}

/* It was no stall if any of the others has looked. */
static void look_together(struct timers *ts, u64 clock)
{
	struct moment *all = ts->shared;

	pthread_mutex_lock(&all->lock);
	if (clock > all->clock) {
		all->now += counted(clock, all->clock);
		all->clock = clock;
	}
	ts->clock = all->clock;
	ts->now = all->now;
	pthread_mutex_unlock(&all->lock);
}

void timers_look(struct timers *ts)
{
	u64 clock = now_ms();

	if (ts->shared) {
		look_together(ts, clock);
		return;
	}
	ts->now += counted(clock, ts->clock);
	ts->clock = clock;
}

void timer_stop(struct timer *t)
{
	if (t->set)
		LIST_REMOVE(t, in_slot);
	t->set = false;
}

void timer_set(struct timers *ts, struct timer *t, u64 delay)
{
	timer_stop(t);
	t->when = ts->now + (delay ? delay : 1);
	LIST_INSERT_HEAD(&ts->slot[t->when % TIMER_SLOTS], t, in_slot);
	t->set = true;
}

/*
 * A call may set and stop any timer.  Each is set to a time after @now, so that
 * starting over after each call comes to an end.
 */
static void run_slot(struct slot *slot, u64 now, struct memd *m)
{
	struct timer *t = LIST_FIRST(slot);

	while (t) {
		if (t->when > now) {
			t = LIST_NEXT(t, in_slot);
			continue;
		}
		timer_stop(t);
		t->fn(m, t);
		t = LIST_FIRST(slot);
	}
}

bool timers_due(struct timers *ts)
{
	u64 from = ts->ran, now = ts->now;
	const struct timer *t;

	if (now - from > TIMER_SLOTS)
		from = now - TIMER_SLOTS;
	for (from++; from <= now; from++)
		LIST_FOREACH(t, &ts->slot[from % TIMER_SLOTS], in_slot)
			if (t->when <= now)
				return true;
	ts->ran = now;
	return false;
}

void timers_run(struct timers *ts, struct memd *m)
{
	u64 from = ts->ran, now = ts->now;

	ts->ran = now;
	if (now - from > TIMER_SLOTS)
		from = now - TIMER_SLOTS;
	for (from++; from <= now; from++)
		run_slot(&ts->slot[from % TIMER_SLOTS], now, m);
}

int timers_wait(const struct timers *ts)
{
	int i;

	for (i = 1; i < TIMER_SLOTS; i++)
		if (!LIST_EMPTY(&ts->slot[(ts->now + (u64)i) % TIMER_SLOTS]))
			break;
	return i;
}
