// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a cached lock takes, beside the C library's own.
 *
 *	libweft-speed [TURNS]
 *
 * Prints JSON: nanoseconds of one lock and unlock, the least of several turns,
 * and ratios.  In one thread, and again after there was a second one, as then
 * counts are changed atomically.  "found" is a lock that the thread's cache does
 * not have.
 */
#include <pthread.h>

#include "tests/libweft/check.h"
#include "tests/libweft/fake.h"
#include "tools/libweft/lock.h"

#define SIZE	(1u << 20)
#define ROUNDS	2000	/* of a turn: short, so that some are not disturbed */
#define SPREAD	4096	/* locks for "found", more than the cache has */

static unsigned long turns = 1000;

#define MEASURE(least, lock, unlock, l) do {				\
	double begin_ = seconds();					\
									\
	for (unsigned long i = 0; i < ROUNDS; i++) {			\
		lock(l);						\
		unlock(l);						\
	}								\
	begin_ = (seconds() - begin_) * 1e9 / ROUNDS;			\
	if (begin_ < (least))						\
		(least) = begin_;					\
} while (0)

static void measure(const char *what, char *region, const char *end)
{
	double read[3] = { 1e9, 1e9, 1e9 }, write[3] = { 1e9, 1e9, 1e9 };
	weft_rwlock_t *l = (weft_rwlock_t *)region;
	pthread_rwlockattr_t attr;
	pthread_rwlock_t g;
	unsigned long turn;

	CHECK(!pthread_rwlockattr_init(&attr));
	CHECK(!pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_rwlock_init(&g, &attr));
	/* In turn, so that what disturbs them disturbs all. */
	for (turn = 0; turn < turns; turn++) {
		MEASURE(read[0], pthread_rwlock_rdlock, pthread_rwlock_unlock, &g);
		MEASURE(read[1], weft_rwlock_rdlock, weft_rwlock_unlock, l);
		MEASURE(write[0], pthread_rwlock_wrlock, pthread_rwlock_unlock, &g);
		MEASURE(write[1], weft_rwlock_wrlock, weft_rwlock_unlock, l);
		MEASURE(read[2], weft_rwlock_rdlock, weft_rwlock_unlock, l + i % SPREAD * 8);
		MEASURE(write[2], weft_rwlock_wrlock, weft_rwlock_unlock, l + i % SPREAD * 8);
	}
	printf(" \"%s\": {\"glibc_read_ns\": %.1f, \"glibc_write_ns\": %.1f, \"read_ns\": %.1f, \"write_ns\": %.1f, \"read_ratio\": %.2f, \"write_ratio\": %.2f, \"found_read_ratio\": %.2f, \"found_write_ratio\": %.2f}%s\n",
	       what, read[0], write[0], read[1], write[1], read[1] / read[0],
	       write[1] / write[0], read[2] / read[0], write[2] / write[0], end);
}

static void *nothing(void *arg)
{
	return arg;
}

int main(int argc, char **argv)
{
	char directory[64], *region;
	pthread_t t;
	int fd;

	if (argc > 1)
		turns = strtoul(argv[1], NULL, 0);
	fake_begin(directory);
	atexit(fake_end);
	fd = make_region(directory, "region", SIZE);
	region = map_region(fd, SIZE);
	puts("{");
	measure("one_thread", region, ",");
	CHECK(!pthread_create(&t, NULL, nothing, NULL));
	measure("threads", region, "");
	puts("}");
	CHECK(!pthread_join(t, NULL));
	return 0;
}
