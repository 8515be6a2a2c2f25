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
#include "tests/libweft/fake.h"
#include "tests/libweft/speed.h"
#include "tools/libweft/lock.h"

#define SIZE	(1u << 20)
#define SPREAD	4096	/* locks for "found", more than the cache has */

static unsigned long turns = 1000;

static void measure(const char *what, char *region, const char *end)
{
	double read[3] = { 1e9, 1e9, 1e9 }, write[3] = { 1e9, 1e9, 1e9 };
	weft_rwlock_t *l = (weft_rwlock_t *)region;
	pthread_rwlock_t g;
	unsigned long turn;

	init_shared(&g);
	/* In turn, so that what disturbs them disturbs all. */
	for (turn = 0; turn < turns; turn++) {
		MEASURE(read[0], pthread_rwlock_rdlock, pthread_rwlock_unlock, &g);
		MEASURE(read[1], weft_rwlock_rdlock, weft_rwlock_unlock, l);
		MEASURE(write[0], pthread_rwlock_wrlock, pthread_rwlock_unlock, &g);
		MEASURE(write[1], weft_rwlock_wrlock, weft_rwlock_unlock, l);
		MEASURE(read[2], weft_rwlock_rdlock, weft_rwlock_unlock, l + round_ % SPREAD * 8);
		MEASURE(write[2], weft_rwlock_wrlock, weft_rwlock_unlock, l + round_ % SPREAD * 8);
	}
	printf(" \"%s\": {\"glibc_read_ns\": %.1f, \"glibc_write_ns\": %.1f, \"read_ns\": %.1f, \"write_ns\": %.1f, \"read_ratio\": %.2f, \"write_ratio\": %.2f, \"found_read_ratio\": %.2f, \"found_write_ratio\": %.2f}%s\n",
	       what, read[0], write[0], read[1], write[1], read[1] / read[0],
	       write[1] / write[0], read[2] / read[0], write[2] / write[0], end);
}

int main(int argc, char **argv)
{
	char directory[64], *region;
	int fd;

	if (argc > 1)
		turns = strtoul(argv[1], NULL, 0);
	fake_begin(directory);
	atexit(fake_end);
	fd = make_region(directory, "region", SIZE);
	region = map_region(fd, SIZE);
	measure_beside(measure, region);
	return 0;
}
