/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes that wait for a lock, first come first (Soul, section 4.2: the queue is at
 * its holder).  A node is in it once at most.  No locks: it is part of a lock.
 */
#ifndef WEFT_CORE_QUEUE_H
#define WEFT_CORE_QUEUE_H

#include "types.h"
#include "wire.h"

#define WEFT_QUEUE_MAX	WEFT_NODE_MAX	/* a node waits once at most */

/**
 * struct weft_queue - nodes that wait, first come first
 * @n: how many
 * @writers: bits of those that want to write
 * @txn: their transactions, which name the nodes
 */
struct weft_queue {
	u32 n;
	u32 writers;
	u32 txn[WEFT_QUEUE_MAX];
};

/* Where the node is, or -1. */
int weft_queue_find(const struct weft_queue *q, u32 member);

/* Append the node of a transaction; one that is there already keeps its place. */
void weft_queue_append(struct weft_queue *q, u32 txn, bool writer);

/* Append those of @from that are in none of the bits @but. */
void weft_queue_append_all(struct weft_queue *q, const struct weft_queue *from,
			   u32 but);

/* Only those of @members stay. */
void weft_queue_keep(struct weft_queue *q, u32 members);

/* Does the one at @i want to write? */
bool weft_queue_is_writer(const struct weft_queue *q, u32 i);

/* How many readers are at the head, before the first writer. */
u32 weft_queue_readers(const struct weft_queue *q);

/* The list in a message (HAND, HANDED); nonsense in it becomes nobody. */
void weft_queue_unpack(struct weft_queue *q, const struct weft_msg *msg);

#endif /* WEFT_CORE_QUEUE_H */
