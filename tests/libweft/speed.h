/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs that measure how long a cached lock takes have in common.
 */
#ifndef WEFT_TESTS_LIBWEFT_SPEED_H
#define WEFT_TESTS_LIBWEFT_SPEED_H

#include <pthread.h>

#include "tests/common/child.h"

#define ROUNDS	2000	/* of a turn: short, so that some are not disturbed */

/* @least becomes the nanoseconds of one lock and unlock, if they are fewer. */
#define MEASURE(least, lock, unlock, l) do {				\
	double begin_ = now_seconds();					\
									\
	for (unsigned long round_ = 0; round_ < ROUNDS; round_++) {	\
		lock(l);						\
		unlock(l);						\
	}								\
	begin_ = (now_seconds() - begin_) * 1e9 / ROUNDS;			\
	if (begin_ < (least))						\
		(least) = begin_;					\
} while (0)

static inline void init_shared(pthread_rwlock_t *l)
{
	pthread_rwlockattr_t attr;

	CHECK(!pthread_rwlockattr_init(&attr));
	CHECK(!pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_rwlock_init(l, &attr));
}

static inline void init_shared_mutex(pthread_mutex_t *m)
{
	pthread_mutexattr_t attr;

	CHECK(!pthread_mutexattr_init(&attr));
	CHECK(!pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_mutex_init(m, &attr));
}

static void *wait_to_end(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

/* From now on there is a second thread, so that counts are changed atomically. */
static inline void begin_thread(pthread_t *thread, pthread_barrier_t *end)
{
	CHECK(!pthread_barrier_init(end, NULL, 2));
	CHECK(!pthread_create(thread, NULL, wait_to_end, end));
}

static inline void end_thread(pthread_t thread, pthread_barrier_t *end)
{
	pthread_barrier_wait(end);
	CHECK(!pthread_join(thread, NULL));
}

/* In one thread, and beside a second one: JSON, of which @measure prints a member. */
static inline void measure_beside(void (*measure)(const char *what, char *region,
						  const char *end),
				  char *region)
{
	pthread_barrier_t end;
	pthread_t t;

	puts("{");
	measure("one_thread", region, ",");
	begin_thread(&t, &end);
	measure("threads", region, "");
	puts("}");
	end_thread(t, &end);
}

#endif /* WEFT_TESTS_LIBWEFT_SPEED_H */
