// SPDX-License-Identifier: GPL-2.0-only
/* Commands that go on until they are told to end, see live.h. */
#include "base/live.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"

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

static struct termios was;
static bool shown;	/* the terminal is ours */
static bool keys;	/* and its keys */

void screen_begin(void)
{
	struct termios now;

	keys = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &was);
	if (keys) {
		now = was;
		now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		/* Reading never waits. */
		now.c_cc[VMIN] = 0;
		now.c_cc[VTIME] = 0;
		tcsetattr(STDIN_FILENO, TCSANOW, &now);
	}
	/* Another page than the shell's, without a cursor. */
	fputs("\033[?1049h\033[?25l", stdout);
	shown = true;
	fail_before = screen_end;
}

void screen_end(void)
{
	if (!shown)
		return;
	shown = false;
	fail_before = NULL;
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &was);
	keys = false;
}

void screen_size(unsigned int *lines, unsigned int *columns)
{
	struct winsize w = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w))
		w.ws_row = 0;
	*lines = w.ws_row ? w.ws_row : 24;
	*columns = w.ws_row && w.ws_col ? w.ws_col : 80;
}

void screen_draw(const char *text)
{
	unsigned int lines, columns;
	size_t len, n;

	screen_size(&lines, &columns);
	fputs("\033[H", stdout);
	while (*text && lines) {
		len = strcspn(text, "\n");
		n = len < columns ? len : columns;
		fwrite(text, 1, n, stdout);
		/* Erase the rest of the line; no newline after the last one, which would scroll. */
		fputs(--lines ? "\033[K\r\n" : "\033[K", stdout);
		text += len + (text[len] == '\n');
	}
	fputs("\033[J", stdout);
}

char screen_key(void)
{
	char key = 0;

	return keys && read(STDIN_FILENO, &key, 1) == 1 ? key : 0;
}
