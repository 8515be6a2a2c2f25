/* SPDX-License-Identifier: GPL-2.0-only */
/* What happened to blocks and locks between two looks at all of them. */
#ifndef WEFTCTL_HOT_H
#define WEFTCTL_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/kernel.h"

/**
 * struct hot_lines - blocks
 * @list: by region and number
 * @len: how many
 */
struct hot_lines {
	struct line *list;
	size_t len;
};

/* Locks, by region and offset. */
struct hot_locks {
	struct lock_info *list;
	size_t len;
};

/**
 * struct hot - all that a node has at one time
 * @lines: blocks in its cache
 * @locks: locks that it has
 */
struct hot {
	struct hot_lines lines;
	struct hot_locks locks;
};

/* enum hot_by - what comes first */
enum hot_by {
	HOT_BY_BOTH,
	HOT_BY_MISSES,
	HOT_BY_REVOCATIONS,
};

/* Looks at all.  Return: 0, or an exit status after it has said what is wrong. */
int hot_read(struct hot *h);

/**
 * hot_since() - what happened since an earlier look
 * @h: its counts become what was counted since; what nothing happened to, and nobody
 *	waits for, is dropped; the hottest come first
 * @before: as hot_read() left it
 */
void hot_since(struct hot *h, const struct hot *before, enum hot_by by);

/* An empty @to becomes the same.  Return: as hot_read(). */
int hot_copy(struct hot *to, const struct hot *from);

void hot_free(struct hot *h);

#endif /* WEFTCTL_HOT_H */
