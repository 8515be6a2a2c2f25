/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What POSIX and the C library promise of locks that processes share: the same
 * must hold without the preload library, with it, and with it inside a region.
 * A file a kind of lock; what they have in common.
 */
#ifndef WEFT_TESTS_POSIX_POSIX_H
#define WEFT_TESTS_POSIX_POSIX_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "tests/common/child.h"
#include "tests/libweft/elsewhere.h"

#define TURNS	200	/* that two processes take */

struct memory {
	pthread_rwlock_t rwlock;
	char gap[4096 - sizeof(pthread_rwlock_t)];
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_cond_t other_cond;
	pthread_barrier_t barrier;
	sem_t sem;
	sem_t other_sem;
	int step;
	int count;
	int serial;
};

extern struct memory *shared;
extern bool in_region;

static const struct timespec never = { 0, 1000000000 };

/* How far the processes and threads of a test have come. */
void step(int value);
void wait_step(int value);

/* The mutex that all share, anew. */
void init_mutex(int type, int robust);

void test_rwlock(void);
void test_mutex(void);
void test_cond(void);
void test_barrier(void);
void test_sem(void);

#endif /* WEFT_TESTS_POSIX_POSIX_H */
