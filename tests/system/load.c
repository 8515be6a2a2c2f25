// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads one byte of a file by a mapping:
 *
 *	system-load FILE OFFSET
 *
 * Exit status: 0; 3: that was SIGBUS; 2: something else failed.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/argument.h"

static void on_sigbus(int sig)
{
	(void)sig;
	_exit(3);
}

int main(int argc, char **argv)
{
	const struct sigaction act = { .sa_handler = on_sigbus };
	const volatile char *p;
	long page = sysconf(_SC_PAGESIZE);
	off_t offset;
	int fd;

	if (argc != 3)
		return 2;
	offset = (off_t)argument(argv[2], 0, INT64_MAX);
	fd = open(argv[1], O_RDONLY);
	if (fd < 0) {
		perror(argv[1]);
		return 2;
	}
	p = mmap(NULL, (size_t)page, PROT_READ, MAP_SHARED, fd, offset & -page);
	if (p == MAP_FAILED || sigaction(SIGBUS, &act, NULL)) {
		perror(argv[1]);
		return 2;
	}
	printf("%d\n", p[offset & (page - 1)]);
	return 0;
}
