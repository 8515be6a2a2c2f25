/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands that run until they are told to end. */
#ifndef WEFTCTL_STOP_H
#define WEFTCTL_STOP_H

#include <stdbool.h>
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

#endif /* WEFTCTL_STOP_H */
