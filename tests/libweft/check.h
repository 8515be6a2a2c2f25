/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks for the tests of libweft and of the preload library: the first that
 * fails ends the process, children as well as the test itself.
 */
#ifndef WEFT_TESTS_LIBWEFT_CHECK_H
#define WEFT_TESTS_LIBWEFT_CHECK_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/clock.h"

/* A program has one of each, in however many of its files this is included. */
__attribute__((weak)) unsigned long checks;
__attribute__((weak)) const char *volatile check_file;	/* of the last one, */
__attribute__((weak)) volatile int check_line;		/* and its line */

#define CHECK(condition) do {						\
	__atomic_add_fetch(&checks, 1, __ATOMIC_RELAXED);		\
	check_file = __FILE__;						\
	check_line = __LINE__;						\
	if (!(condition)) {						\
		fprintf(stderr, "not ok: %s:%d: %s (errno %d)\n",	\
			__FILE__, __LINE__, #condition, errno);		\
		_exit(1);						\
	}								\
} while (0)

#define CHECK_IS(a, b) do {						\
	long long a_ = (long long)(a), b_ = (long long)(b);		\
									\
	__atomic_add_fetch(&checks, 1, __ATOMIC_RELAXED);		\
	check_file = __FILE__;						\
	check_line = __LINE__;						\
	if (a_ != b_) {							\
		fprintf(stderr, "not ok: %s:%d: %s is %lld, not %lld\n", \
			__FILE__, __LINE__, #a, a_, b_);		\
		_exit(1);						\
	}								\
} while (0)

static inline void check_too_late(int signal)
{
	char text[256];
	int n = snprintf(text, sizeof(text),
			 "not ok: the time is up; the last check was at %s:%d\n",
			 check_file, check_line);

	(void)signal;
	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
		_exit(2);
	_exit(1);
}

/* The process, without its children, has this time: a failure that says where it stuck. */
static inline void check_limit(int seconds)
{
	struct sigaction action = { .sa_handler = check_too_late };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	struct itimerspec timer = { .it_value.tv_sec = seconds };
	timer_t id;

	CHECK(!sigaction(SIGPROF, &action, NULL));
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &id));
	CHECK(!timer_settime(id, 0, &timer, NULL));
}

static inline int check_result(const char *name)
{
	printf("%s: %lu checks\n", name, checks);
	return !checks;
}

/* A child that runs @what, then ends. */
#define CHILD(pid, what) do {						\
	(pid) = fork();							\
	CHECK((pid) >= 0);						\
	if (!(pid)) {							\
		what;							\
		_exit(0);						\
	}								\
} while (0)

/* It must end, and well. */
static inline void child_ok(pid_t pid)
{
	int status;

	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

static inline void child_kill(pid_t pid)
{
	int status;

	CHECK(!kill(pid, SIGKILL));
	CHECK_IS(waitpid(pid, &status, 0), pid);
}

/* How many there are, beside the usual three. */
static inline int open_files(void)
{
	int n = 0, i;

	for (i = 3; i < 2048; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

/* A region of @size bytes in @directory; its descriptor. */
static inline int make_region(const char *directory, const char *name, size_t size)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, (off_t)size));
	return fd;
}

static inline void *map_region(int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

#endif /* WEFT_TESTS_LIBWEFT_CHECK_H */
