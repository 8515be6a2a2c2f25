/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several threads in a blade: which of them may do what, and when.  A thread in its turn changes
 * its own things and its own lines; who is alone changes what belongs to the blade.  The event
 * loop (front/main.c) begins and ends turns.
 */
#ifndef WEFT_MEMD_TURN_H
#define WEFT_MEMD_TURN_H

#include <pthread.h>

#include "types.h"

/*
 * A thread that takes a batch of messages has its turn, which is a mutex that nobody else wants:
 * it changes its own things and its own lines, and reads what belongs to the blade.  Who changes
 * something that belongs to the blade (regions, members, what is asked of other machines), or a
 * line of another thread, is alone meanwhile: it has the turns of all threads.  The others come to
 * that point at the end of a batch, so it waits for microseconds.
 *
 * So all that is not on the way of a page is written as for one thread, and is never
 * seen half done.  A blade with one thread does nothing of this.
 */

struct memd;

/* Of a thread; in a line of the cache that is only its own. */
struct turn {
	_Alignas(64) pthread_mutex_t lock;	/* held while it works, and by who is alone */
	bool alone;			/* it has the turns of all */
	int wake;			/* eventfd that wakes it; -1: it has none */
	/* By who was alone it was given something to do that it does not expect yet */
	bool sooner;
};

/* Of the blade. */
struct turns {
	_Alignas(64) pthread_mutex_t lock;	/* of who is alone, or becomes so */
	u32 wanted;			/* how many want to be: let them */
	bool ending;			/* all threads are to end */
};

void turn_init(struct memd *m);

/* Begin to work, which one does with a look at the clock; end. */
void turn_begin(struct memd *m);
void turn_end(struct memd *m);

/* Between two batches: let somebody be alone who wants to. */
void turn_pause(struct memd *m);

/*
 * Be alone, in a turn of one's own, until turn_together().  What was read of the
 * blade before may have changed.
 */
void turn_alone(struct memd *m);
void turn_together(struct memd *m);

/* Nobody but the one who asks is at work, so that it may change what belongs to the blade. */
bool turn_is_alone(const struct memd *m);

/* Another thread has something to look at, between its turns. */
void turn_wake(struct memd *m);

/* All threads are to end. */
void turn_end_all(struct memd *m);
bool turn_ending(const struct memd *m);

#endif /* WEFT_MEMD_TURN_H */
