// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of tools/common/clock.h: units, deadlines, waiting.
 */
#include "tools/common/clock.h"

#include <signal.h>
#include <sys/time.h>

#include "tests/common/check.h"

static void units(void)
{
	const struct timespec odd = { .tv_sec = 5, .tv_nsec = 999999999 };
	struct timespec t = clock_timespec(timespec_ns(&odd));
	uint64_t ns = now_ns(), us, ms;
	double s;

	CHECK_EQ(timespec_ns(&odd), 5999999999ull);
	CHECK_EQ(t.tv_sec, odd.tv_sec);
	CHECK_EQ(t.tv_nsec, odd.tv_nsec);
	/* Cut, not rounded: none is ahead of the next, finer one. */
	us = now_us();
	CHECK(us >= ns / 1000 && us * 1000 <= now_ns());
	ms = now_ms();
	CHECK(ms >= us / 1000 && ms * 1000000 <= now_ns());
	s = now_seconds();
	CHECK(s >= (double)ms / 1e3 && s <= (double)now_ns() / 1e9);
	/* It is the time of day that was asked for: later than 2020. */
	CHECK(clock_seconds(CLOCK_REALTIME) > 50 * 365.25 * 86400);
	CHECK(clock_ns(CLOCK_PROCESS_CPUTIME_ID) < 100 * NS_IN_S);
	CHECK_EQ(clock_ns(1000), 0);
}

static void deadlines(void)
{
	uint64_t before = now_ns();
	struct timespec t = clock_in_ms(CLOCK_MONOTONIC, 1999);

	CHECK(t.tv_nsec >= 0 && t.tv_nsec < 1000000000);
	CHECK(timespec_ns(&t) >= before + 1999 * NS_IN_MS);
	CHECK(timespec_ns(&t) <= now_ns() + 1999 * NS_IN_MS);
	t = clock_in_ms(CLOCK_REALTIME, -1500);
	CHECK(t.tv_nsec >= 0 && t.tv_nsec < 1000000000);
	CHECK(timespec_ns(&t) + 1500 * NS_IN_MS <= clock_ns(CLOCK_REALTIME));
}

static volatile sig_atomic_t signals;

static void on_alarm(int sig)
{
	(void)sig;
	signals++;
	errno = EIO;
}

/* Signals do not cut it short. */
static void pauses(void)
{
	const struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = on_alarm };
	uint64_t begun;
	int i;

	CHECK(!sigaction(SIGALRM, &action, NULL));
	CHECK(!setitimer(ITIMER_REAL, &often, NULL));
	/* While a machine stands still many signals are one. */
	for (i = 0; i < 100 && signals <= 1; i++) {
		signals = 0;
		begun = now_ns();
		pause_ms(30);
		CHECK(now_ns() - begun >= 30 * NS_IN_MS);
	}
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
	CHECK(signals > 1);
	begun = now_ns();
	pause_us(1500);
	CHECK(now_ns() - begun >= 1500 * NS_IN_US);
	/* What is over is not waited for. */
	errno = 0;
	pause_until_ns(0);
	CHECK_EQ(errno, 0);
}

int main(void)
{
	units();
	deadlines();
	pauses();
	return check_result();
}
