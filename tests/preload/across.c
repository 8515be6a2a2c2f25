// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two plain programs, on two machines or on one, that know of each other only by
 * the memory they share: locks exclude each other, semaphores and condition
 * variables wake the other side, and who dies leaves nothing locked.
 *
 *	preload-across FILE 1|2
 *
 * FILE is a new region, or zeros.
 */
#include <pthread.h>
#include <semaphore.h>

#include "tests/common/child.h"

#define LIMIT	200	/* seconds */
#define TURNS	50
#define WAITED	0.1	/* seconds, of who did not find a lock free */

struct shared {
	pthread_rwlock_t setup;
	int is_set_up;
	char gap[4096];
	pthread_barrier_t meeting;
	sem_t sem[2];
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int turn;
	int asks;
	int has_waited;
	char another_gap[4096];
	pthread_rwlock_t lock;
	pthread_mutex_t robust;
	pthread_mutex_t recursive;
	int value;
};

static struct shared *s;

static void init_mutex(pthread_mutex_t *m, int type, int robust)
{
	pthread_mutexattr_t attr;

	CHECK(!pthread_mutexattr_init(&attr));
	CHECK(!pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_mutexattr_settype(&attr, type));
	CHECK(!pthread_mutexattr_setrobust(&attr, robust));
	CHECK(!pthread_mutex_init(m, &attr));
}

