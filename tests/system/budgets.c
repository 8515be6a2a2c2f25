// SPDX-License-Identifier: GPL-2.0-only
/*
 * Touches blocks of a region one by one, for budgets.sh, which counts the messages
 * that this takes.
 *
 *	system-budgets read|write|order|random FILE LINES VALUE
 *
 * Writes VALUE to each block, or reads it there: anything else is an error.  The
 * blocks are apart and come in falling order, so that nothing is read ahead.  With
 * "order" all blocks of the file up to the last of these are read, in rising order;
 * with "random", too, but the kernel is told that the order will be random.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/argument.h"

#define BLOCK	4096ul
#define APART	3

static int usage(void)
{
	fprintf(stderr, "usage: system-budgets read|write|order|random FILE LINES VALUE\n");
	return 2;
}

static int complain(const char *what)
{
	fprintf(stderr, "system-budgets: cannot %s: %s\n", what, strerror(errno));
	return 1;
}

static int touch(unsigned char *map, unsigned long lines, uint64_t value, int write)
{
	for (unsigned long i = lines; i; i--) {
		volatile uint64_t *at = (volatile uint64_t *)(map + i * APART * BLOCK);
		uint64_t found;

		if (write) {
			*at = value;
			continue;
		}
		found = *at;
		if (found != value) {
			fprintf(stderr, "system-budgets: block %lu has %llu, not %llu\n",
				i * APART, (unsigned long long)found,
				(unsigned long long)value);
			return 1;
		}
	}
	return 0;
}

/* All blocks; every third one has the value. */
static int read_on(unsigned char *map, unsigned long lines, uint64_t value)
{
	unsigned long right = 0;

	for (unsigned long i = 0; i <= lines * APART; i++)
		right += *(volatile uint64_t *)(map + i * BLOCK) == value;
	if (right == lines)
		return 0;
	fprintf(stderr, "system-budgets: %lu blocks have %llu, not %lu\n", right,
		(unsigned long long)value, lines);
	return 1;
}

int main(int argc, char **argv)
{
	int fd, write, order, random, rc;
	unsigned long lines;
	unsigned char *map;
	uint64_t value;
	size_t size;

	if (argc != 5)
		return usage();
	write = !strcmp(argv[1], "write");
	random = !strcmp(argv[1], "random");
	order = random || !strcmp(argv[1], "order");
	lines = argument(argv[3], 1, 1 << 20);
	value = argument(argv[4], 0, UINT64_MAX);
	if ((!write && !order && strcmp(argv[1], "read")))
		return usage();
	size = (lines + 1) * APART * BLOCK;
	fd = open(argv[2], O_RDWR);
	if (fd < 0)
		return complain("open the file");
	map = mmap(NULL, size, write ? PROT_READ | PROT_WRITE : PROT_READ,
		   MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return complain("map the file");
	if (random && madvise(map, size, MADV_RANDOM))
		return complain("say in which order it will be read");
	rc = order ? read_on(map, lines, value) : touch(map, lines, value, write);
	munmap(map, size);
	close(fd);
	return rc;
}
