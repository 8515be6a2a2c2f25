/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timers of the event loop: a wheel of one slot a millisecond.  A timer is part of the object that
 * it belongs to, so setting one cannot fail.  A thread runs its own; who is alone sets those of
 * others, too.
 */
#ifndef WEFT_MEMD_TIMER_H
#define WEFT_MEMD_TIMER_H

#include <pthread.h>
#include <sys/queue.h>

#include "types.h"

struct memd;

/* Something to do later; zeroed at first, then fn set. */
struct timer {
	LIST_ENTRY(timer) in_slot;	/* where it is, if it is @set */
	bool set;
	u64 when;			/* millisecond */
	/* Called once when it is over; may set the timer again */
	void (*fn)(struct memd *m, struct timer *t);
};

#define TIMER_SLOTS	512	/* a power of two */
#define STALL_MS	1000	/* longer than timers_wait() */

/* The time of several wheels, which must not differ. */
struct moment {
	pthread_mutex_t lock;	/* for all of it */
	u64 now;		/* as @now of the wheels */
	u64 clock;		/* of CLOCK_MONOTONIC then */
};

/* The wheel of a thread. */
struct timers {
	/*
	 * Milliseconds when the loop last looked.  They are those of CLOCK_MONOTONIC, but what
	 * is longer than STALL_MS between two looks was no time in which others could be heard,
	 * and nobody is given up for it
	 */
	u64 now;
	u64 clock;			/* of CLOCK_MONOTONIC then */
	u64 ran;			/* everything up to that millisecond has been called */
	struct moment *shared;		/* with other wheels, NULL: there are none */
	/* The timers whose time is its number modulo TIMER_SLOTS */
	LIST_HEAD(slot, timer) slot[TIMER_SLOTS];
};

#define timer_owner(t, type, member) \
	((type *)((char *)(t) - offsetof(type, member)))

void timers_init(struct timers *ts);

/* Another one, whose time is always that of those that share @with it. */
void timers_share(struct timers *ts, struct moment *with);

/* Set, or set anew, to @delay milliseconds from now, one at least. */
void timer_set(struct timers *ts, struct timer *t, u64 delay);

void timer_stop(struct timer *t);

static inline bool timer_is_set(const struct timer *t)
{
	return t->set;
}

/* Read the clock. */
void timers_look(struct timers *ts);

/* Is any due by that? */
bool timers_due(struct timers *ts);

/* Call what is due by that. */
void timers_run(struct timers *ts, struct memd *m);

/* Milliseconds to sleep: until the next timer or TIMER_SLOTS, if that is less. */
int timers_wait(const struct timers *ts);

#endif /* WEFT_MEMD_TIMER_H */
