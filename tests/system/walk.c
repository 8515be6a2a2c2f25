// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that misses, for walk.sh: maps FILE and reads its first byte, which has to be zero.  The
 * kernel's trace is on meanwhile, and no longer.
 *
 *	system-walk FILE TRACING-ON
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/check.h"

int main(int argc, char **argv)
{
	volatile char *byte;
	int fd, on;

	if (argc != 3) {
		fputs("usage: system-walk FILE TRACING-ON\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_RDWR);
	CHECK(fd >= 0, "%s", argv[1]);
	byte = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(byte != MAP_FAILED);
	/* nothing is read ahead */
	CHECK(!madvise((void *)byte, 1, MADV_RANDOM));
	on = open(argv[2], O_WRONLY);
	CHECK(on >= 0, "%s", argv[2]);
	CHECK_EQ(write(on, "1", 1), 1);
	CHECK_EQ(*byte, 0);
	CHECK_EQ(write(on, "0", 1), 1);
	return 0;
}
