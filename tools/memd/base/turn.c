// SPDX-License-Identifier: GPL-2.0-only
/* Turns of threads, see turn.h. */
#include "base/turn.h"

#include <unistd.h>

#include "base/blade.h"
#include "base/count.h"
#include "base/timer.h"
#include "base/wake.h"

void turn_init(struct memd *m)
{
	pthread_mutex_init(&m->turn.lock, NULL);
	m->turn.wake = -1;
}

static bool single(const struct memd *m)
{
	return m->b->threads == 1;
}

/* A mutex that is wanted all the time may never come to who waits: hence the second one. */
static void let_pass(struct turns *ts)
{
	if (!__atomic_load_n(&ts->wanted, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&ts->lock);
	pthread_mutex_unlock(&ts->lock);
}

void turn_begin(struct memd *m)
{
	if (!single(m)) {
		let_pass(&m->b->turns);
		pthread_mutex_lock(&m->turn.lock);
	}
	/* time in which nothing is heard does not count */
	if (!memd_suspended(m))
		timers_look(&m->timers);
}

void turn_end(struct memd *m)
{
	if (!single(m))
		pthread_mutex_unlock(&m->turn.lock);
}

void turn_pause(struct memd *m)
{
	if (single(m) || !__atomic_load_n(&m->b->turns.wanted, __ATOMIC_RELAXED))
		return;
	turn_end(m);
	turn_begin(m);
}

void turn_alone(struct memd *m)
{
	struct turns *ts = &m->b->turns;
	u32 i;

	if (single(m) || m->turn.alone)
		return;
	pthread_mutex_unlock(&m->turn.lock);
	__atomic_add_fetch(&ts->wanted, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&ts->lock);
	for (i = 0; i < m->b->threads; i++)
		pthread_mutex_lock(&m->b->thread[i]->turn.lock);
	__atomic_sub_fetch(&ts->wanted, 1, __ATOMIC_RELAXED);
	m->turn.alone = true;
	count(m, ALONE);
	/* not before anything that others have noted down by the clock */
	timers_look(&m->timers);
}

void turn_wake(struct memd *m)
{
	if (m->turn.wake >= 0)
		wake_up(m->turn.wake);
}

void turn_together(struct memd *m)
{
	struct memd *other;
	u32 i;

	if (!m->turn.alone)
		return;
	m->turn.alone = false;
	for (i = 0; i < m->b->threads; i++) {
		other = m->b->thread[i];
		if (other == m)
			continue;
		if (other->turn.sooner)
			turn_wake(other);
		other->turn.sooner = false;
		pthread_mutex_unlock(&other->turn.lock);
	}
	pthread_mutex_unlock(&m->b->turns.lock);
}

bool turn_is_alone(const struct memd *m)
{
	return single(m) || m->turn.alone;
}

void turn_end_all(struct memd *m)
{
	u32 i;

	__atomic_store_n(&m->b->turns.ending, true, __ATOMIC_RELAXED);
	for (i = 0; i < m->b->threads; i++)
		turn_wake(m->b->thread[i]);
}

bool turn_ending(const struct memd *m)
{
	return __atomic_load_n(&m->b->turns.ending, __ATOMIC_RELAXED);
}
