/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket: clients send commands, one a line, and get one line back
 * for each.  What the commands mean is command.h's business.
 */
#ifndef WEFT_SWITCHD_CONTROL_H
#define WEFT_SWITCHD_CONTROL_H

#include <stddef.h>

struct control;

/**
 * control_open() - create the socket
 * @path: its name in the file system
 * @epoll: where to wait; the events are given to control_event()
 * @tag: added to the data of these events
 * @run: runs a command line; gives back a malloc()ed answer without newline
 * @arg: its first argument
 * @err: reason of a failure
 */
struct control *control_open(const char *path, int epoll, unsigned long long tag,
			     char *(*run)(void *arg, char *line), void *arg,
			     char *err);
void control_close(struct control *control);

/**
 * control_event() - something happened on the socket or with a client
 * @control: the control socket
 * @which: data of the event without the tag
 */
void control_event(struct control *control, unsigned int which);

/**
 * control_send() - the client's side: send a command, wait for the answer
 * @path: the socket of a running switch
 * @line: the command
 * @answer: malloc()ed answer without newline
 * @err: reason of a failure
 *
 * Return: 0 or a negative errno.
 */
int control_send(const char *path, const char *line, char **answer, char *err);

#endif /* WEFT_SWITCHD_CONTROL_H */
