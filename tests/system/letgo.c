// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that leave regions, and one that opens one, while the blade does not answer.
 *
 *	system-letgo hold DIR FILES BLOCKS	makes so many files in DIR with names that go
 *						at once, and modifies so many blocks of each;
 *						at SIGUSR1 it closes them and says how long
 *						that took, in ms
 *	system-letgo name FILE			modifies FILE and waits for a signal
 *	system-letgo names DIR FILES		makes so many files in DIR, writes to each, has
 *						that written home, and waits for a signal
 *	system-letgo reopen FILE GO		finds FILE, waits for the file GO and opens it:
 *						its first open() here, without another look
 *						at its name
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/common/argument.h"
#include "tools/common/clock.h"

#define BLOCK		4096
#define FILES_MAX	64
#define POLL_US		20000

static void die(const char *what)
{
	fprintf(stderr, "letgo: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int make(const char *dir, int i, int blocks)
{
	static char data[BLOCK];
	char name[256];
	int fd, k;

	snprintf(name, sizeof(name), "%s/letgo.%d.%d", dir, (int)getpid(), i);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, 64 * BLOCK))
		die(name);
	memset(data, 'x', sizeof(data));
	for (k = 0; k < blocks; k++)
		if (write(fd, data, sizeof(data)) != sizeof(data))
			die(name);
	if (unlink(name))
		die(name);
	return fd;
}

static int hold(const char *dir, int files, int blocks)
{
	int fd[FILES_MAX], i, sig;
	double began;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < files && i < FILES_MAX; i++)
		fd[i] = make(dir, i, blocks);
	puts("ready");
	fflush(stdout);
	sigwait(&set, &sig);
	began = now_seconds() * 1e3;
	while (i--)
		close(fd[i]);
	printf("closed %.0f\n", now_seconds() * 1e3 - began);
	return 0;
}

static int modify(const char *file)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || write(fd, "more", 4) != 4)
		die(file);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

static int names(const char *dir, int files)
{
	char name[256];
	int i, fd;

	for (i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "%s/names.%d", dir, i);
		fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
		/* The time of it stays to be told. */
		if (fd < 0 || write(fd, "more", 4) != 4 || fdatasync(fd))
			die(name);
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

static int reopen(const char *file, const char *go)
{
	char name[64];
	int fd = open(file, O_PATH);

	if (fd < 0)
		die(file);
	puts("ready");
	fflush(stdout);
	while (access(go, F_OK))
		usleep(POLL_US);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	puts("opens");
	fflush(stdout);
	fd = open(name, O_RDWR);
	puts(fd < 0 ? strerror(errno) : "opened");
	return fd < 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "hold"))
		return hold(argv[2], (int)argument(argv[3], 1, FILES_MAX),
			    (int)argument(argv[4], 0, 64));
	if (argc == 3 && !strcmp(argv[1], "name"))
		return modify(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "names"))
		return names(argv[2], (int)argument(argv[3], 1, INT32_MAX));
	if (argc == 4 && !strcmp(argv[1], "reopen"))
		return reopen(argv[2], argv[3]);
	fprintf(stderr, "usage: system-letgo hold DIR FILES BLOCKS | name FILE | names DIR FILES | reopen FILE GO\n");
	return 2;
}
