// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of pthreads in a region whose owner's machine died, so that their memory may be
 * older than what it did last: robust mutexes tell it, all others go on.
 *
 *	preload-died FILE
 *
 * FILE is a new region of the played kernel (tests/common/kernel).
 */
#include <dlfcn.h>
#include <pthread.h>

#include "tests/common/child.h"
#include "tests/common/kernel/fake.h"
#include "weft.h"

#define SIZE	65536

static char *region;
static int fd;
static struct fake_counts *counts;
static void (*node_dies)(int fd, uint64_t offset);
static void (*set_policy)(int fd, uint32_t policy);

/* By their places, far from each other. */
static void *at(size_t offset)
{
	return region + offset;
}

static pthread_mutex_t *make_mutex(size_t offset, int type, int robust)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t *m = at(offset);

	CHECK(!pthread_mutexattr_init(&attr));
	CHECK(!pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_mutexattr_settype(&attr, type));
	CHECK(!pthread_mutexattr_setrobust(&attr, robust));
	CHECK_EQ(pthread_mutex_init(m, &attr), 0);
	CHECK_EQ(pthread_mutex_lock(m), 0);
	CHECK_EQ(pthread_mutex_unlock(m), 0);
	return m;
}

static int take(pthread_mutex_t *m, int how)
{
	struct timespec t = clock_in_ms(CLOCK_REALTIME, 60000);

	switch (how) {
	case 0:
		return pthread_mutex_lock(m);
	case 1:
		return pthread_mutex_trylock(m);
	default:
		return pthread_mutex_timedlock(m, &t);
	}
}

