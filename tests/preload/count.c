// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plain program of several processes that share memory: it counts, and looks at
 * what is counted, under a process-shared rwlock and a mutex.  Started on several
 * machines with the same region, it counts on all of them.
 *
 *	preload-count FILE WORKERS ROUNDS [ALL [EVERY]]
 *
 * WORKERS processes here, of ALL on all machines (WORKERS unless told); ROUNDS of
 * each, all with the mutex and a tenth of which write, or one in EVERY does both.
 * FILE must be new or zeros.  Checks that no reader ever sees half of a change, and
 * that all were counted.
 */
#include <pthread.h>

#include "tests/common/argument.h"
#include "tests/common/child.h"

#define LIMIT	7200	/* seconds */
#define WIDE	300	/* longs: more than a page */

struct counts {
	pthread_rwlock_t setup;
	pthread_barrier_t meeting;
	int is_set_up;
	char gap[4096];
	pthread_rwlock_t lock;
	pthread_mutex_t mutex;
	char another_gap[4096];
	long wide[WIDE];
	char last_gap[4096];
	long narrow;
};

static struct counts *c;

static void set_up(unsigned int all)
{
	pthread_barrierattr_t barrier;
	pthread_mutexattr_t mutex;
	pthread_rwlockattr_t lock;

	CHECK(!pthread_rwlock_wrlock(&c->setup));
	if (!c->is_set_up) {
		CHECK(!pthread_barrierattr_init(&barrier));
		CHECK(!pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED));
		CHECK(!pthread_barrier_init(&c->meeting, &barrier, all));
		CHECK(!pthread_mutexattr_init(&mutex));
		CHECK(!pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED));
		CHECK(!pthread_mutex_init(&c->mutex, &mutex));
		CHECK(!pthread_rwlockattr_init(&lock));
		CHECK(!pthread_rwlockattr_setpshared(&lock, PTHREAD_PROCESS_SHARED));
		CHECK(!pthread_rwlock_init(&c->lock, &lock));
		c->is_set_up = 1;
	}
	CHECK(!pthread_rwlock_unlock(&c->setup));
}

static void look(void)
{
	int i;

	CHECK(!pthread_rwlock_rdlock(&c->lock));
	for (i = 1; i < WIDE; i++)
		CHECK_EQ(c->wide[i], c->wide[0]);
	CHECK(!pthread_rwlock_unlock(&c->lock));
}

static void change(void)
{
	int i;

	CHECK(!pthread_rwlock_wrlock(&c->lock));
	for (i = 0; i < WIDE; i++)
		c->wide[i]++;
	CHECK(!pthread_rwlock_unlock(&c->lock));
}

/* How often one of @rounds is, if one of @every is. */
static long times(long rounds, long every)
{
	return (rounds + every - 1) / every;
}

static void work(unsigned int all, long rounds, long writes, long mutexes)
{
	long i;

	alarm(LIMIT);
	set_up(all);
	pthread_barrier_wait(&c->meeting);
	for (i = 0; i < rounds; i++) {
		if (i % writes)
			look();
		else
			change();
		if (i % mutexes)
			continue;
		CHECK(!pthread_mutex_lock(&c->mutex));
		c->narrow++;
		CHECK(!pthread_mutex_unlock(&c->mutex));
	}
	pthread_barrier_wait(&c->meeting);
	look();
	CHECK_EQ(c->wide[0], all * times(rounds, writes));
	CHECK_EQ(c->narrow, all * times(rounds, mutexes));
	/* Nobody ends, and unmaps, before all have seen it. */
	pthread_barrier_wait(&c->meeting);
}

int main(int argc, char **argv)
{
	unsigned long workers, all, i;
	pid_t pids[256];
	long rounds, writes = 10, mutexes = 1;
	double begin;
	int fd;

	if (argc < 4) {
		fprintf(stderr, "usage: preload-count FILE WORKERS ROUNDS [ALL [EVERY]]\n");
		return 2;
	}
	workers = argument_u32(argv[2]);
	rounds = argument_u32(argv[3]);
	all = argc > 4 ? argument_u32(argv[4]) : workers;
	if (argc > 5)
		writes = mutexes = argument_u32(argv[5]);
	if (!workers || workers > 256 || all < workers || rounds < 1 || writes < 1) {
		fprintf(stderr, "preload-count: WORKERS from 1 to 256, ALL not less, ROUNDS and EVERY from 1\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, sizeof(*c)));
	c = map_region(fd, sizeof(*c));
	close(fd);
	begin = now_seconds();
	for (i = 0; i < workers; i++)
		CHILD(pids[i], work((unsigned int)all, rounds, writes, mutexes));
	children_ok(pids, (unsigned int)workers);
	printf("count: %lu workers of %lu, %ld rounds each, %ld in all, of which %ld changed all %d counters, exact; mutex %ld times, exact; %.1f s\n",
	       workers, all, rounds, (long)all * rounds, c->wide[0], WIDE, c->narrow,
	       now_seconds() - begin);
	return 0;
}
