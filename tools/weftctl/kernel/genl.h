/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink: requests to the family "weft", their answers, and what the
 * kernel says about those that it refuses.  Knows nothing of what they mean:
 * that is kernel.h.
 */
#ifndef WEFTCTL_GENL_H
#define WEFTCTL_GENL_H

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdbool.h>
#include <stdint.h>

#define GENL_TEXT_MAX	256

/* Why a request was refused. */
struct genl_refusal {
	int code;	/* negative errno */
	/* type of the attribute that is wrong or missing, 0 if none is named */
	unsigned int attr;
	bool missing;	/* @attr is missing */
	char text[GENL_TEXT_MAX];	/* the kernel's sentence, or "" */
};

/**
 * typedef genl_answer_fn - take one message of an answer
 * @attrs: its attributes by type, @max + 1 of them, NULL where there is none
 * @msg: the message itself, for attributes that are repeated
 * @arg: of the caller
 *
 * Return: 0, or a negative errno to end.
 */
typedef int genl_answer_fn(struct nlattr **attrs, struct nlmsghdr *msg, void *arg);

/**
 * genl_open() - find the family
 *
 * May be called again after a failure.
 *
 * Return: 0; -ENOENT: there is no such family, the module is not loaded; or
 * another negative errno.
 */
int genl_open(void);

/* Undo genl_open(). */
void genl_close(void);

/**
 * genl_request() - begin a request
 * @cmd: command of the family
 * @dump: the answer is a list
 *
 * Return: the message to add attributes to, NULL without memory.
 */
struct nl_msg *genl_request(uint8_t cmd, bool dump);

/**
 * genl_call() - send a request and take its answer
 * @msg: from genl_request(); gone afterwards
 * @max: highest type of attribute in the answer
 * @answer: called for each message of the answer, or NULL if there is none
 * @arg: for @answer
 * @why: filled in if the result is not 0
 *
 * Return: 0, or a negative errno.
 */
int genl_call(struct nl_msg *msg, int max, genl_answer_fn *answer, void *arg,
	      struct genl_refusal *why);

/**
 * genl_listen() - join a group of the family
 *
 * Return: a file descriptor to wait for, or a negative errno as genl_open().
 */
int genl_listen(const char *group);

/**
 * genl_take() - take the messages to the group that have come
 * @max: highest type of attribute
 * @answer: called for each
 * @arg: for @answer
 *
 * Return: 0; -ENOBUFS: some were lost; or another negative errno.
 */
int genl_take(int max, genl_answer_fn *answer, void *arg);

#endif /* WEFTCTL_GENL_H */
