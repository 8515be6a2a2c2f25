// SPDX-License-Identifier: GPL-2.0-only
/* Barriers. */
#include "posix.h"

#define ROUNDS	100

static void meet(void)
{
	int i, result;

	for (i = 0; i < ROUNDS; i++) {
		__atomic_add_fetch(&shared->count, 1, __ATOMIC_SEQ_CST);
		result = pthread_barrier_wait(&shared->barrier);
		CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
		if (result)
			__atomic_add_fetch(&shared->serial, 1, __ATOMIC_SEQ_CST);
		CHECK(__atomic_load_n(&shared->count, __ATOMIC_SEQ_CST) >= 4 * (i + 1));
	}
}

void test_barrier(void)
{
	pthread_barrierattr_t attr;
	pid_t pids[3];
	int i, again;

	CHECK_EQ(pthread_barrierattr_init(&attr), 0);
	CHECK_EQ(pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	CHECK_EQ(pthread_barrier_init(&shared->barrier, &attr, 0), EINVAL);
	for (again = 0; again < 2; again++) {
		CHECK_EQ(pthread_barrier_init(&shared->barrier, &attr, 4), 0);
		shared->count = 0;
		shared->serial = 0;
		for (i = 0; i < 3; i++)
			CHILD(pids[i], meet());
		meet();
		/* The others may not have left it yet. */
		CHECK_EQ(pthread_barrier_destroy(&shared->barrier), 0);
		for (i = 0; i < 3; i++)
			child_ok(pids[i]);
		CHECK_EQ(shared->count, 4 * ROUNDS);
		CHECK_EQ(shared->serial, ROUNDS);
	}
	CHECK_EQ(pthread_barrier_init(&shared->barrier, &attr, 1), 0);
	CHECK_EQ(pthread_barrier_wait(&shared->barrier), PTHREAD_BARRIER_SERIAL_THREAD);
	CHECK_EQ(pthread_barrier_destroy(&shared->barrier), 0);
}
