/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What test programs need that have children, share regions with them and kill them.
 */
#ifndef WEFT_TESTS_COMMON_CHILD_H
#define WEFT_TESTS_COMMON_CHILD_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/common/check.h"
#include "tools/common/clock.h"

/* A child that runs @what, then ends. */
#define CHILD(pid, what) do {						\
	(pid) = fork();							\
	CHECK((pid) >= 0);						\
	if (!(pid)) {							\
		what;							\
		_exit(0);						\
	}								\
} while (0)

/*
 * Wait until the condition holds, by looking: it comes sooner or later, however slow the machine
 * is, so that this only fails if it never does.
 */
#define UNTIL_SECONDS	60
#define UNTIL(condition) do {						\
	double until_ = now_seconds() + UNTIL_SECONDS * check_scale();	\
									\
	while (!(condition)) {						\
		CHECK(now_seconds() < until_, "it does not come: %s", #condition); \
		pause_ms(1);						\
	}								\
} while (0)

/*
 * For what must not happen meanwhile: others can do something in each of these milliseconds. One
 * of them may take seconds on a machine that stands still, and the others are left.
 */
static inline void give_time(unsigned int ms)
{
	for (ms *= check_scale(); ms; ms--)
		pause_ms(1);
}

/* A thread, or a process of one, sleeps, and a signal would end that: it waits for no page. */
static inline bool is_asleep(pid_t tid)
{
	char path[64], text[512], *end;
	ssize_t n;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0);
	n = read(file, text, sizeof(text) - 1);
	CHECK(n > 0);
	close(file);
	text[n] = 0;
	end = strrchr(text, ')');
	CHECK(end && end[1] == ' ');
	return end[2] == 'S';
}

/* In a child: it does not outlive the thread that has made it, which may fail. */
static inline void end_with_parent(void)
{
	CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL));
}

/* It must end, and well. */
static inline void child_ok(pid_t pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/*
 * All of these children, of which there are no others, must end, and well.  They may wait for
 * each other for ever: the first one that does not end well is told of, and ends the others.
 */
static inline void children_ok(pid_t *pids, unsigned int n)
{
	unsigned int left, i;

	for (left = n; left; left--) {
		int status;
		pid_t pid = wait(&status);

		CHECK(pid > 0);
		for (i = 0; i < n; i++)
			if (pids[i] == pid)
				pids[i] = 0;
		for (i = 0; status && i < n; i++)
			if (pids[i])
				kill(pids[i], SIGKILL);
		CHECK(!WIFSIGNALED(status), "a child was ended by %s",
		      sigabbrev_np(WTERMSIG(status)));
		CHECK_EQ(WEXITSTATUS(status), 0);
	}
}

static inline void child_kill(pid_t pid)
{
	int status;

	CHECK(!kill(pid, SIGKILL));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
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

#endif /* WEFT_TESTS_COMMON_CHILD_H */
