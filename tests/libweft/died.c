// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of libweft whose owner died, in a process that was killed or on another machine:
 * who is told, until when, and that the lock is held all the same.
 */
#include <pthread.h>

#include "tests/common/child.h"
#include "tests/common/folder.h"
#include "tests/common/kernel/fake.h"
#include "tests/libweft/elsewhere.h"
#include "tools/libweft/lock.h"
#include "weft.h"

#define SIZE	(1u << 20)

static char directory[FOLDER_MAX];
static int fd;
static char *region;
static struct fake_counts *counts;

static weft_rwlock_t *lock_at(size_t offset)
{
	return (weft_rwlock_t *)(region + offset);
}

static int write_and_leave(void *lock)
{
	int error = weft_rwlock_wrlock(lock);

	CHECK_EQ(weft_rwlock_unlock(lock), 0);
	return error;
}

static int read_and_leave(void *lock)
{
	int error = weft_rwlock_rdlock(lock);

	CHECK_EQ(weft_rwlock_unlock(lock), 0);
	return error;
}

static int consistent(void *lock)
{
	return weft_rwlock_consistent(lock);
}

/* The lock is cached here, and nobody has died. */
static weft_rwlock_t *fresh(size_t offset)
{
	weft_rwlock_t *l = lock_at(offset);

	CHECK_EQ(write_and_leave(l), 0);
	CHECK_EQ(weft_rwlock_consistent(l), EINVAL);
	return l;
}

/* Whoever takes it is told, to read or to write, and has it; until it is mended. */
static void test_another_node(void)
{
	weft_rwlock_t *l = fresh(64);
	uint64_t mended = counts->mended, acquires;
	struct timespec past = { 0 };
	int i;

	fake_node_dies(fd, 64);
	CHECK_EQ(weft_rwlock_rdlock(l), EOWNERDEAD);
	/* It is held: others read, and are told, too; nobody writes. */
	CHECK_EQ(weft_rwlock_rdlock(l), 0);
	CHECK_EQ(elsewhere(read_and_leave, l), EOWNERDEAD);
	CHECK_EQ(weft_rwlock_trywrlock(l), EBUSY);
	/* Who reads cannot have mended it. */
	CHECK_EQ(weft_rwlock_consistent(l), EINVAL);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), EPERM);

	CHECK_EQ(weft_rwlock_tryrdlock(l), EOWNERDEAD);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_timedrdlock(l, &past), EOWNERDEAD);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_trywrlock(l), EOWNERDEAD);
	CHECK_EQ(weft_rwlock_wrlock(l), EDEADLK);
	CHECK_EQ(elsewhere(consistent, l), EINVAL);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_timedwrlock(l, &past), EOWNERDEAD);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	/* Nobody has said that it is right: so the next one is told, whoever. */
	for (i = 0; i < 3; i++) {
		CHECK_EQ(elsewhere(write_and_leave, l), EOWNERDEAD);
		CHECK_EQ(write_and_leave(l), EOWNERDEAD);
	}
	CHECK_EQ(counts->mended, mended);
	CHECK_EQ(weft_rwlock_wrlock(l), EOWNERDEAD);
	CHECK_EQ(weft_rwlock_consistent(l), 0);
	CHECK_EQ(weft_rwlock_consistent(l), EINVAL);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(counts->mended, mended + 1);
	/* It is as it was: a step. */
	acquires = counts->acquires;
	for (i = 0; i < 100; i++) {
		CHECK_EQ(write_and_leave(l), 0);
		CHECK_EQ(read_and_leave(l), 0);
	}
	CHECK_EQ(counts->acquires, acquires);
	CHECK_EQ(fake_state(fd, 64), 2);
}