/* A node died with it, whose last writes are lost: nobody owns it as its memory says. */
static void test_robust(void)
{
	pthread_mutex_t *m = make_mutex(64, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	uint64_t acquires;
	int how;

	for (how = 0; how < 3; how++) {
		node_dies(fd, 64);
		CHECK_EQ(m->__data.__owner, 0);
		CHECK_EQ(take(m, how), EOWNERDEAD);
		CHECK_EQ(pthread_mutex_consistent(m), 0);
		CHECK_EQ(pthread_mutex_consistent(m), EINVAL);
		CHECK_EQ(pthread_mutex_unlock(m), 0);
		acquires = counts->acquires;
		CHECK_EQ(pthread_mutex_lock(m), 0);
		CHECK_EQ(pthread_mutex_consistent(m), EINVAL);
		CHECK_EQ(pthread_mutex_unlock(m), 0);
		CHECK_EQ(counts->acquires, acquires);
	}
	/* Or as it was in the midst of a turn. */
	node_dies(fd, 64);
	m->__data.__owner = 4711;
	CHECK_EQ(pthread_mutex_lock(m), EOWNERDEAD);
	CHECK_EQ(pthread_mutex_consistent(m), 0);
	CHECK_EQ(pthread_mutex_unlock(m), 0);
	CHECK_EQ(pthread_mutex_lock(m), 0);
	CHECK_EQ(pthread_mutex_unlock(m), 0);
}

/* Who is told and does not care has it broken for all. */
static void test_not_recovered(void)
{
	pthread_mutex_t *m = make_mutex(128, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	pid_t pid;
	int how;

	node_dies(fd, 128);
	CHECK_EQ(pthread_mutex_lock(m), EOWNERDEAD);
	CHECK_EQ(pthread_mutex_unlock(m), 0);
	for (how = 0; how < 3; how++)
		CHECK_EQ(take(m, how), ENOTRECOVERABLE);
	CHILD(pid, CHECK_EQ(pthread_mutex_lock(m), ENOTRECOVERABLE));
	child_ok(pid);
	/* That the node that broke it dies, too, changes nothing if its memory got away. */
	node_dies(fd, 128);
	CHECK_EQ(pthread_mutex_lock(m), ENOTRECOVERABLE);
	CHECK_EQ(pthread_mutex_lock(m), ENOTRECOVERABLE);
	m = make_mutex(128, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	CHECK_EQ(pthread_mutex_lock(m), 0);
	CHECK_EQ(pthread_mutex_unlock(m), 0);
}

/* Who is told dies before it has mended anything: the next one is told. */
static void test_dies_again(void)
{
	pthread_mutex_t *m = make_mutex(192, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	pid_t pid;

	node_dies(fd, 192);
	CHILD(pid, {
		CHECK_EQ(pthread_mutex_lock(m), EOWNERDEAD);
		kill(getpid(), SIGKILL);
	});
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK_EQ(pthread_mutex_lock(m), EOWNERDEAD);
	CHECK_EQ(pthread_mutex_consistent(m), 0);
	CHECK_EQ(pthread_mutex_unlock(m), 0);
	CHECK_EQ(pthread_mutex_lock(m), 0);
	CHECK_EQ(pthread_mutex_unlock(m), 0);
}

/* Others have no way to tell, and go on, at their usual speed after the first time. */
static void test_plain(void)
{
	static const int types[] = {
		PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
	};
	uint64_t acquires, mended;
	pid_t pid;
	int i;

	for (i = 0; i < 6; i++) {
		pthread_mutex_t *m = make_mutex(256, types[i % 3], PTHREAD_MUTEX_STALLED);

		if (i < 3) {
			node_dies(fd, 256);
		} else {
			CHILD(pid, {
				CHECK_EQ(pthread_mutex_lock(m), 0);
				kill(getpid(), SIGKILL);
			});
			CHECK_EQ(waitpid(pid, NULL, 0), pid);
		}
		mended = counts->mended;
		CHECK_EQ(take(m, i % 3), 0);
		CHECK_EQ(pthread_mutex_unlock(m), 0);
		CHECK_EQ(counts->mended, mended + 1);
		acquires = counts->acquires;
		CHECK_EQ(pthread_mutex_lock(m), 0);
		CHECK_EQ(pthread_mutex_unlock(m), 0);
		CHECK_EQ(counts->acquires, acquires);
	}
}

static void test_rwlock(void)
{
	pthread_rwlock_t *l = at(320);
	struct timespec t = clock_in_ms(CLOCK_REALTIME, 60000);
	uint64_t acquires;
	int i, error;

	CHECK_EQ(pthread_rwlock_wrlock(l), 0);
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
	for (i = 0; i < 6; i++) {
		node_dies(fd, 320);
		error = i == 0 ? pthread_rwlock_rdlock(l) : i == 1 ? pthread_rwlock_wrlock(l) :
			i == 2 ? pthread_rwlock_tryrdlock(l) :
			i == 3 ? pthread_rwlock_trywrlock(l) :
			i == 4 ? pthread_rwlock_timedrdlock(l, &t) :
				 pthread_rwlock_timedwrlock(l, &t);
		CHECK_EQ(error, 0);
		CHECK_EQ(pthread_rwlock_unlock(l), 0);
		CHECK_EQ(pthread_rwlock_unlock(l), EPERM);
		acquires = counts->acquires;
		CHECK_EQ(pthread_rwlock_rdlock(l), 0);
		CHECK_EQ(pthread_rwlock_unlock(l), 0);
		CHECK_EQ(counts->acquires, acquires);
	}
}

/* Who waits for a condition hears of it as it gets the mutex back. */
static void test_cond(void)
{
	pthread_mutex_t *robust = make_mutex(384, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_t *plain = make_mutex(448, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
	pthread_cond_t *c = at(512);
	struct timespec t;
	pid_t pid;

	CHECK_EQ(pthread_cond_init(c, NULL), 0);
	CHECK_EQ(pthread_mutex_lock(robust), 0);
	CHILD(pid, {
		CHECK_EQ(pthread_mutex_lock(robust), 0);
		node_dies(fd, 384);
		CHECK_EQ(pthread_mutex_unlock(robust), 0);
		CHECK_EQ(pthread_cond_signal(c), 0);
	});
	CHECK_EQ(pthread_cond_wait(c, robust), EOWNERDEAD);
	CHECK_EQ(pthread_mutex_consistent(robust), 0);
	CHECK_EQ(pthread_mutex_unlock(robust), 0);
	child_ok(pid);
	CHECK_EQ(pthread_mutex_lock(plain), 0);
	CHILD(pid, {
		CHECK_EQ(pthread_mutex_lock(plain), 0);
		kill(getpid(), SIGKILL);
	});
	/* until that one has had it */
	do {
		t = clock_in_ms(CLOCK_REALTIME, 100);
		CHECK_EQ(pthread_cond_timedwait(c, plain, &t), ETIMEDOUT);
	} while (!waitpid(pid, NULL, WNOHANG));
	CHECK_EQ(pthread_mutex_unlock(plain), 0);
}

/* In a region that says so they stay blocked until it does not any more; robust ones tell. */
static void test_blocks(void)
{
	pthread_mutex_t *robust = make_mutex(576, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_t *plain = make_mutex(640, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
	pthread_rwlock_t *l = at(704);
	struct timespec t;
	pid_t pids[3];
	int i;

	CHECK_EQ(pthread_rwlock_wrlock(l), 0);
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
	set_policy(fd, WEFT_POLICY_BLOCK);
	node_dies(fd, 576);
	node_dies(fd, 640);
	node_dies(fd, 704);
	CHECK_EQ(pthread_mutex_lock(robust), EOWNERDEAD);
	CHECK_EQ(pthread_mutex_consistent(robust), 0);
	CHECK_EQ(pthread_mutex_unlock(robust), 0);
	CHECK_EQ(pthread_mutex_trylock(plain), EBUSY);
	CHECK_EQ(pthread_mutex_unlock(plain), EPERM);
	t = clock_in_ms(CLOCK_REALTIME, 50);
	CHECK_EQ(pthread_mutex_timedlock(plain, &t), ETIMEDOUT);
	CHECK_EQ(pthread_rwlock_tryrdlock(l), EBUSY);
	CHECK_EQ(pthread_rwlock_trywrlock(l), EBUSY);
	CHECK_EQ(pthread_rwlock_timedrdlock(l, &t), ETIMEDOUT);
	CHECK_EQ(pthread_rwlock_timedwrlock(l, &t), ETIMEDOUT);
	for (i = 0; i < 3; i++)
		CHILD(pids[i], {
			CHECK_EQ(i == 0 ? pthread_mutex_lock(plain) :
				 i == 1 ? pthread_rwlock_rdlock(l) : pthread_rwlock_wrlock(l), 0);
			CHECK_EQ(i ? pthread_rwlock_unlock(l) : pthread_mutex_unlock(plain), 0);
		});
	for (i = 0; i < 3; i++)
		UNTIL(is_asleep(pids[i]));
	/* it looks again once a second */
	give_time(1200);
	for (i = 0; i < 3; i++)
		CHECK_EQ(waitpid(pids[i], NULL, WNOHANG), 0);
	set_policy(fd, 0);
	for (i = 0; i < 3; i++)
		child_ok(pids[i]);
	CHECK_EQ(pthread_mutex_lock(plain), 0);
	CHECK_EQ(pthread_mutex_unlock(plain), 0);
}

int main(int argc, char **argv)
{
	struct fake_counts *(*counts_of)(int fd);

	if (argc != 2) {
		fprintf(stderr, "usage: preload-died FILE\n");
		return 2;
	}
	/* They are in what is preloaded. */
	*(void **)&node_dies = dlsym(RTLD_DEFAULT, "fake_node_dies");
	*(void **)&counts_of = dlsym(RTLD_DEFAULT, "fake_counts");
	*(void **)&set_policy = dlsym(RTLD_DEFAULT, "fake_set_policy");
	CHECK(node_dies && counts_of && set_policy);
	if (!node_dies || !counts_of || !set_policy)
		return check_result();
	fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, SIZE));
	region = map_region(fd, SIZE);
	counts = counts_of(fd);
	test_robust();
	test_not_recovered();
	test_dies_again();
	test_plain();
	test_rwlock();
	test_cond();
	test_blocks();
	return check_result();
}
