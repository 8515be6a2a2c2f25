/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What time it is, and waiting.
 *
 * Unless a function takes a clock, the time is that of CLOCK_MONOTONIC, which nobody sets
 * and which stands still while the machine sleeps.  Whole units are cut, not rounded.  None of
 * these fails; a clock that is none, as that of a process that is gone, says 0.
 *
 * Functions are in the header because loops of the switch and of libraries call them.
 */
#ifndef WEFT_TOOLS_COMMON_CLOCK_H
#define WEFT_TOOLS_COMMON_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

#define NS_IN_US	1000ull
#define NS_IN_MS	1000000ull
#define NS_IN_S		1000000000ull

static inline uint64_t timespec_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS_IN_S + (uint64_t)t->tv_nsec;
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return timespec_ns(&t);
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t now_us(void)
{
	return now_ns() / NS_IN_US;
}

static inline uint64_t now_ms(void)
{
	return now_ns() / NS_IN_MS;
}

static inline double clock_seconds(clockid_t clock)
{
	return (double)clock_ns(clock) / 1e9;
}

static inline double now_seconds(void)
{
	return clock_seconds(CLOCK_MONOTONIC);
}

/* As functions of the C library take it. */
static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NS_IN_S), .tv_nsec = (long)(ns % NS_IN_S),
	};
}

/* What the clock says in @ms milliseconds: a deadline; below 0 it is over. */
static inline struct timespec clock_in_ms(clockid_t clock, long ms)
{
	return clock_timespec(clock_ns(clock) + (uint64_t)ms * NS_IN_MS);
}

/* Sleep until now_ns() is @ns, or later, whatever signals come meanwhile. */
static inline void pause_until_ns(uint64_t ns)
{
	const struct timespec until = clock_timespec(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* Sleep for so long. */
static inline void pause_us(uint64_t us)
{
	pause_until_ns(now_ns() + us * NS_IN_US);
}

static inline void pause_ms(uint64_t ms)
{
	pause_us(ms * 1000);
}

#endif /* WEFT_TOOLS_COMMON_CLOCK_H */
