/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands that go on until they are told to end: signals, and a page drawn again and again. */
#ifndef WEFTCTL_LIVE_H
#define WEFTCTL_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * From now on SIGINT, SIGTERM and SIGHUP, and that nobody reads the output any more,
 * end the command in an orderly way: stop_asked() says so.
 */
void stop_prepare(void);
bool stop_asked(void);

/**
 * stop_wait() - wait for input, for at most @ms milliseconds
 * @fd: to read from, -1: only wait
 * @ms: -1: no limit
 *
 * Signals that end the command are let in here and in stop_asked() and nowhere else,
 * so that none is missed between a look and the wait.
 *
 * Return: whether there is input.
 */
bool stop_wait(int fd, int64_t ms);

/* Takes the terminal on stdout; keys come as they are typed. */
void screen_begin(void);

/* Gives it back as it was. */
void screen_end(void);

/* Lines and columns that fit. */
void screen_size(unsigned int *lines, unsigned int *columns);

/* Shows @text, as much of it as fits. */
void screen_draw(const char *text);

/* A key that was typed, 0 if none was. */
char screen_key(void);

#endif /* WEFTCTL_LIVE_H */
