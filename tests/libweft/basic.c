// SPDX-License-Identifier: GPL-2.0-only
/*
 * libweft in one process: what each function returns, when the kernel is asked and
 * when not, mappings, ranges, the typed macro.
 */
#include <pthread.h>

#include "tests/common/child.h"
#include "tests/common/folder.h"
#include "tests/libweft/elsewhere.h"
#include "tests/common/kernel/fake.h"
#include "tools/libweft/lock.h"
#include "weft.h"

#define SIZE	(1u << 20)

static char directory[FOLDER_MAX];
static int fd;
static char *region;

static weft_rwlock_t *lock_at(size_t offset)
{
	return (weft_rwlock_t *)(region + offset);
}

static int try_both(void *lock)
{
	int error = weft_rwlock_trywrlock(lock);

	return error ? error : weft_rwlock_unlock(lock);
}

static int try_read(void *lock)
{
	int error = weft_rwlock_tryrdlock(lock);

	return error ? error : weft_rwlock_unlock(lock);
}

static int rdlock(void *lock)
{
	return weft_rwlock_rdlock(lock);
}

static int unlock(void *lock)
{
	return weft_rwlock_unlock(lock);
}

static void test_codes(void)
{
	weft_rwlock_t *l = lock_at(64), outside;
	struct timespec never = { 0, 1000000000 }, soon;
	double begin;

	CHECK_EQ(weft_rwlock_wrlock(l), 0);
	CHECK_EQ(weft_rwlock_wrlock(l), EDEADLK);
	CHECK_EQ(weft_rwlock_rdlock(l), EDEADLK);
	CHECK_EQ(weft_rwlock_trywrlock(l), EBUSY);
	CHECK_EQ(weft_rwlock_tryrdlock(l), EBUSY);
	CHECK_EQ(weft_rwlock_timedwrlock(l, &never), EINVAL);
	CHECK_EQ(weft_rwlock_timedrdlock(l, &never), EINVAL);
	CHECK_EQ(weft_rwlock_destroy(l), EBUSY);
	CHECK_EQ(elsewhere(try_both, l), EBUSY);
	CHECK_EQ(elsewhere(try_read, l), EBUSY);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), EPERM);
	CHECK_EQ(elsewhere(try_both, l), 0);

	CHECK_EQ(weft_rwlock_rdlock(l), 0);
	CHECK_EQ(weft_rwlock_rdlock(l), 0);
	CHECK_EQ(weft_rwlock_trywrlock(l), EBUSY);
	CHECK_EQ(weft_rwlock_destroy(l), EBUSY);
	begin = now_seconds();
	soon = clock_in_ms(CLOCK_REALTIME, 60);
	CHECK_EQ(weft_rwlock_timedwrlock(l, &soon), ETIMEDOUT);
	CHECK(now_seconds() - begin >= 0.05);
	CHECK_EQ(elsewhere(try_read, l), 0);
	CHECK_EQ(elsewhere(try_both, l), EBUSY);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(elsewhere(try_both, l), EBUSY);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), EPERM);
	/* What is free is had, whatever the time. */
	soon.tv_sec = -5;
	CHECK_EQ(weft_rwlock_timedwrlock(l, &soon), 0);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_destroy(l), 0);

	CHECK_EQ(weft_rwlock_wrlock(&outside), EINVAL);
	CHECK_EQ(weft_rwlock_unlock(&outside), EINVAL);
	CHECK_EQ(weft_rwlock_destroy(&outside), EINVAL);
	/* Nothing of all this was written where the lock stands. */
	CHECK_EQ(l->weft_unused, 0);
	CHECK_EQ(fake_state(fd, 64), 2);
}

