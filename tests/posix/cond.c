// SPDX-License-Identifier: GPL-2.0-only
/* Condition variables. */
#include "posix.h"

static void init_cond(pthread_cond_t *c, clockid_t clock)
{
	pthread_condattr_t attr;

	CHECK_EQ(pthread_condattr_init(&attr), 0);
	CHECK_EQ(pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	CHECK_EQ(pthread_condattr_setclock(&attr, clock), 0);
	CHECK_EQ(pthread_cond_init(c, &attr), 0);
}

static void take_turns(int me)
{
	int i;

	for (i = 0; i < TURNS; i++) {
		CHECK_EQ(pthread_mutex_lock(&shared->mutex), 0);
		while (shared->count % 2 != me)
			CHECK_EQ(pthread_cond_wait(&shared->cond, &shared->mutex), 0);
		shared->count++;
		CHECK_EQ(pthread_cond_signal(&shared->cond), 0);
		CHECK_EQ(pthread_mutex_unlock(&shared->mutex), 0);
	}
}

static void unlock_after(void *arg)
{
	shared->serial = pthread_mutex_unlock(arg);
}

static void *wait_for_ever(void *arg)
{
	CHECK_EQ(pthread_mutex_lock(&shared->mutex), 0);
	pthread_cleanup_push(unlock_after, &shared->mutex);
	step(1);
	for (;;)
		pthread_cond_wait(&shared->cond, &shared->mutex);
	pthread_cleanup_pop(1);
	return arg;
}

void test_cond(void)
{
	struct timespec t;
	pthread_t thread;
	pid_t pids[4];
	void *result;
	double begin;
	int i;

	init_mutex(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
	init_cond(&shared->cond, CLOCK_REALTIME);
	init_cond(&shared->other_cond, CLOCK_MONOTONIC);

	shared->count = 0;
	CHILD(pids[0], take_turns(1));
	take_turns(0);
	child_ok(pids[0]);
	CHECK_EQ(shared->count, 2 * TURNS);

	/* All are woken. */
	shared->count = 0;
	step(0);
	for (i = 0; i < 4; i++)
		CHILD(pids[i], {
			CHECK_EQ(pthread_mutex_lock(&shared->mutex), 0);
			shared->count++;
			while (shared->step != 1)
				CHECK_EQ(pthread_cond_wait(&shared->cond, &shared->mutex), 0);
			CHECK_EQ(pthread_mutex_unlock(&shared->mutex), 0);
		});
	for (i = 0; i != 4;) {
		CHECK_EQ(pthread_mutex_lock(&shared->mutex), 0);
		i = shared->count;
		if (i == 4)
			step(1);
		CHECK_EQ(pthread_mutex_unlock(&shared->mutex), 0);
		pause_ms(1);
	}
	CHECK_EQ(pthread_cond_broadcast(&shared->cond), 0);
	for (i = 0; i < 4; i++)
		child_ok(pids[i]);

	/* Time passes, on the right clock. */
	CHECK_EQ(pthread_mutex_lock(&shared->mutex), 0);
	begin = now_seconds();
	t = clock_in_ms(CLOCK_REALTIME, 50);
	CHECK_EQ(pthread_cond_timedwait(&shared->cond, &shared->mutex, &t), ETIMEDOUT);
	t = clock_in_ms(CLOCK_MONOTONIC, 50);
	CHECK_EQ(pthread_cond_timedwait(&shared->other_cond, &shared->mutex, &t), ETIMEDOUT);
	t = clock_in_ms(CLOCK_MONOTONIC, 50);
	CHECK_EQ(pthread_cond_clockwait(&shared->cond, &shared->mutex, CLOCK_MONOTONIC, &t), ETIMEDOUT);
	CHECK(now_seconds() - begin > 0.14);
	CHECK_EQ(pthread_cond_timedwait(&shared->cond, &shared->mutex, &never), EINVAL);
	/* It is locked again. */
	CHECK_EQ(pthread_mutex_lock(&shared->mutex), EDEADLK);
	CHECK_EQ(pthread_mutex_unlock(&shared->mutex), 0);
	CHECK_EQ(pthread_cond_wait(&shared->cond, &shared->mutex), EPERM);

	/* Cancelled while it waits: with the mutex, and nothing is left behind. */
	step(0);
	shared->serial = -1;
	CHECK(!pthread_create(&thread, NULL, wait_for_ever, NULL));
	wait_step(1);
	CHECK_EQ(pthread_mutex_lock(&shared->mutex), 0);
	CHECK_EQ(pthread_mutex_unlock(&shared->mutex), 0);
	CHECK(!pthread_cancel(thread));
	CHECK(!pthread_join(thread, &result));
	CHECK(result == PTHREAD_CANCELED);
	CHECK_EQ(shared->serial, 0);
	CHECK_EQ(pthread_mutex_lock(&shared->mutex), 0);
	CHECK_EQ(pthread_mutex_unlock(&shared->mutex), 0);
	CHECK_EQ(pthread_cond_destroy(&shared->cond), 0);
	CHECK_EQ(pthread_cond_destroy(&shared->other_cond), 0);
	CHECK_EQ(pthread_mutex_destroy(&shared->mutex), 0);
}
