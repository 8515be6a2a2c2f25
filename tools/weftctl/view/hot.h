/* SPDX-License-Identifier: GPL-2.0-only */
/* What happened to blocks and locks between two looks at all of them. */
#ifndef WEFTCTL_HOT_H
#define WEFTCTL_HOT_H

#include "kernel/kernel.h"

/* A block, or a lock. */
struct hot_row {
	uint32_t region;	/* where it is */
	uint64_t index;	/* number of the block, offset of the lock */
	bool lock;	/* which of both it is */
	uint32_t state;	/* as the kernel has it */
	uint32_t waiters;	/* here */
	uint32_t queue;	/* other nodes that wait for a lock */
	uint32_t came;	/* how often it was missed, or granted */
	uint32_t went;	/* how often others took it, or it was handed over */
};

struct hot_list {
	struct hot_row *list;
	size_t len;
};

/* All that a node has at one time, by region and place. */
struct hot {
	struct hot_list blocks;	/* in its cache */
	struct hot_list locks;	/* that it has */
};

/* enum hot_by - which blocks come first */
enum hot_by {
	HOT_BY_BOTH,
	HOT_BY_MISSES,
	HOT_BY_REVOCATIONS,
};

/* Looks at all.  Return: 0, or an exit status after it has said what is wrong. */
int hot_read(struct hot *h);

/**
 * hot_since() - what happened since an earlier look
 * @since: receives what something happened to, or somebody waits for, the hottest first
 * @now: as hot_read() left it
 * @before: likewise
 *
 * Return: as hot_read().
 */
int hot_since(struct hot *since, const struct hot *now, const struct hot *before, enum hot_by by);

void hot_free(struct hot *h);

#endif /* WEFTCTL_HOT_H */
