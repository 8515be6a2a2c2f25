// SPDX-License-Identifier: GPL-2.0-only
/* Reader-writer locks. */
#include "posix.h"

static int try_read(void *l)
{
	int error = pthread_rwlock_tryrdlock(l);

	return error ? error : pthread_rwlock_unlock(l);
}

static int try_write(void *l)
{
	int error = pthread_rwlock_trywrlock(l);

	return error ? error : pthread_rwlock_unlock(l);
}

static void rwlock_one_process(pthread_rwlock_t *l)
{
	struct timespec t;

	CHECK_EQ(pthread_rwlock_rdlock(l), 0);
	CHECK_EQ(pthread_rwlock_rdlock(l), 0);
	CHECK_EQ(pthread_rwlock_tryrdlock(l), 0);
	CHECK_EQ(elsewhere(try_read, l), 0);
	CHECK_EQ(elsewhere(try_write, l), EBUSY);
	CHECK_EQ(pthread_rwlock_trywrlock(l), EBUSY);
	t = clock_in_ms(CLOCK_REALTIME, 20);
	CHECK_EQ(pthread_rwlock_timedwrlock(l, &t), ETIMEDOUT);
	t = clock_in_ms(CLOCK_MONOTONIC, 20);
	CHECK_EQ(pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &t), ETIMEDOUT);
	CHECK_EQ(pthread_rwlock_timedwrlock(l, &never), EINVAL);
	CHECK_EQ(pthread_rwlock_clockwrlock(l, CLOCK_PROCESS_CPUTIME_ID, &t), EINVAL);
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
	CHECK_EQ(elsewhere(try_write, l), EBUSY);
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
	CHECK_EQ(elsewhere(try_write, l), 0);

	CHECK_EQ(pthread_rwlock_wrlock(l), 0);
	CHECK_EQ(pthread_rwlock_wrlock(l), EDEADLK);
	CHECK_EQ(pthread_rwlock_rdlock(l), EDEADLK);
	t = clock_in_ms(CLOCK_REALTIME, 20);
	CHECK_EQ(pthread_rwlock_timedrdlock(l, &t), EDEADLK);
	CHECK_EQ(pthread_rwlock_timedrdlock(l, &never), EINVAL);
	CHECK_EQ(elsewhere(try_read, l), EBUSY);
	CHECK_EQ(elsewhere(try_write, l), EBUSY);
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
	CHECK_EQ(elsewhere(try_write, l), 0);
	t = clock_in_ms(CLOCK_REALTIME, -1000);
	CHECK_EQ(pthread_rwlock_timedwrlock(l, &t), 0);
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
	t.tv_sec = -1;
	CHECK_EQ(pthread_rwlock_timedrdlock(l, &t), 0);
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
	t = clock_in_ms(CLOCK_MONOTONIC, 20);
	CHECK_EQ(pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &t), 0);
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
}

static void rwlock_two_processes(pthread_rwlock_t *l)
{
	pid_t pid;

	step(0);
	CHECK_EQ(pthread_rwlock_wrlock(l), 0);
	CHILD(pid, {
		struct timespec t = clock_in_ms(CLOCK_REALTIME, 20);

		CHECK_EQ(pthread_rwlock_tryrdlock(l), EBUSY);
		CHECK_EQ(pthread_rwlock_trywrlock(l), EBUSY);
		CHECK_EQ(pthread_rwlock_timedrdlock(l, &t), ETIMEDOUT);
		step(1);
		CHECK_EQ(pthread_rwlock_rdlock(l), 0);
		CHECK_EQ(shared->count, 7);
		step(2);
		wait_step(3);
		CHECK_EQ(pthread_rwlock_unlock(l), 0);
		CHECK_EQ(pthread_rwlock_wrlock(l), 0);
		shared->count = 8;
		CHECK_EQ(pthread_rwlock_unlock(l), 0);
		step(4);
	});
	wait_step(1);
	UNTIL(is_asleep(pid));
	shared->count = 7;
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
	wait_step(2);
	CHECK_EQ(pthread_rwlock_rdlock(l), 0);
	CHECK_EQ(pthread_rwlock_trywrlock(l), EBUSY);
	step(3);
	/* it may only look for the step still: that it writes must not come in all this time */
	give_time(20);
	CHECK_EQ(shared->count, 7);
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
	wait_step(4);
	child_ok(pid);
	CHECK_EQ(shared->count, 8);
}

void test_rwlock(void)
{
	static const pthread_rwlock_t zeros;
	pthread_rwlock_t *l = &shared->rwlock;
	pthread_rwlockattr_t attr;

	CHECK_EQ(pthread_rwlockattr_init(&attr), 0);
	CHECK_EQ(pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	CHECK_EQ(pthread_rwlock_init(l, &attr), 0);
	rwlock_one_process(l);
	rwlock_two_processes(l);
	CHECK_EQ(pthread_rwlock_destroy(l), 0);
	if (in_region) {
		/* Never initialised, nor written to by anything before. */
		CHECK(!memcmp(l, &zeros, sizeof(zeros)));
		rwlock_one_process(l);
		rwlock_two_processes(l);
		CHECK(!memcmp(l, &zeros, sizeof(zeros)));
		memset(l, 0xa5, sizeof(*l));
		rwlock_two_processes(l);
		memset(l, 0, sizeof(*l));
	} else {
		*l = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
		rwlock_one_process(l);
	}
}