/* A lock that is cached costs the kernel nothing. */
static void test_quick(void)
{
	weft_rwlock_t *l = lock_at(128);
	struct fake_counts *c = fake_counts(fd);
	uint64_t opens, acquires;
	int i;

	CHECK_EQ(weft_rwlock_wrlock(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	opens = c->opens;
	acquires = c->acquires;
	for (i = 0; i < 1000; i++) {
		CHECK_EQ(weft_rwlock_wrlock(l), 0);
		CHECK_EQ(weft_rwlock_unlock(l), 0);
		CHECK_EQ(weft_rwlock_rdlock(l), 0);
		CHECK_EQ(weft_rwlock_unlock(l), 0);
	}
	CHECK_EQ(c->opens, opens);
	CHECK_EQ(c->acquires, acquires);

	/* Read permission is enough to read, not to write. */
	fake_take_away(fd, 128, 1);
	CHECK_EQ(weft_rwlock_rdlock(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(c->acquires, acquires);
	CHECK_EQ(weft_rwlock_wrlock(l), 0);
	CHECK_EQ(c->acquires, acquires + 1);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	fake_take_away(fd, 128, 0);
	CHECK_EQ(weft_rwlock_rdlock(l), 0);
	CHECK_EQ(c->acquires, acquires + 2);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
}

static _Atomic int reached;

static void *writer(void *lock)
{
	CHECK_EQ(weft_rwlock_wrlock(lock), 0);
	reached = 1;
	CHECK_EQ(weft_rwlock_unlock(lock), 0);
	return NULL;
}

/* A reader comes in again while a writer waits; the writer is woken by the last. */
static void test_again(void)
{
	weft_rwlock_t *l = lock_at(192);
	struct fake_counts *c = fake_counts(fd);
	uint64_t waits = c->waits, acquires;
	pthread_t t;
	int i;

	CHECK_EQ(weft_rwlock_rdlock(l), 0);
	CHECK(!pthread_create(&t, NULL, writer, l));
	UNTIL(c->waits != waits);
	/* it counts before it marks the word */
	UNTIL(*fake_word(fd, 192) & (WEFT_WORD_SLOW | WEFT_WORD_TELL));
	acquires = c->acquires;
	for (i = 0; i < 200; i++)
		CHECK_EQ(weft_rwlock_rdlock(l), 0);
	CHECK_EQ(weft_rwlock_tryrdlock(l), 0);
	CHECK_EQ(c->acquires, acquires);
	for (i = 0; i < 201; i++)
		CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK(!reached);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK(!pthread_join(t, NULL));
	CHECK(reached);
	CHECK_EQ(weft_rwlock_unlock(l), EPERM);
	CHECK_EQ(fake_state(fd, 192), 2);
	CHECK_EQ(c->late, 0);
}

/* A read lock left by another thread than took it: the books say so. */
static void test_foreign(void)
{
	weft_rwlock_t *l = lock_at(256);

	CHECK_EQ(elsewhere(rdlock, l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), EPERM);
	CHECK_EQ(weft_rwlock_rdlock(l), 0);
	CHECK_EQ(elsewhere(unlock, l), 0);
	CHECK_EQ(try_both(l), 0);
	CHECK_EQ(fake_state(fd, 256), 2);
}

/* Many locks at once, left in another order than taken. */
static void test_many(void)
{
	struct fake_counts *c = fake_counts(fd);
	uint64_t opens;
	size_t i;

	for (i = 0; i < 10000; i++)
		CHECK_EQ(weft_rwlock_rdlock(lock_at(4096 + i * 8)), 0);
	for (i = 0; i < 10000; i += 2)
		CHECK_EQ(weft_rwlock_unlock(lock_at(4096 + i * 8)), 0);
	for (i = 1; i < 10000; i += 2)
		CHECK_EQ(weft_rwlock_unlock(lock_at(4096 + i * 8)), 0);
	opens = c->opens;
	for (i = 0; i < 10000; i++) {
		CHECK_EQ(weft_rwlock_unlock(lock_at(4096 + i * 8)), EPERM);
		CHECK_EQ(try_both(lock_at(4096 + i * 8)), 0);
		CHECK_EQ(fake_state(fd, 4096 + i * 8), 2);
	}
	CHECK_EQ(c->opens, opens);
	/* One on every page border, and at the last place there is. */
	for (i = 4096; i < SIZE; i += 4096)
		CHECK_EQ(try_both(lock_at(i - 1)), 0);
	CHECK_EQ(try_both(lock_at(SIZE - 1)), 0);
}

/* Mappings of a region at several addresses, pieces of it, and none. */
static void test_mappings(void)
{
	char *second = map_region(fd, SIZE), *third, *place;
	weft_rwlock_t *l = (weft_rwlock_t *)(second + 8192 + 8);
	int other;

	CHECK(second != region);
	CHECK_EQ(weft_rwlock_wrlock(l), 0);
	CHECK_EQ(elsewhere(try_both, lock_at(8192 + 8)), EBUSY);
	/* A piece of the middle. */
	third = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 8192);
	CHECK(third != MAP_FAILED);
	CHECK_EQ(elsewhere(try_both, third + 8), EBUSY);
	CHECK_EQ(weft_rwlock_unlock((weft_rwlock_t *)(third + 8)), 0);
	CHECK_EQ(try_both(l), 0);

	/* Something else in the place of a piece. */
	other = make_region(directory, "other", SIZE);
	place = second + 8192;
	CHECK_EQ(weft_detach(place, 4096), 0);
	CHECK(mmap(place, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, other, 0) ==
	      place);
	CHECK_EQ(weft_rwlock_wrlock(l), 0);
	CHECK_EQ(elsewhere(try_both, lock_at(8192 + 8)), 0);
	CHECK(*fake_word(other, 8) & WEFT_WORD_OWNER);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	/* Left and right of it all is as it was. */
	CHECK_EQ(weft_rwlock_wrlock((weft_rwlock_t *)(second + 4096)), 0);
	CHECK_EQ(elsewhere(try_both, lock_at(4096)), EBUSY);
	CHECK_EQ(weft_rwlock_unlock(lock_at(4096)), 0);
	CHECK_EQ(weft_rwlock_wrlock((weft_rwlock_t *)(second + 12288)), 0);
	CHECK_EQ(elsewhere(try_both, lock_at(12288)), EBUSY);
	CHECK_EQ(weft_rwlock_unlock(lock_at(12288)), 0);

	/* Unmapping does not give up what is held. */
	CHECK_EQ(weft_rwlock_wrlock(l), 0);
	CHECK_EQ(weft_detach(place, 4096), 0);
	CHECK(!munmap(place, 4096));
	CHECK(*fake_word(other, 8) & WEFT_WORD_OWNER);
	place = map_region(other, SIZE);
	CHECK_EQ(weft_rwlock_unlock((weft_rwlock_t *)(place + 8)), 0);
	CHECK_EQ(fake_state(other, 8), 2);

	/* One that has no name any more has to be told of. */
	CHECK_EQ(weft_detach(place, SIZE), 0);
	{
		char path[128];

		snprintf(path, sizeof(path), "%s/other", directory);
		CHECK(!unlink(path));
	}
	CHECK_EQ(weft_rwlock_wrlock((weft_rwlock_t *)(place + 8)), EINVAL);
	CHECK_EQ(weft_attach(place, SIZE, other, 0), 0);
	CHECK_EQ(try_both((weft_rwlock_t *)(place + 8)), 0);
	CHECK_EQ(weft_attach(place + 1, SIZE, other, 0), EINVAL);
	CHECK_EQ(weft_attach(place, SIZE, STDIN_FILENO, 0), EINVAL);
	CHECK_EQ(weft_detach(place, SIZE), 0);
	CHECK(!munmap(place, SIZE));
	close(other);
	CHECK_EQ(weft_detach(second, SIZE), 0);
	CHECK(!munmap(second, SIZE));
	CHECK_EQ(weft_detach(third, 4096), 0);
	CHECK(!munmap(third, 4096));
}

static void test_ranges(void)
{
	weft_rwlock_t *a = lock_at(0), *b = lock_at(8);
	char *second = map_region(fd, SIZE), *p = region;
	struct weft_range list[3] = {
		{ p + 65536, 5000 }, { p + 65536 + 4096, 10 }, { p + 131072, 65536 },
	};
	struct weft_range one = { p + 65536 + 4999, 1 }, outside = { list, sizeof(list) };
	struct weft_range empty = { p, 0 }, last = { p + SIZE - 1, 1 };
	struct weft_range beyond = { p + SIZE - 1, 2 }, all = { p + 65536, SIZE - 65536 };

	CHECK_EQ(weft_rwlock_init(a, list, 3), 0);
	/* Again, and in another order. */
	CHECK_EQ(weft_rwlock_init(a, list, 3), 0);
	CHECK_EQ(weft_rwlock_init(b, &one, 1), EEXIST);
	one.address = second + 65536 + 8191;
	CHECK_EQ(weft_rwlock_init(b, &one, 1), EEXIST);
	one.address = second + 65536 + 8192;
	CHECK_EQ(weft_rwlock_init(b, &one, 1), 0);
	CHECK_EQ(weft_rwlock_init(b, &all, 1), EEXIST);
	/* What failed has changed nothing. */
	CHECK_EQ(weft_rwlock_init(lock_at(16), &one, 1), EEXIST);
	one.address = p + 131072 + 65536;
	CHECK_EQ(weft_rwlock_init(b, &one, 1), 0);
	one.address = p + 131072 + 65535;
	CHECK_EQ(weft_rwlock_init(b, &one, 1), EEXIST);
	CHECK_EQ(weft_rwlock_init(b, &outside, 1), EINVAL);
	CHECK_EQ(weft_rwlock_init(b, &empty, 1), EINVAL);
	CHECK_EQ(weft_rwlock_init(b, &beyond, 1), EINVAL);
	CHECK_EQ(weft_rwlock_init(b, NULL, 1), EINVAL);
	CHECK_EQ(weft_rwlock_init(b, &last, 1), 0);
	/* Fewer than before: the others are free. */
	CHECK_EQ(weft_rwlock_init(a, list, 1), 0);
	CHECK_EQ(weft_rwlock_init(b, &list[2], 1), 0);
	CHECK_EQ(weft_rwlock_init(a, NULL, 0), 0);
	CHECK_EQ(weft_rwlock_destroy(b), 0);
	CHECK_EQ(weft_rwlock_init(a, &all, 1), 0);
	/* Pieces within, around and across each other. */
	list[0] = (struct weft_range){ p + 20 * 4096, 4 * 4096 };
	list[1] = (struct weft_range){ p + 18 * 4096, 10 * 4096 };
	list[2] = (struct weft_range){ p + 26 * 4096, 10 * 4096 };
	CHECK_EQ(weft_rwlock_init(a, list, 3), 0);
	for (int i = 16; i < 40; i++) {
		one.address = p + i * 4096;
		CHECK_EQ(weft_rwlock_init(b, &one, 1), i >= 18 && i < 36 ? EEXIST : 0);
		CHECK_EQ(weft_rwlock_destroy(b), 0);
	}
	CHECK_EQ(weft_rwlock_destroy(a), 0);
	CHECK_EQ(weft_rwlock_init(b, &all, 1), 0);
	CHECK_EQ(weft_rwlock_destroy(b), 0);
	CHECK_EQ(weft_detach(second, SIZE), 0);
	CHECK(!munmap(second, SIZE));
}

/* What the kernel is told of it. */
static void test_kernel_told(void)
{
	weft_rwlock_t *a = lock_at(0), *b = lock_at(8);
	size_t large = (WEFT_BIND_MAX + 1) * 4096;
	int wide = make_region(directory, "wide", 2 * large);
	char *p = map_region(wide, 2 * large);
	struct weft_range list[2] = {
		{ (char *)region + 65536 + 4095, 2 }, { (char *)region + 131072, 4096 },
	};
	struct weft_range most = { p + 4096, large - 4096 }, more = { p + 4096, large };

	CHECK_EQ(weft_rwlock_init(a, list, 2), 0);
	CHECK_EQ((long)fake_bound(fd, 0), 3 * 4096);
	CHECK_EQ(weft_rwlock_init(b, &list[1], 1), EEXIST);
	CHECK_EQ((long)fake_bound(fd, 8), 0);
	CHECK_EQ(weft_rwlock_init(a, list, 1), 0);
	CHECK_EQ((long)fake_bound(fd, 0), 2 * 4096);
	CHECK_EQ(weft_rwlock_init(a, NULL, 0), 0);
	CHECK_EQ((long)fake_bound(fd, 0), 0);
	CHECK_EQ(weft_rwlock_init(a, list, 1), 0);
	CHECK_EQ(weft_rwlock_destroy(a), 0);
	CHECK_EQ((long)fake_bound(fd, 0), 0);

	/* More than it takes comes by page faults. */
	CHECK_EQ(weft_rwlock_init((weft_rwlock_t *)p, &most, 1), 0);
	CHECK_EQ((long)fake_bound(wide, 0), (long)large - 4096);
	CHECK_EQ(weft_rwlock_init((weft_rwlock_t *)p, &more, 1), 0);
	CHECK_EQ((long)fake_bound(wide, 0), 0);

	fake_old = 1;
	CHECK_EQ(weft_rwlock_init(a, list, 2), 0);
	CHECK_EQ(weft_rwlock_init(b, &list[1], 1), EEXIST);
	CHECK_EQ(weft_rwlock_destroy(a), 0);
	fake_old = 0;
	CHECK_EQ((long)fake_bound(fd, 0), 0);

	CHECK_EQ(weft_detach(p, 2 * large), 0);
	CHECK(!munmap(p, 2 * large));
	close(wide);
}

/* Ten thousand locks, each with pages of its own. */
static void test_many_ranges(void)
{
	size_t n = 10000, i;
	int big = make_region(directory, "big", n * 2 * 4096);
	char *p = map_region(big, n * 2 * 4096);
	struct weft_range one = { .size = 4096 };
	/* of a processor: looking for each among all others takes minutes */
	double begin = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);

	for (i = 0; i < n; i++) {
		one.address = p + (i * 2 + 1) * 4096;
		CHECK_EQ(weft_rwlock_init((weft_rwlock_t *)(p + i * 8192), &one, 1), 0);
	}
	for (i = 0; i < n; i++) {
		one.address = p + (i * 2 + 1) * 4096;
		CHECK_EQ(weft_rwlock_init((weft_rwlock_t *)(p + i * 8192 + 8), &one, 1), EEXIST);
	}
	CHECK(clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin < 20 * check_scale());
	CHECK_EQ(weft_detach(p, n * 2 * 4096), 0);
	CHECK(!munmap(p, n * 2 * 4096));
	close(big);
}

struct money {
	long cents;
	char note[5000];
};

WEFT_RWLOCK_OF(account, struct money);

static void test_typed(void)
{
	struct account *a = (struct account *)(region + 16 * 4096), *b;
	struct timespec soon = clock_in_ms(CLOCK_REALTIME, 20);
	const struct money *look;
	struct money *m;

	b = a + 1;
	CHECK_EQ(account_init(a), 0);
	CHECK_EQ(account_init(b), 0);
	m = account_wrlock(a);
	CHECK(m);
	m->cents += 100;
	errno = 0;
	CHECK(!account_tryrdlock(a));
	CHECK_EQ(errno, EBUSY);
	CHECK(!account_wrlock(a));
	CHECK_EQ(errno, EDEADLK);
	CHECK_EQ(account_unlock(a), 0);
	look = account_rdlock(a);
	CHECK(look && look->cents == 100);
	CHECK(!account_timedwrlock(a, &soon));
	CHECK_EQ(errno, ETIMEDOUT);
	CHECK_EQ(account_unlock(a), 0);
	CHECK_EQ(weft_rwlock_destroy(&a->lock), 0);
	CHECK_EQ(weft_rwlock_destroy(&b->lock), 0);
}

/* A file that may only be read: the kernel does it all. */
static void *wake_later(void *word)
{
	give_time(20);
	atomic_store((_Atomic uint32_t *)word, 1);
	CHECK_EQ(weft_wake(word), 0);
	return NULL;
}

static void test_read_only(void)
{
	int rw = make_region(directory, "ro", 4096), ro;
	struct fake_counts *c = fake_counts(rw);
	char path[128], *p, *q;
	weft_rwlock_t *l;
	int before;
	pid_t pid;

	if (!geteuid()) {
		/* Everything may be written by root: let it be lost on the way. */
		fake_refuses = FAKE_REFUSES_NAMES;
	}
	snprintf(path, sizeof(path), "%s/ro", directory);
	q = map_region(rw, 4096);
	CHECK(!fchmod(rw, 0400));
	ro = open(path, O_RDONLY);
	CHECK(ro >= 0);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, ro, 0);
	CHECK(p != MAP_FAILED);
	CHECK_EQ(weft_attach(p, 4096, ro, 0), 0);
	fake_refuses = 0;
	l = (weft_rwlock_t *)p;
	CHECK_EQ(weft_rwlock_rdlock(l), 0);
	CHECK_EQ(weft_rwlock_rdlock(l), 0);
	/* The second time the thread had it already. */
	CHECK_EQ(c->acquires, 1);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(*fake_word(rw, 0) & WEFT_WORD_READERS, WEFT_WORD_READER);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), EPERM);
	CHECK_EQ(weft_rwlock_wrlock(l), EACCES);
	CHECK_EQ(fake_state(rw, 0), 2);
	CHECK_EQ(c->releases, 2);

	/* A program that may only read is woken, though it cannot say that it waits. */
	CHECK_EQ(weft_wake((uint32_t *)p), EACCES);
	if (!geteuid()) {
		CHILD(pid, wake_later(q + 1024));
		while (!atomic_load((_Atomic uint32_t *)(p + 1024)))
			CHECK_EQ(weft_wait((uint32_t *)(p + 1024), 0, CLOCK_MONOTONIC, NULL), 0);
		child_ok(pid);
	}

	/* A mapping that may be written has the right to them, whatever else is mapped. */
	CHECK_EQ(weft_attach(q, 4096, rw, 0), 0);
	CHECK_EQ(weft_rwlock_wrlock((weft_rwlock_t *)q), 0);
	CHECK_EQ(weft_rwlock_tryrdlock(l), EBUSY);
	CHECK_EQ(weft_rwlock_unlock((weft_rwlock_t *)q), 0);
	CHECK_EQ(weft_detach(q, 4096), 0);

	/* What is held stays, mapped or not; then the file goes. */
	before = open_files();
	CHECK_EQ(weft_rwlock_rdlock(l), 0);
	CHECK_EQ(weft_rwlock_destroy(l), EBUSY);
	CHECK_EQ(weft_detach(p, 4096), 0);
	CHILD(pid, {
		CHECK_EQ(weft_rwlock_trywrlock((weft_rwlock_t *)q), geteuid() ? EACCES : EBUSY);
	});
	child_ok(pid);
	CHECK_EQ(*fake_word(rw, 0) & WEFT_WORD_READERS, WEFT_WORD_READER);
	CHECK_EQ(weft_attach(p, 4096, ro, 0), 0);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), EPERM);
	CHECK_EQ(weft_rwlock_destroy(l), 0);
	CHECK_EQ(weft_detach(p, 4096), 0);
	CHECK_EQ(open_files(), before - 1);
	CHECK(!munmap(p, 4096));
	CHECK(!munmap(q, 4096));
	close(ro);
	close(rw);
}

