// SPDX-License-Identifier: GPL-2.0-only
/*
 * What badinput.sh does wrong on purpose, and what came of it: prints the name of
 * the errno, or "ok".
 *
 *	system-badinput mount DIR OPTIONS	mount /weft there
 *	system-badinput map FILE		map the file for writing
 *	system-badinput size FILE BYTES		make the file that large
 *	system-badinput pin FILE BYTES		lock so much in memory, one page after
 *						the other; then wait for a signal
 *	system-badinput read FILE PAGE [GO]	read(2) in that page
 *	system-badinput load FILE PAGE [GO]	load from that page, mapped
 *
 * With GO, the file is opened and mapped at once, but the access comes only when
 * there is a file GO.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#define PAGE		4096l
#define GO_TRIES	1200
#define GO_TRY_US	50000

static int result(int rc)
{
	printf("%s\n", rc < 0 ? strerrorname_np(errno) : "ok");
	return 0;
}

static void on_bus(int sig)
{
	static const char text[] = "SIGBUS\n";

	(void)sig;
	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(0);
}

static int pin(int fd, long bytes)
{
	char *map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
	long pinned = 0;

	if (map == MAP_FAILED)
		return result(-1);
	while (pinned < bytes && !mlock(map + pinned, PAGE))
		pinned += PAGE;
	printf("%s %ld\n", pinned < bytes ? strerrorname_np(errno) : "ok", pinned / PAGE);
	fflush(stdout);
	pause();
	return 0;
}

/* Says that it is ready, then waits for the file; not for ever. */
static void wait_for(const char *go)
{
	if (!go)
		return;
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < GO_TRIES && access(go, F_OK); i++)
		usleep(GO_TRY_US);
}

static int load(int fd, long page, const char *go)
{
	char *map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, page * PAGE);
	volatile char *at = map;

	if (map == MAP_FAILED)
		return result(-1);
	signal(SIGBUS, on_bus);
	wait_for(go);
	(void)*at;
	return result(0);
}

static int with_file(const char *what, const char *name, long number, const char *go)
{
	int fd = open(name, O_RDWR);
	char byte;

	if (fd < 0)
		return result(-1);
	if (!strcmp(what, "map"))
		return result(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				   0) == MAP_FAILED ? -1 : 0);
	if (!strcmp(what, "size"))
		return result(ftruncate(fd, number));
	if (!strcmp(what, "pin"))
		return pin(fd, number);
	if (!strcmp(what, "read")) {
		wait_for(go);
		return result(pread(fd, &byte, 1, number * PAGE) < 0 ? -1 : 0);
	}
	if (!strcmp(what, "load"))
		return load(fd, number, go);
	fprintf(stderr, "system-badinput: what is '%s'?\n", what);
	return 2;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: system-badinput mount|map|size|pin|read|load FILE [VALUE]\n");
		return 2;
	}
	if (!strcmp(argv[1], "mount"))
		return result(mount("none", argv[2], "weft", 0, argc > 3 ? argv[3] : ""));
	return with_file(argv[1], argv[2], argc > 3 ? atol(argv[3]) : 0,
			 argc > 4 ? argv[4] : NULL);
}
