// SPDX-License-Identifier: GPL-2.0-only
/*
 * What programs see of blocks that are one folio each:
 *
 *	system-folio beyond FILE	map FILE to 64 KiB behind its end, read its first page, and
 *					its last, and then the one behind it: "SIGBUS", or "ok"
 *	system-folio keep FILE BYTES	read so much of FILE, lock it in memory, say "kept", wait
 *	system-folio folios FILE	read all of it; how many of its pages are of large folios
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/argument.h"

#define PAGE		4096u
#define BLOCK		65536u
#define LIMIT_S		600
#define PRESENT		(1ull << 63)		/* in /proc/self/pagemap */
#define FRAME		((1ull << 55) - 1)
#define COMPOUND	(3ull << 15)		/* head and tail, in /proc/kpageflags */

static void die(const char *what)
{
	fprintf(stderr, "folio: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static volatile char *map(const char *file, size_t more, size_t *size)
{
	int fd = open(file, O_RDWR);
	off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	volatile char *p;

	if (end <= 0)
		die(file);
	*size = (size_t)end;
	p = mmap(NULL, *size + more, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void on_bus(int sig)
{
	static const char text[] = "SIGBUS\n";

	(void)sig;
	_exit(write(1, text, sizeof(text) - 1) < 0);
}

static int beyond(const char *file)
{
	size_t size;
	volatile char *p = map(file, BLOCK, &size);

	(void)p[0];
	(void)p[size - 1];
	signal(SIGBUS, on_bus);
	(void)p[(size + PAGE - 1) / PAGE * PAGE];
	puts("ok");
	return 0;
}

static int keep(const char *file, size_t bytes)
{
	size_t size, at;
	volatile char *p = map(file, 0, &size);

	/* there before it is locked: no page fault tells of that */
	for (at = 0; at < bytes && at < size; at += PAGE)
		(void)p[at];
	if (mlock((void *)p, bytes))
		die("mlock");
	puts("kept");
	fflush(stdout);
	pause();
	return 0;
}

static uint64_t entry(int fd, uint64_t i)
{
	uint64_t value;

	if (pread(fd, &value, sizeof(value), (off_t)(i * sizeof(value))) != sizeof(value))
		die("/proc");
	return value;
}

static int folios(const char *file)
{
	int pages = open("/proc/self/pagemap", O_RDONLY);
	int flags = open("/proc/kpageflags", O_RDONLY);
	unsigned int found = 0;
	size_t size, at;
	volatile char *p = map(file, 0, &size);
	uint64_t page;

	if (pages < 0 || flags < 0)
		die("/proc");
	for (at = 0; at < size; at += PAGE) {
		(void)p[at];
		page = entry(pages, ((uintptr_t)p + at) / PAGE);
		if (!(page & PRESENT))
			die("a page is gone again");
		found += (entry(flags, page & FRAME) & COMPOUND) != 0;
	}
	printf("%u\n", found);
	return 0;
}

int main(int argc, char **argv)
{
	alarm(LIMIT_S);
	if (argc == 3 && !strcmp(argv[1], "beyond"))
		return beyond(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "keep"))
		return keep(argv[2], argument(argv[3], 1, 1u << 30));
	if (argc == 3 && !strcmp(argv[1], "folios"))
		return folios(argv[2]);
	fprintf(stderr, "usage: see the top of tests/system/folio.c\n");
	return 2;
}
