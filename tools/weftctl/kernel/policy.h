/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies of a region: their names, what they may be, how they are set. */
#ifndef WEFTCTL_POLICY_H
#define WEFTCTL_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft.h"

#define POLICIES	3

/* Name of the nth one, with a dash between words; what @bits say that it is. */
const char *policy_name(size_t nth);
const char *policy_value(size_t nth, uint32_t bits);

/**
 * policy_parse() - read "name=value"
 * @text: it
 * @p: gets it besides what stands there
 *
 * Return: 0, or EXIT_USAGE after it has said what is wrong.
 */
int policy_parse(const char *text, struct weft_policy *p);

#define POLICY_NODES	"nodes="

/* Read what stands behind POLICY_NODES: for which nodes, bit n-1 is node n, 0: all. */
int policy_parse_nodes(const char *text, uint32_t *nodes);

#endif /* WEFTCTL_POLICY_H */
