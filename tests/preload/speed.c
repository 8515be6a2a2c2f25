// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long locks take through the preload library, beside the C library's own,
 * which are called past it.
 *
 *	preload-speed FILE [TURNS]
 *
 * FILE is a new region.  Prints JSON: nanoseconds of one lock and unlock, the least
 * of many turns, and ratios: inside of regions, and outside of them while there is
 * one.  In one thread, and beside a second one.
 */
#include "tests/libweft/speed.h"
#include "tests/preload/both.h"

#define SIZE	65536u

static unsigned long turns = 1000;

static void print(const char *what, const double *ns, const double *than, const char *end)
{
	printf("  \"%s\": {\"read_ns\": %.1f, \"write_ns\": %.1f, \"mutex_ns\": %.1f, \"read_ratio\": %.2f, \"write_ratio\": %.2f, \"mutex_ratio\": %.2f}%s\n",
	       what, ns[READ], ns[WRITE], ns[MUTEX], ns[READ] / than[READ],
	       ns[WRITE] / than[WRITE], ns[MUTEX] / than[MUTEX], end);
}

static void measure(const char *what, char *region, const char *end)
{
	double own[KINDS] = { 1e9, 1e9, 1e9 }, in[KINDS] = { 1e9, 1e9, 1e9 };
	double out[KINDS] = { 1e9, 1e9, 1e9 };
	pthread_rwlock_t l, *inside = (pthread_rwlock_t *)region;
	pthread_mutex_t m, *mutex_inside = (pthread_mutex_t *)(region + 4096);
	unsigned long turn;

	init_shared(&l);
	init_shared_mutex(&m);
	init_shared_mutex(mutex_inside);
	/* In turn, so that what disturbs them disturbs all. */
	for (turn = 0; turn < turns; turn++) {
		MEASURE(own[READ], libc_own.read, libc_own.unlock, &l);
		MEASURE(out[READ], shim.read, shim.unlock, &l);
		MEASURE(in[READ], shim.read, shim.unlock, inside);
		MEASURE(own[WRITE], libc_own.write, libc_own.unlock, &l);
		MEASURE(out[WRITE], shim.write, shim.unlock, &l);
		MEASURE(in[WRITE], shim.write, shim.unlock, inside);
		MEASURE(own[MUTEX], libc_own.lock_mutex, libc_own.unlock_mutex, &m);
		MEASURE(out[MUTEX], shim.lock_mutex, shim.unlock_mutex, &m);
		MEASURE(in[MUTEX], shim.lock_mutex, shim.unlock_mutex, mutex_inside);
	}
	printf(" \"%s\": {\n", what);
	print("libc", own, own, ",");
	print("outside", out, own, ",");
	print("inside", in, own, "");
	printf(" }%s\n", end);
}

int main(int argc, char **argv)
{
	char *region;
	int fd;

	if (argc < 2) {
		fprintf(stderr, "usage: preload-speed FILE [TURNS]\n");
		return 2;
	}
	if (argc > 2)
		turns = strtoul(argv[2], NULL, 0);
	find_both();
	fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, SIZE));
	region = map_region(fd, SIZE);
	measure_beside(measure, region);
	return 0;
}
