// SPDX-License-Identifier: GPL-2.0-only
/*
 * libweft and processes: what a child has and has not, however it was made, and
 * what is left of a process that was killed.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "tests/common/child.h"
#include "tests/common/folder.h"
#include "tests/common/kernel/fake.h"
#include "tools/libweft/lock.h"
#include "weft.h"

#define SIZE	65536u

static char directory[FOLDER_MAX];
static int fd;
static char *region;
static struct fake_counts *counts;
static _Atomic int *shared;	/* between parent and children */

static weft_rwlock_t *lock_at(size_t offset)
{
	return (weft_rwlock_t *)(region + offset);
}

static void wait_for(int value)
{
	UNTIL(*shared == value);
}

/* What a child finds that its parent has write-locked one and read-locked another. */
static void as_child(void)
{
	struct timespec soon = clock_in_ms(CLOCK_REALTIME, 30);

	CHECK_EQ(weft_rwlock_trywrlock(lock_at(0)), EBUSY);
	/* Not EDEADLK: it is not this process's. */
	CHECK_EQ(weft_rwlock_timedrdlock(lock_at(0), &soon), ETIMEDOUT);
	CHECK_EQ(weft_rwlock_unlock(lock_at(0)), EPERM);
	CHECK_EQ(weft_rwlock_unlock(lock_at(8)), EPERM);
	CHECK_EQ(weft_rwlock_trywrlock(lock_at(8)), EBUSY);
	CHECK_EQ(weft_rwlock_rdlock(lock_at(8)), 0);
	CHECK_EQ(weft_rwlock_unlock(lock_at(8)), 0);
	CHECK_EQ(weft_rwlock_unlock(lock_at(8)), EPERM);
	CHECK_EQ(weft_rwlock_wrlock(lock_at(16)), 0);
	CHECK_EQ(weft_rwlock_unlock(lock_at(16)), 0);
}

static void hold_two(void)
{
	CHECK_EQ(weft_rwlock_wrlock(lock_at(0)), 0);
	CHECK_EQ(weft_rwlock_rdlock(lock_at(8)), 0);
}

static void leave_two(void)
{
	CHECK_EQ(weft_rwlock_unlock(lock_at(0)), 0);
	CHECK_EQ(weft_rwlock_unlock(lock_at(8)), 0);
	CHECK_EQ(fake_state(fd, 0), 2);
	CHECK_EQ(fake_state(fd, 8), 2);
	CHECK_EQ(fake_state(fd, 16), 2);
}

static void test_fork(void)
{
	int files = open_files();
	pid_t pid;

	hold_two();
	CHILD(pid, as_child(); CHECK(open_files() <= files + 2));
	child_ok(pid);
	/* A child of a child. */
	CHILD(pid, { pid_t again; as_child(); CHILD(again, as_child()); child_ok(again); });
	child_ok(pid);
	leave_two();
}

/* Handlers of fork() do not run here. */
static void test_fork_without_handlers(void)
{
	pid_t pid;

	hold_two();
	pid = _Fork();
	CHECK(pid >= 0);
	if (!pid) {
		as_child();
		_exit(0);
	}
	child_ok(pid);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	CHECK(pid >= 0);
	if (!pid) {
		as_child();
		_exit(0);
	}
	child_ok(pid);
	leave_two();
}

static void *do_nothing(void *arg)
{
	return arg;
}

static void *forker(void *arg)
{
	pid_t pid;

	/* This thread has never used a lock, and its process has. */
	(void)arg;
	pid = _Fork();
	if (!pid) {
		as_child();
		_exit(0);
	}
	child_ok(pid);
	CHILD(pid, as_child());
	child_ok(pid);
	return NULL;
}

static void test_fork_in_thread(void)
{
	pthread_t t;

	hold_two();
	CHECK(!pthread_create(&t, NULL, forker, NULL));
	CHECK(!pthread_join(t, NULL));
	leave_two();
}

/* The parent dies, the child goes on: what the parent held is free. */
static void test_parent_dies(void)
{
	uint64_t reaped = counts->reaped;
	pid_t pid;

	*shared = 0;
	CHILD(pid, {
		pid_t child;

		hold_two();
		CHILD(child, {
			*shared = 1;
			wait_for(2);
			/* It was write-locked, and nobody knows what is half changed. */
			CHECK_EQ(weft_rwlock_wrlock(lock_at(0)), EOWNERDEAD);
			CHECK_EQ(weft_rwlock_consistent(lock_at(0)), 0);
			CHECK_EQ(weft_rwlock_wrlock(lock_at(8)), 0);
			leave_two();
			*shared = 3;
		});
		pause();
	});
	wait_for(1);
	child_kill(pid);
	*shared = 2;
	wait_for(3);
	CHECK(counts->reaped > reaped);
}