/* A process ends with it: so the same, but not if it only read, or left it. */
static void test_process(void)
{
	weft_rwlock_t *l = fresh(128);
	pid_t pid;
	int kind;

	for (kind = 0; kind < 3; kind++) {
		CHILD(pid, {
			CHECK_EQ(kind == 1 ? weft_rwlock_rdlock(l) : weft_rwlock_wrlock(l), 0);
			if (kind == 2)
				CHECK_EQ(weft_rwlock_unlock(l), 0);
			kill(getpid(), SIGKILL);
		});
		CHECK_EQ(waitpid(pid, NULL, 0), pid);
		CHECK_EQ(weft_rwlock_wrlock(l), kind ? 0 : EOWNERDEAD);
		CHECK_EQ(weft_rwlock_consistent(l), kind ? EINVAL : 0);
		CHECK_EQ(weft_rwlock_unlock(l), 0);
	}
	/* One that is told, and dies before it has mended anything, leaves the news to others. */
	fake_node_dies(fd, 128);
	CHILD(pid, {
		CHECK_EQ(weft_rwlock_wrlock(l), EOWNERDEAD);
		kill(getpid(), SIGKILL);
	});
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK_EQ(write_and_leave(l), EOWNERDEAD);
	/* One that has mended it, and dies then, is one more that died with it. */
	CHILD(pid, {
		CHECK_EQ(weft_rwlock_wrlock(l), EOWNERDEAD);
		CHECK_EQ(weft_rwlock_consistent(l), 0);
		kill(getpid(), SIGKILL);
	});
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK_EQ(weft_rwlock_wrlock(l), EOWNERDEAD);
	CHECK_EQ(weft_rwlock_consistent(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
}

/* Who waits for it and gives up has not taken the news away. */
static void test_gives_up(void)
{
	weft_rwlock_t *l = fresh(192);
	struct timespec soon;
	uint64_t waits;
	pid_t pid;

	fake_node_dies(fd, 192);
	CHECK_EQ(weft_rwlock_wrlock(l), EOWNERDEAD);
	CHILD(pid, {
		soon = clock_in_ms(CLOCK_REALTIME, 30);
		CHECK_EQ(weft_rwlock_timedwrlock(l, &soon), ETIMEDOUT);
		CHECK_EQ(weft_rwlock_trywrlock(l), EBUSY);
		CHECK_EQ(weft_rwlock_tryrdlock(l), EBUSY);
	});
	child_ok(pid);
	waits = counts->waits;
	CHILD(pid, weft_rwlock_wrlock(l));
	UNTIL(counts->waits > waits);
	child_kill(pid);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(write_and_leave(l), EOWNERDEAD);
}

/* Of many that take it at once one has it at a time, and all before it is mended are told. */
static _Atomic int inside, told, untold;

static void *race(void *lock)
{
	int error = weft_rwlock_wrlock(lock);

	CHECK_EQ(atomic_fetch_add(&inside, 1), 0);
	CHECK(error == EOWNERDEAD || !error);
	if (error)
		told++;
	else
		untold++;
	/* The third one that hears of it cares. */
	if (error && told == 3)
		CHECK_EQ(weft_rwlock_consistent(lock), 0);
	atomic_fetch_sub(&inside, 1);
	CHECK_EQ(weft_rwlock_unlock(lock), 0);
	return NULL;
}

static void test_race(void)
{
	weft_rwlock_t *l = fresh(256);
	pthread_t t[8];
	int i, n;

	for (n = 0; n < 50; n++) {
		told = 0;
		untold = 0;
		fake_node_dies(fd, 256);
		for (i = 0; i < 8; i++)
			CHECK(!pthread_create(&t[i], NULL, race, l));
		for (i = 0; i < 8; i++)
			CHECK(!pthread_join(t[i], NULL));
		CHECK_EQ(told, 3);
		CHECK_EQ(untold, 5);
	}
}

/* Through a file that may only be read nothing can be mended, but it is told. */
static void test_read_only(void)
{
	char path[128], *p;
	weft_rwlock_t *l;
	int read_only;

	fresh(320);
	fake_node_dies(fd, 320);
	snprintf(path, sizeof(path), "%s/region", directory);
	read_only = open(path, O_RDONLY);
	CHECK(read_only >= 0);
	p = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, read_only, 0);
	CHECK(p != MAP_FAILED);
	CHECK_EQ(weft_attach(p, SIZE, read_only, 0), 0);
	l = (weft_rwlock_t *)(p + 320);
	CHECK_EQ(read_and_leave(l), EOWNERDEAD);
	CHECK_EQ(weft_rwlock_consistent(l), EINVAL);
	CHECK_EQ(weft_rwlock_wrlock(lock_at(320)), EOWNERDEAD);
	CHECK_EQ(weft_rwlock_consistent(lock_at(320)), 0);
	CHECK_EQ(weft_rwlock_unlock(lock_at(320)), 0);
	CHECK_EQ(read_and_leave(l), 0);
	CHECK_EQ(weft_detach(p, SIZE), 0);
	CHECK(!munmap(p, SIZE));
	close(read_only);
}

/* A child that could not open the region anew shares its parent's file, and the kernel's word. */
static void test_shared_file(void)
{
	weft_rwlock_t *l = fresh(384);
	pid_t pid;

	fake_node_dies(fd, 384);
	fake_refuses = FAKE_REFUSES_ALL;
	CHILD(pid, {
		CHECK_EQ(weft_rwlock_wrlock(l), EOWNERDEAD);
		CHECK_EQ(weft_rwlock_unlock(l), 0);
		CHECK_EQ(weft_rwlock_wrlock(l), EOWNERDEAD);
		CHECK_EQ(weft_rwlock_consistent(l), 0);
		CHECK_EQ(weft_rwlock_unlock(l), 0);
		CHECK_EQ(write_and_leave(l), 0);
	});
	child_ok(pid);
	fake_refuses = 0;
	CHECK_EQ(write_and_leave(l), 0);
}

struct money {
	long cents;
};

WEFT_RWLOCK_OF(account, struct money);

static void test_typed(void)
{
	struct account *a = (struct account *)(region + 65536);
	struct money *m;

	m = account_wrlock(a);
	CHECK(m == &a->guarded);
	CHECK_EQ(account_unlock(a), 0);
	fake_node_dies(fd, 65536);
	errno = 0;
	CHECK(account_rdlock(a) == &a->guarded);
	CHECK_EQ(errno, EOWNERDEAD);
	CHECK_EQ(account_unlock(a), 0);
	errno = 0;
	m = account_wrlock(a);
	CHECK(m == &a->guarded);
	CHECK_EQ(errno, EOWNERDEAD);
	CHECK_EQ(account_consistent(a), 0);
	CHECK_EQ(account_unlock(a), 0);
	errno = 0;
	CHECK(account_wrlock(a) == &a->guarded);
	CHECK_EQ(errno, 0);
	CHECK(!account_trywrlock(a));
	CHECK_EQ(errno, EBUSY);
	CHECK_EQ(account_unlock(a), 0);
}

int main(void)
{
	weft_rwlock_t outside;

	folder_make(directory, sizeof(directory), folder_in_memory(), "died");
	fake_begin(directory);
	fd = make_region(directory, "region", SIZE);
	region = map_region(fd, SIZE);
	CHECK_EQ(weft_rwlock_consistent(&outside), EINVAL);
	CHECK_EQ(weft_rwlock_consistent(lock_at(0)), EINVAL);
	CHECK_EQ(write_and_leave(lock_at(0)), 0);
	counts = fake_counts(fd);
	test_another_node();
	test_process();
	test_gives_up();
	test_race();
	test_read_only();
	test_shared_file();
	test_typed();
	return check_result();
}
