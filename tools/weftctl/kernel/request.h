/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests to the family, each about the rack that is chosen; their answers and refusals. */
#ifndef WEFTCTL_REQUEST_H
#define WEFTCTL_REQUEST_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "kernel/genl.h"

/* A request that says which rack it is about; NULL without memory. */
struct nl_msg *request_new(uint8_t cmd, bool dump);

/* One that was @full before everything was in it is not sent at all. */
struct nl_msg *request_unless_full(struct nl_msg *msg, bool full);

/**
 * request_call() - send a request and take its answer
 * @subject: what it is about, as for explain()
 *
 * The others are as for genl_call().  Return: 0, or an exit status after it has said what is
 * wrong.
 */
int request_call(uint8_t cmd, struct nl_msg *msg, const char *subject, int max,
		 genl_answer_fn *answer, void *arg);

/* The same for a request without attributes. */
int request_ask(uint8_t cmd, bool dump, int max, genl_answer_fn *answer, void *arg);

/**
 * request_rows() - send a request whose answer is a list, take its rows one by one
 * @columns: says which attributes go where in a row; a message without the first of them is
 *	passed over if that is optional: the first one of a list that comes over the network
 *	has none
 * @row: memory for one, of @size bytes
 *
 * Return: as genl_call().
 */
int request_rows(struct nl_msg *msg, const struct column *columns, void *row, size_t size,
		 row_fn *take, void *arg, struct genl_refusal *why);

/* The same with a sentence; @subject is what it is about.  Return: as request_call(). */
int request_list(uint8_t cmd, struct nl_msg *msg, const char *subject,
		 const struct column *columns, void *row, size_t size, row_fn *take, void *arg);

/* Read one message into @row; false: it lacks the first column. */
bool request_row(struct nlattr **attrs, const struct column *columns, void *row, size_t size);

/* Something is to be done: there is nothing in the answer.  Return: as genl_call(). */
int request_done(struct nl_msg *msg, struct genl_refusal *why);

/* The highest attribute of these. */
int request_max(const struct column *columns);

/* Values of an answer; 0 for what is missing or has the wrong size. */
uint32_t attr_u32(struct nlattr *attr);
uint64_t attr_u64(struct nlattr *attr);
struct in_addr attr_address(struct nlattr *attr);

struct genl_refusal;

/**
 * explain() - say why a command was refused
 * @cmd: of enum weft_cmd
 * @why: the refusal
 * @subject: what the command was about: the interface, the blade and its
 *	address; or NULL
 *
 * Return: EXIT_FAILED.
 */
int explain(uint8_t cmd, const struct genl_refusal *why, const char *subject);

/* Say that a blade, by its name and address, does not answer.  Return: EXIT_FAILED. */
int explain_silent(const char *subject);

/* Say why there is no family: @err of genl_open().  Return: EXIT_FAILED. */
int explain_no_family(int err);

#endif /* WEFTCTL_REQUEST_H */