/* Somebody waits for a lock whose holder is killed. */
static void test_killed(void)
{
	int kind;

	for (kind = 0; kind < 4; kind++) {
		pid_t holder, waiter;
		uint64_t waits;

		*shared = 0;
		CHILD(holder, {
			CHECK_EQ(kind & 1 ? weft_rwlock_rdlock(lock_at(24)) :
				 weft_rwlock_wrlock(lock_at(24)), 0);
			*shared = 1;
			pause();
		});
		wait_for(1);
		waits = counts->waits;
		CHILD(waiter, {
			int told = kind & 1 ? 0 : EOWNERDEAD;

			if (kind == 2) {
				CHECK_EQ(weft_rwlock_rdlock(lock_at(24)), told);
				CHECK_EQ(weft_rwlock_consistent(lock_at(24)), EINVAL);
				CHECK_EQ(weft_rwlock_unlock(lock_at(24)), 0);
			}
			CHECK_EQ(weft_rwlock_wrlock(lock_at(24)), told);
			CHECK_EQ(weft_rwlock_consistent(lock_at(24)), told ? 0 : EINVAL);
			CHECK_EQ(weft_rwlock_unlock(lock_at(24)), 0);
		});
		UNTIL(counts->waits > waits);
		child_kill(holder);
		child_ok(waiter);
		CHECK_EQ(fake_state(fd, 24), 2);
	}
}

/* The file may not be opened again in the child: it shares its parent's. */
static void test_refused(void)
{
	pid_t pid;

	CHECK_EQ(weft_rwlock_wrlock(lock_at(0)), 0);
	CHECK_EQ(weft_rwlock_rdlock(lock_at(8)), 0);
	fake_refuses = FAKE_REFUSES_ALL;
	CHILD(pid, {
		CHECK_EQ(weft_rwlock_trywrlock(lock_at(0)), EBUSY);
		CHECK_EQ(weft_rwlock_trywrlock(lock_at(8)), EBUSY);
		CHECK_EQ(weft_rwlock_rdlock(lock_at(8)), 0);
		CHECK_EQ(weft_rwlock_unlock(lock_at(8)), 0);
		CHECK_EQ(weft_rwlock_wrlock(lock_at(16)), 0);
		CHECK_EQ(weft_rwlock_wrlock(lock_at(16)), EDEADLK);
		CHECK_EQ(weft_rwlock_unlock(lock_at(16)), 0);
	});
	child_ok(pid);
	fake_refuses = 0;
	leave_two();
}

/*
 * The file may not be opened by its name in the child, which has lost the right to: its locks
 * are its own all the same, and given back when it dies.
 */
static void test_no_name(void)
{
	struct timespec end = clock_in_ms(CLOCK_REALTIME, 20000L * check_scale());
	pid_t pid;

	shared[0] = 0;
	CHECK_EQ(weft_rwlock_wrlock(lock_at(16)), 0);
	CHECK_EQ(weft_rwlock_unlock(lock_at(16)), 0);
	fake_refuses = FAKE_REFUSES_NAMES;
	CHILD(pid, {
		end_with_parent();
		CHECK_EQ(weft_rwlock_wrlock(lock_at(16)), 0);
		shared[0] = 1;
		for (;;)
			pause();
	});
	wait_for(1);
	CHECK_EQ(weft_rwlock_trywrlock(lock_at(16)), EBUSY);
	child_kill(pid);
	CHECK_EQ(weft_rwlock_timedwrlock(lock_at(16), &end), EOWNERDEAD);
	CHECK_EQ(weft_rwlock_consistent(lock_at(16)), 0);
	CHECK_EQ(weft_rwlock_unlock(lock_at(16)), 0);
	fake_refuses = 0;
}

/* Children are made while other threads lock and map. */
static _Atomic int stop;

static void *busy(void *arg)
{
	(void)arg;
	while (!stop) {
		char *p = map_region(fd, SIZE);
		weft_rwlock_t *l = (weft_rwlock_t *)(p + 32);

		CHECK_EQ(weft_rwlock_rdlock(l), 0);
		CHECK_EQ(weft_rwlock_unlock(l), 0);
		CHECK_EQ(weft_rwlock_wrlock(lock_at(40)), 0);
		CHECK_EQ(weft_rwlock_unlock(lock_at(40)), 0);
		CHECK_EQ(weft_detach(p, SIZE), 0);
		CHECK(!munmap(p, SIZE));
	}
	return NULL;
}

static void test_fork_while_busy(void)
{
	pthread_t t[2];
	int i;

	for (i = 0; i < 2; i++)
		CHECK(!pthread_create(&t[i], NULL, busy, NULL));
	for (i = 0; i < 100; i++) {
		pid_t pid;

		CHILD(pid, {
			CHECK_EQ(weft_rwlock_wrlock(lock_at(40)), 0);
			CHECK_EQ(weft_rwlock_unlock(lock_at(40)), 0);
			CHECK_EQ(weft_rwlock_rdlock(lock_at(32)), 0);
			CHECK_EQ(weft_rwlock_unlock(lock_at(32)), 0);
		});
		child_ok(pid);
	}
	stop = 1;
	for (i = 0; i < 2; i++)
		CHECK(!pthread_join(t[i], NULL));
	CHECK_EQ(fake_state(fd, 32), 2);
	CHECK_EQ(fake_state(fd, 40), 2);
}

int main(void)
{
	pthread_t t;

	folder_make(directory, sizeof(directory), folder_in_memory(), "fork");
	fake_begin(directory);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	fd = make_region(directory, "region", SIZE);
	region = map_region(fd, SIZE);
	counts = fake_counts(fd);
	/* So that the C library does not think of one thread only. */
	CHECK(!pthread_create(&t, NULL, do_nothing, NULL));
	CHECK(!pthread_join(t, NULL));
	test_fork();
	test_fork_without_handlers();
	test_fork_in_thread();
	test_parent_dies();
	test_killed();
	test_refused();
	test_no_name();
	test_fork_while_busy();
	return check_result();
}
