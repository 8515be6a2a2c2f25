/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks for test programs.  They count, in all threads, and one that fails says where it
 * stands.  Then the process ends with status 1 at once, children as well as the test itself;
 * or, if check_goes_on is set, the test goes on, so that one run shows all that is wrong.
 *
 *	CHECK(fd >= 0);
 *	CHECK(n == 3, "%u frames came", n);
 *	CHECK_EQ(n, 3);
 *	return check_result();
 */
#ifndef WEFT_TESTS_COMMON_CHECK_H
#define WEFT_TESTS_COMMON_CHECK_H

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/number.h"

/* How a process ends that has failed: fuzz targets have another way. */
#ifndef CHECK_END
#define CHECK_END()	_exit(1)
#endif

/* A program has one of each, in however many of its files this is included. */
__attribute__((weak)) unsigned long check_count, check_failures;
__attribute__((weak)) const char *volatile check_file;	/* of the last one, */
__attribute__((weak)) volatile int check_line;		/* and its line */

/* Set by tests that are to go on after a failure. */
__attribute__((weak)) bool check_goes_on;

/* Called before the process ends by a failure, if it is set: says more, tidies up. */
__attribute__((weak)) void (*check_at_end)(void);

static inline void check_end(void)
{
	void (*at_end)(void) = check_at_end;

	/* Should that fail, too, it is not called again. */
	check_at_end = NULL;
	if (at_end)
		at_end();
	CHECK_END();
}

__attribute__((format(printf, 4, 5)))
static inline void check_say(const char *file, int line, const char *what, const char *fmt, ...)
{
	int error = errno;
	va_list args;

	__atomic_add_fetch(&check_failures, 1, __ATOMIC_RELAXED);
	/* What led here; a process that ends does not say it any more. */
	fflush(stdout);
	fprintf(stderr, "not ok: %s:%d: %s", file, line, what);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	if (error)
		fprintf(stderr, " (errno: %s)", strerrorname_np(error));
	fputc('\n', stderr);
}

/* Before it is looked at: looking may be what takes too long. */
static inline void check_begin(const char *file, int line)
{
	__atomic_add_fetch(&check_count, 1, __ATOMIC_RELAXED);
	check_file = file;
	check_line = line;
}

/* A sentence that says more may follow, as for printf(). */
#define CHECK(condition, ...) do {						\
	check_begin(__FILE__, __LINE__);					\
	if (!(condition)) {							\
		check_say(__FILE__, __LINE__, #condition, " " __VA_ARGS__);	\
		if (!check_goes_on)						\
			check_end();						\
	}									\
} while (0)

/* Of whole numbers, whatever their types. */
#define CHECK_EQ(a, b) do {							\
	unsigned long long a_, b_;						\
										\
	check_begin(__FILE__, __LINE__);					\
	a_ = (unsigned long long)(a);						\
	b_ = (unsigned long long)(b);						\
	if (a_ != b_) {								\
		check_say(__FILE__, __LINE__, #a, " is %lld (%#llx), not %lld (%#llx)", \
			  (long long)a_, a_, (long long)b_, b_);		\
		if (!check_goes_on)						\
			check_end();						\
	}									\
} while (0)

/* It cannot go on: says why, and ends the process. */
#define CHECK_FAIL(...) do {							\
	check_say(__FILE__, __LINE__, "", __VA_ARGS__);				\
	check_end();								\
	CHECK_END();								\
} while (0)

/* To end main() with: a test without checks is none. */
static inline int check_result(void)
{
	printf("%s: %lu checks, %lu failed\n", program_invocation_short_name, check_count,
	       check_failures);
	return check_failures || !check_count;
}

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

/* What limits in time are multiplied with, on a machine that is slow: WEFT_TEST_SCALE. */
static inline unsigned int check_scale(void)
{
	const char *text = getenv("WEFT_TEST_SCALE");
	uint64_t scale = 1;

	if (text && number_u64(text, 1, 1000, &scale))
		CHECK_FAIL("WEFT_TEST_SCALE=%s is not a number from 1 to 1000", text);
	return (unsigned int)scale;
}

/*
 * The process, without its children, has this time, multiplied so: a failure that says where
 * it stuck.
 */
static inline void check_limit(int seconds)
{
	struct sigaction action = { .sa_handler = check_too_late };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	struct itimerspec timer = { .it_value.tv_sec = seconds * (long)check_scale() };
	timer_t id;

	CHECK(!sigaction(SIGPROF, &action, NULL));
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &id));
	CHECK(!timer_settime(id, 0, &timer, NULL));
}

#endif /* WEFT_TESTS_COMMON_CHECK_H */
