// SPDX-License-Identifier: GPL-2.0-only
/* Timers, see timer.h. */
#include "timer.h"

#include <time.h>

#include "tools/common/clock.h"

void timers_init(struct timers *ts)
{
	memset(ts, 0, sizeof(*ts));
	ts->clock = now_ms();
	ts->now = ts->clock;
	ts->ran = ts->clock;
}

void timers_look(struct timers *ts)
{
	u64 clock = now_ms(), passed = clock - ts->clock;

	ts->clock = clock;
	ts->now += passed < STALL_MS ? passed : STALL_MS;
}

void timer_stop(struct timer *t)
{
	if (!t->pprev)
		return;
	*t->pprev = t->next;
	if (t->next)
		t->next->pprev = t->pprev;
	t->pprev = NULL;
}

void timer_set(struct timers *ts, struct timer *t, u64 delay)
{
	struct timer **slot;

	timer_stop(t);
	t->when = ts->now + (delay ? delay : 1);
	slot = &ts->slot[t->when % TIMER_SLOTS];
	t->next = *slot;
	t->pprev = slot;
	if (t->next)
		t->next->pprev = &t->next;
	*slot = t;
}

/*
 * A call may set and stop any timer.  Each is set to a time after @now, so that
 * starting over after each call comes to an end.
 */
static void run_slot(struct timer **slot, u64 now, struct memd *m)
{
	struct timer *t = *slot;

	while (t) {
		if (t->when > now) {
			t = t->next;
			continue;
		}
		timer_stop(t);
		t->fn(m, t);
		t = *slot;
	}
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
		if (ts->slot[(ts->now + (u64)i) % TIMER_SLOTS])
			break;
	return i;
}
