// SPDX-License-Identifier: GPL-2.0-only
/* Mutexes. */
#include "posix.h"

static int try_mutex(void *l)
{
	int error = pthread_mutex_trylock(l);

	return error ? error : pthread_mutex_unlock(l);
}

static int lock_mutex(void *l)
{
	return pthread_mutex_lock(l);
}

static int lock_twice(void *l)
{
	int error = pthread_mutex_lock(l);

	return error ? error : pthread_mutex_lock(l);
}

static int unlock_mutex(void *l)
{
	return pthread_mutex_unlock(l);
}

void init_mutex(int type, int robust)
{
	pthread_mutexattr_t attr;

	CHECK_EQ(pthread_mutexattr_init(&attr), 0);
	CHECK_EQ(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	CHECK_EQ(pthread_mutexattr_settype(&attr, type), 0);
	CHECK_EQ(pthread_mutexattr_setrobust(&attr, robust), 0);
	CHECK_EQ(pthread_mutex_init(&shared->mutex, &attr), 0);
}

static void mutex_any(pthread_mutex_t *l)
{
	struct timespec t;
	pid_t pid;

	CHECK_EQ(pthread_mutex_lock(l), 0);
	CHECK_EQ(elsewhere(try_mutex, l), EBUSY);
	CHILD(pid, {
		t = clock_in_ms(CLOCK_REALTIME, 20);
		CHECK_EQ(pthread_mutex_trylock(l), EBUSY);
		CHECK_EQ(pthread_mutex_timedlock(l, &t), ETIMEDOUT);
		t = clock_in_ms(CLOCK_MONOTONIC, 20);
		CHECK_EQ(pthread_mutex_clocklock(l, CLOCK_MONOTONIC, &t), ETIMEDOUT);
		CHECK_EQ(pthread_mutex_clocklock(l, CLOCK_THREAD_CPUTIME_ID, &t), EINVAL);
		CHECK_EQ(pthread_mutex_timedlock(l, &never), EINVAL);
	});
	child_ok(pid);
	CHECK_EQ(pthread_mutex_unlock(l), 0);
	CHECK_EQ(elsewhere(try_mutex, l), 0);
	t = clock_in_ms(CLOCK_REALTIME, -1000);
	CHECK_EQ(pthread_mutex_timedlock(l, &t), 0);
	CHECK_EQ(pthread_mutex_unlock(l), 0);

	/* Somebody waits, and gets it. */
	step(0);
	CHECK_EQ(pthread_mutex_lock(l), 0);
	CHILD(pid, {
		step(1);
		CHECK_EQ(pthread_mutex_lock(l), 0);
		CHECK_EQ(shared->count, 5);
		CHECK_EQ(pthread_mutex_unlock(l), 0);
	});
	wait_step(1);
	UNTIL(is_asleep(pid));
	shared->count = 5;
	CHECK_EQ(pthread_mutex_unlock(l), 0);
	child_ok(pid);
}

static void mutex_normal(pthread_mutex_t *l)
{
	struct timespec t = clock_in_ms(CLOCK_REALTIME, 20);

	mutex_any(l);
	CHECK_EQ(pthread_mutex_lock(l), 0);
	CHECK_EQ(pthread_mutex_trylock(l), EBUSY);
	CHECK_EQ(pthread_mutex_timedlock(l, &t), ETIMEDOUT);
	CHECK_EQ(pthread_mutex_unlock(l), 0);
	CHECK_EQ(pthread_mutex_consistent(l), EINVAL);
	CHECK_EQ(pthread_mutex_destroy(l), 0);
}

static void mutex_recursive(pthread_mutex_t *l)
{
	struct timespec t = clock_in_ms(CLOCK_REALTIME, 20);

	mutex_any(l);
	CHECK_EQ(pthread_mutex_lock(l), 0);
	CHECK_EQ(pthread_mutex_lock(l), 0);
	CHECK_EQ(pthread_mutex_trylock(l), 0);
	CHECK_EQ(pthread_mutex_timedlock(l, &t), 0);
	CHECK_EQ(elsewhere(unlock_mutex, l), EPERM);
	CHECK_EQ(pthread_mutex_unlock(l), 0);
	CHECK_EQ(pthread_mutex_unlock(l), 0);
	CHECK_EQ(pthread_mutex_unlock(l), 0);
	CHECK_EQ(elsewhere(try_mutex, l), EBUSY);
	CHECK_EQ(pthread_mutex_unlock(l), 0);
	CHECK_EQ(pthread_mutex_unlock(l), EPERM);
	CHECK_EQ(elsewhere(try_mutex, l), 0);
	CHECK_EQ(pthread_mutex_destroy(l), 0);
}

static void mutex_checking(pthread_mutex_t *l)
{
	struct timespec t = clock_in_ms(CLOCK_REALTIME, 20);
	pid_t pid;

	mutex_any(l);
	CHECK_EQ(pthread_mutex_unlock(l), EPERM);
	CHECK_EQ(pthread_mutex_lock(l), 0);
	CHECK_EQ(pthread_mutex_lock(l), EDEADLK);
	CHECK_EQ(pthread_mutex_timedlock(l, &t), EDEADLK);
	CHECK_EQ(pthread_mutex_trylock(l), EBUSY);
	CHECK_EQ(elsewhere(unlock_mutex, l), EPERM);
	CHILD(pid, CHECK_EQ(pthread_mutex_unlock(l), EPERM));
	child_ok(pid);
	CHECK_EQ(pthread_mutex_unlock(l), 0);
	CHECK_EQ(pthread_mutex_destroy(l), 0);
}

static void die_holding(pthread_mutex_t *l, bool killed)
{
	pid_t pid;

	step(0);
	CHILD(pid, {
		CHECK_EQ(pthread_mutex_lock(l), 0);
		step(1);
		if (killed)
			pause();
	});
	wait_step(1);
	if (killed)
		child_kill(pid);
	else
		child_ok(pid);
}

static void mutex_robust(pthread_mutex_t *l, int type)
{
	struct timespec t;
	pid_t pid, waiter;
	int killed;

	init_mutex(type, PTHREAD_MUTEX_ROBUST);
	mutex_any(l);
	CHECK_EQ(pthread_mutex_consistent(l), EINVAL);
	for (killed = 0; killed < 2; killed++) {
		die_holding(l, killed);
		CHECK_EQ(pthread_mutex_lock(l), EOWNERDEAD);
		CHECK_EQ(elsewhere(try_mutex, l), EBUSY);
		CHECK_EQ(pthread_mutex_consistent(l), 0);
		CHECK_EQ(pthread_mutex_consistent(l), EINVAL);
		CHECK_EQ(pthread_mutex_unlock(l), 0);
		mutex_any(l);
		die_holding(l, killed);
		CHECK_EQ(pthread_mutex_trylock(l), EOWNERDEAD);
		CHECK_EQ(pthread_mutex_consistent(l), 0);
		CHECK_EQ(pthread_mutex_unlock(l), 0);
		die_holding(l, killed);
		t = clock_in_ms(CLOCK_REALTIME, 60000);
		CHECK_EQ(pthread_mutex_timedlock(l, &t), EOWNERDEAD);
		CHECK_EQ(pthread_mutex_consistent(l), 0);
		CHECK_EQ(pthread_mutex_unlock(l), 0);
	}

	/* One dies while another waits; the waiter dies with it too. */
	step(0);
	CHILD(pid, {
		CHECK_EQ(pthread_mutex_lock(l), 0);
		step(1);
		pause();
	});
	wait_step(1);
	CHILD(waiter, {
		step(2);
		CHECK_EQ(pthread_mutex_lock(l), EOWNERDEAD);
	});
	wait_step(2);
	UNTIL(is_asleep(waiter));
	child_kill(pid);
	child_ok(waiter);
	CHECK_EQ(pthread_mutex_lock(l), EOWNERDEAD);
	CHECK_EQ(pthread_mutex_consistent(l), 0);
	CHECK_EQ(pthread_mutex_unlock(l), 0);

	if (type == PTHREAD_MUTEX_RECURSIVE) {
		CHECK_EQ(elsewhere(lock_twice, l), 0);
		CHECK_EQ(pthread_mutex_lock(l), EOWNERDEAD);
		CHECK_EQ(pthread_mutex_consistent(l), 0);
		CHECK_EQ(pthread_mutex_unlock(l), 0);
		CHECK_EQ(elsewhere(try_mutex, l), 0);
	}

	/* A thread ends with it. */
	CHECK_EQ(elsewhere(lock_mutex, l), 0);
	CHECK_EQ(elsewhere(lock_mutex, l), EOWNERDEAD);
	CHECK_EQ(pthread_mutex_lock(l), EOWNERDEAD);
	CHECK_EQ(elsewhere(unlock_mutex, l), EPERM);
	/* Left as it is: nobody can ever have it again. */
	CHECK_EQ(pthread_mutex_unlock(l), 0);
	CHECK_EQ(pthread_mutex_lock(l), ENOTRECOVERABLE);
	/* After this the C library's own is locked for ever. */
	if (in_region)
		CHECK_EQ(pthread_mutex_trylock(l), ENOTRECOVERABLE);
	CHECK_EQ(pthread_mutex_consistent(l), EINVAL);
	CHILD(pid, CHECK_EQ(pthread_mutex_lock(l), ENOTRECOVERABLE));
	child_ok(pid);
	CHECK_EQ(pthread_mutex_destroy(l), 0);
	init_mutex(type, PTHREAD_MUTEX_ROBUST);
	mutex_any(l);
	CHECK_EQ(pthread_mutex_destroy(l), 0);
}

void test_mutex(void)
{
	pthread_mutex_t *l = &shared->mutex;

	init_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
	mutex_normal(l);
	init_mutex(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
	mutex_recursive(l);
	init_mutex(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
	mutex_checking(l);
	mutex_robust(l, PTHREAD_MUTEX_NORMAL);
	mutex_robust(l, PTHREAD_MUTEX_RECURSIVE);
	mutex_robust(l, PTHREAD_MUTEX_ERRORCHECK);
	if (in_region) {
		/* Shared by where they are, whatever is said. */
		memset(l, 0, sizeof(*l));
		mutex_normal(l);
		CHECK_EQ(pthread_mutex_init(l, NULL), 0);
		mutex_normal(l);
		*l = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
		mutex_recursive(l);
		*l = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
		mutex_checking(l);
	}
}
