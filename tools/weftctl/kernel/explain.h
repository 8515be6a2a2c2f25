/* SPDX-License-Identifier: GPL-2.0-only */
/* Refusals of the kernel as sentences that say what to do. */
#ifndef WEFTCTL_EXPLAIN_H
#define WEFTCTL_EXPLAIN_H

#include <stdint.h>

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

#endif /* WEFTCTL_EXPLAIN_H */