static void set_up(void)
{
	pthread_barrierattr_t barrier;
	pthread_condattr_t cond;

	CHECK_EQ(pthread_rwlock_wrlock(&s->setup), 0);
	if (!s->is_set_up) {
		CHECK(!pthread_barrierattr_init(&barrier));
		CHECK(!pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED));
		CHECK(!pthread_barrier_init(&s->meeting, &barrier, 2));
		CHECK(!pthread_condattr_init(&cond));
		CHECK(!pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED));
		CHECK(!pthread_cond_init(&s->cond, &cond));
		CHECK(!sem_init(&s->sem[0], 1, 0));
		CHECK(!sem_init(&s->sem[1], 1, 0));
		init_mutex(&s->mutex, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
		init_mutex(&s->robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
		init_mutex(&s->recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
		s->is_set_up = 1;
	}
	CHECK_EQ(pthread_rwlock_unlock(&s->setup), 0);
}

static void meet(void)
{
	int result = pthread_barrier_wait(&s->meeting);

	CHECK(!result || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

/* One has it, the other one tries; then it is left, and the other one gets it. */
static void test_exclusion(int me)
{
	struct timespec soon;

	if (!me) {
		CHECK_EQ(pthread_rwlock_wrlock(&s->lock), 0);
		CHECK_EQ(pthread_mutex_lock(&s->recursive), 0);
		CHECK_EQ(pthread_mutex_lock(&s->recursive), 0);
	}
	meet();
	if (me) {
		CHECK_EQ(pthread_rwlock_tryrdlock(&s->lock), EBUSY);
		CHECK_EQ(pthread_rwlock_trywrlock(&s->lock), EBUSY);
		soon = clock_in_ms(CLOCK_REALTIME, 100);
		CHECK_EQ(pthread_rwlock_timedrdlock(&s->lock, &soon), ETIMEDOUT);
		CHECK_EQ(pthread_mutex_trylock(&s->recursive), EBUSY);
		soon = clock_in_ms(CLOCK_REALTIME, 100);
		CHECK_EQ(pthread_mutex_timedlock(&s->recursive, &soon), ETIMEDOUT);
		CHECK_EQ(pthread_mutex_unlock(&s->recursive), EPERM);
		CHECK_EQ(pthread_rwlock_unlock(&s->lock), EPERM);
	}
	meet();
	if (!me) {
		UNTIL(__atomic_load_n(&s->asks, __ATOMIC_SEQ_CST));
		/* else it has the lock before the value is there */
		give_time(100);
		s->value = 1;
		CHECK_EQ(pthread_mutex_unlock(&s->recursive), 0);
		CHECK_EQ(pthread_mutex_unlock(&s->recursive), 0);
		CHECK_EQ(pthread_rwlock_unlock(&s->lock), 0);
	} else {
		__atomic_store_n(&s->asks, 1, __ATOMIC_SEQ_CST);
		CHECK_EQ(pthread_rwlock_rdlock(&s->lock), 0);
		CHECK_EQ(s->value, 1);
		CHECK_EQ(pthread_rwlock_unlock(&s->lock), 0);
		CHECK_EQ(pthread_mutex_lock(&s->recursive), 0);
		CHECK_EQ(pthread_mutex_unlock(&s->recursive), 0);
	}
	meet();
	/* Both read. */
	CHECK_EQ(pthread_rwlock_rdlock(&s->lock), 0);
	meet();
	CHECK_EQ(pthread_rwlock_trywrlock(&s->lock), EBUSY);
	meet();
	CHECK_EQ(pthread_rwlock_unlock(&s->lock), 0);
}

/*
 * One has had the lock to write, and reads: the other one reads, too, without waiting
 * that the first one lets go, who waits for just that.
 */
static void test_readers(int me)
{
	int turn;

	for (turn = 0; turn < 2; turn++) {
		if (me == turn) {
			CHECK_EQ(pthread_rwlock_wrlock(&s->lock), 0);
			CHECK_EQ(pthread_rwlock_unlock(&s->lock), 0);
			CHECK_EQ(pthread_rwlock_rdlock(&s->lock), 0);
		}
		meet();
		if (me != turn)
			CHECK_EQ(pthread_rwlock_rdlock(&s->lock), 0);
		meet();
		CHECK_EQ(pthread_rwlock_unlock(&s->lock), 0);
		meet();
	}
}

static void test_turns(int me)
{
	int i;

	for (i = 0; i < TURNS; i++) {
		CHECK_EQ(pthread_mutex_lock(&s->mutex), 0);
		while (s->turn % 2 != me)
			CHECK_EQ(pthread_cond_wait(&s->cond, &s->mutex), 0);
		s->turn++;
		CHECK_EQ(pthread_cond_signal(&s->cond), 0);
		CHECK_EQ(pthread_mutex_unlock(&s->mutex), 0);
	}
	meet();
	CHECK_EQ(s->turn, 2 * TURNS);
	for (i = 0; i < TURNS; i++) {
		if (me)
			CHECK_EQ(sem_wait(&s->sem[1]), 0);
		CHECK_EQ(sem_post(&s->sem[!me]), 0);
		if (!me)
			CHECK_EQ(sem_wait(&s->sem[0]), 0);
	}
	meet();
}

/* One side's child holds two locks; it is killed a while after the other side has asked. */
static void die_holding(unsigned int ms)
{
	pid_t pid;

	CHILD(pid, {
		CHECK_EQ(pthread_mutex_lock(&s->robust), 0);
		CHECK_EQ(pthread_rwlock_wrlock(&s->lock), 0);
		s->value = 2;
		sem_post(&s->sem[0]);
		pause();
	});
	CHECK_EQ(sem_wait(&s->sem[0]), 0);
	meet();
	CHECK_EQ(sem_wait(&s->sem[0]), 0);
	give_time(ms);
	child_kill(pid);
}

/* The other side gets them, when it has waited, or before. */
static void inherit(void)
{
	double begin;

	meet();
	CHECK_EQ(pthread_rwlock_trywrlock(&s->lock), EBUSY);
	begin = now_seconds();
	CHECK_EQ(sem_post(&s->sem[0]), 0);
	CHECK_EQ(pthread_mutex_lock(&s->robust), EOWNERDEAD);
	s->has_waited = now_seconds() - begin > WAITED;
	CHECK_EQ(s->value, 2);
	CHECK_EQ(pthread_mutex_consistent(&s->robust), 0);
	CHECK_EQ(pthread_mutex_unlock(&s->robust), 0);
	CHECK_EQ(pthread_rwlock_wrlock(&s->lock), 0);
	CHECK_EQ(pthread_rwlock_unlock(&s->lock), 0);
}

/*
 * A child of one side is killed with locks; the other side waits for them, which it must have
 * done once, however long that takes.
 */
static void test_death(int me)
{
	unsigned int ms;
	pid_t pid;

	for (ms = 0; !s->has_waited; ms += 200) {
		CHECK(ms <= 2000, "it has not waited");
		meet();
		if (!me)
			die_holding(ms);
		else
			inherit();
		meet();
	}
	meet();
	CHECK_EQ(pthread_mutex_lock(&s->robust), 0);
	CHECK_EQ(pthread_mutex_unlock(&s->robust), 0);
	meet();
	/* Given up for ever by one, for both. */
	if (!me) {
		CHILD(pid, CHECK_EQ(pthread_mutex_lock(&s->robust), 0));
		child_ok(pid);
		CHECK_EQ(pthread_mutex_lock(&s->robust), EOWNERDEAD);
		CHECK_EQ(pthread_mutex_unlock(&s->robust), 0);
	}
	meet();
	CHECK_EQ(pthread_mutex_lock(&s->robust), ENOTRECOVERABLE);
	meet();
}

int main(int argc, char **argv)
{
	int fd, me;

	if (argc != 3 || (strcmp(argv[2], "1") && strcmp(argv[2], "2"))) {
		fprintf(stderr, "usage: preload-across FILE 1|2\n");
		return 2;
	}
	me = argv[2][0] - '1';
	alarm(LIMIT * check_scale());
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, sizeof(*s)));
	s = map_region(fd, sizeof(*s));
	close(fd);
	set_up();
	meet();
	test_exclusion(me);
	test_readers(me);
	test_turns(me);
	test_death(me);
	return check_result();
}
