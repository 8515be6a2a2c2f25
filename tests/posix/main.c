// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the tests of posix.h, of all kinds of locks:
 *
 *	preload-posix [FILE]
 *
 * FILE is a new region to put the locks in; without it they are in ordinary shared
 * memory.  A plain program: nothing in it knows of weft, but that it checks that
 * rwlocks in a region are not written to.
 */
#include "posix.h"

#define SIZE	65536u

struct memory *shared;
bool in_region;

void step(int value)
{
	__atomic_store_n(&shared->step, value, __ATOMIC_SEQ_CST);
}

void wait_step(int value)
{
	UNTIL(__atomic_load_n(&shared->step, __ATOMIC_SEQ_CST) == value);
}

int main(int argc, char **argv)
{
	int fd = -1, flags = MAP_SHARED | MAP_ANONYMOUS;

	check_limit(200);
	in_region = argc > 1;
	if (in_region) {
		fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
		CHECK(fd >= 0);
		CHECK(!ftruncate(fd, SIZE));
		flags = MAP_SHARED;
	}
	shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);
	CHECK(shared != MAP_FAILED);
	/* As most programs do. */
	if (fd >= 0)
		close(fd);
	test_rwlock();
	test_mutex();
	test_cond();
	test_barrier();
	test_sem();
	return check_result();
}
