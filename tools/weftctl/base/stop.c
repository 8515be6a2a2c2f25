// SPDX-License-Identifier: GPL-2.0-only
/* Until they are told to end, see stop.h. */
#include "base/stop.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static volatile sig_atomic_t asked;
static sigset_t while_waiting;

static void on_signal(int number)
{
	/* A window that has changed its size only ends the wait. */
	if (number != SIGWINCH)
		asked = 1;
}

void stop_prepare(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH };
	struct sigaction a = { .sa_handler = on_signal };
	sigset_t those;
	size_t i;

	sigemptyset(&those);
	sigemptyset(&a.sa_mask);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaddset(&those, numbers[i]);
		sigaction(numbers[i], &a, NULL);
	}
	sigprocmask(SIG_BLOCK, &those, &while_waiting);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigdelset(&while_waiting, numbers[i]);
	/* A write to who is gone fails, and what was begun is ended. */
	a.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &a, NULL);
}

/*
 * A ppoll() that finds something to read does not let signals in: who always has
 * something to read would never end.
 */
bool stop_asked(void)
{
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, &while_waiting, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	return asked;
}

bool stop_wait(int fd, int64_t ms)
{
	const struct timespec t = {
		.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000),
	};
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return ppoll(&p, 1, ms < 0 ? NULL : &t, &while_waiting) > 0 && p.revents;
}