static void test_wait(void)
{
	struct timespec past = { 0 }, never = { 0, 1000000000 }, soon;
	uint32_t *word = (uint32_t *)(region + 8192), outside = 0;
	pthread_t t;

	CHECK_EQ(weft_wait(&outside, 1, CLOCK_MONOTONIC, NULL), EINVAL);
	CHECK_EQ(weft_wake(&outside), EINVAL);
	CHECK_EQ(weft_wait((uint32_t *)(region + 8193), 0, CLOCK_MONOTONIC, NULL), EINVAL);
	CHECK_EQ(weft_wait(word, 0, CLOCK_MONOTONIC, &never), EINVAL);
	CHECK_EQ(weft_wait(word, 0, CLOCK_THREAD_CPUTIME_ID, &past), EINVAL);
	/* it is another one: no waiting */
	CHECK_EQ(weft_wait(word, 1, CLOCK_MONOTONIC, NULL), 0);
	CHECK_EQ(weft_wait(word, 0, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	soon = clock_in_ms(CLOCK_REALTIME, 50);
	CHECK_EQ(weft_wait(word, 0, CLOCK_REALTIME, &soon), ETIMEDOUT);
	CHECK(clock_ns(CLOCK_REALTIME) >= timespec_ns(&soon));
	CHECK(!pthread_create(&t, NULL, wake_later, word));
	while (!atomic_load((_Atomic uint32_t *)word))
		CHECK_EQ(weft_wait(word, 0, CLOCK_MONOTONIC, NULL), 0);
	CHECK(!pthread_join(t, NULL));
	*word = 0;
}

/* More threads than there are cells: the last ones ask the kernel. */
static pthread_barrier_t all_in;

static void *many_threads(void *lock)
{
	CHECK_EQ(weft_rwlock_rdlock(lock), 0);
	pthread_barrier_wait(&all_in);
	CHECK_EQ(weft_rwlock_unlock(lock), 0);
	CHECK_EQ(weft_rwlock_wrlock(lock), 0);
	CHECK_EQ(weft_rwlock_unlock(lock), 0);
	return NULL;
}

static void test_many_threads(void)
{
	static pthread_t threads[1100];
	struct fake_counts *c = fake_counts(fd);
	uint64_t releases = c->releases;
	weft_rwlock_t *l = lock_at(512);
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_barrier_init(&all_in, NULL, 1100);
	for (i = 0; i < 1100; i++)
		CHECK(!pthread_create(&threads[i], &attr, many_threads, l));
	for (i = 0; i < 1100; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK_EQ(fake_state(fd, 512), 2);
	CHECK(c->releases >= releases + 70);
	/* Their cells are free again. */
	releases = c->releases;
	CHECK_EQ(elsewhere(try_both, l), 0);
	CHECK_EQ(c->releases, releases);
	pthread_barrier_destroy(&all_in);
}

static volatile sig_atomic_t handled;

static void count(int signal)
{
	(void)signal;
	handled++;
}

struct waiter {
	pthread_t thread;
	uint64_t waits;			/* that were counted before its own */
};

/* Once it waits. */
static void *interrupt(void *arg)
{
	struct waiter *w = arg;
	int i;

	UNTIL(fake_counts(fd)->waits > w->waits);
	for (i = 0; i < 20; i++) {
		pause_ms(2);
		pthread_kill(w->thread, SIGUSR1);
		/* two that are on their way would be one */
		UNTIL(handled > i);
	}
	reached = 3;
	return NULL;
}

/* Until all signals have come. */
static void *hold(void *lock)
{
	CHECK_EQ(weft_rwlock_wrlock(lock), 0);
	reached = 2;
	UNTIL(reached == 3);
	CHECK_EQ(weft_rwlock_unlock(lock), 0);
	return NULL;
}

/* Signals end no wait. */
static void test_signals(void)
{
	struct sigaction action = { .sa_handler = count };
	weft_rwlock_t *l = lock_at(576);
	struct waiter self = { .thread = pthread_self() };
	pthread_t a, b;

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	CHECK(!pthread_create(&a, NULL, hold, l));
	UNTIL(reached == 2);
	self.waits = fake_counts(fd)->waits;
	CHECK(!pthread_create(&b, NULL, interrupt, &self));
	CHECK_EQ(weft_rwlock_wrlock(l), 0);
	CHECK_EQ(handled, 20);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK(!pthread_join(a, NULL));
	CHECK(!pthread_join(b, NULL));
	CHECK_EQ(fake_state(fd, 576), 2);
}

int main(void)
{
	folder_make(directory, sizeof(directory), folder_in_memory(), "basic");
	fake_begin(directory);
	fd = make_region(directory, "region", SIZE);
	region = map_region(fd, SIZE);
	test_codes();
	test_quick();
	test_again();
	test_foreign();
	test_many();
	test_mappings();
	test_ranges();
	test_kernel_told();
	test_many_ranges();
	test_typed();
	test_read_only();
	test_wait();
	test_many_threads();
	test_signals();
	return check_result();
}
