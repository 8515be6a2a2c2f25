/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a lock tells the blocks that it guards: come with the lock, go with the lock.  Called by
 * locks/ in any context, with the lock's spinlock held or not; a block's is taken inside.
 * Nothing here waits but weft_guarded_map(), and coherence never depends on it.
 */
#ifndef WEFT_GUARDED_H
#define WEFT_GUARDED_H

#include "blocks/block.h"

struct weft_outbox;

/**
 * weft_guarded_expect() - the lock is requested, and the block may come with it
 * @perm: WEFT_S or WEFT_M
 * @txn: transaction of the request for the lock, which no other node knows yet
 */
void weft_guarded_expect(struct weft_block *blk, u8 perm, u32 txn, struct weft_outbox *outbox);

/**
 * weft_guarded_come() - the lock has come
 * @perm: WEFT_S or WEFT_M
 * @passed: the former holder passes on what it has modified: wait for that a moment before
 *	asking for the block
 */
void weft_guarded_come(struct weft_block *blk, u8 perm, bool passed,
		       struct weft_outbox *outbox);

/**
 * weft_guarded_map() - shall the block be mapped for the thread that has got the lock?
 * @perm: permission that it has of the lock
 * @at: receives the byte of the block that the program will begin with
 *
 * Waits for a block that is to be mapped and on its way with the lock, until bound.patience.
 * Process context, no lock held; a signal ends the wait.
 *
 * Return: permission to map it with, as weft_predict_map().
 */
u8 weft_guarded_map(struct weft_block *blk, u8 perm, u32 *at);

/* The lock is given up: the block's minimum stay ends. */
void weft_guarded_leave(struct weft_block *blk, struct weft_outbox *outbox);

/* The lock is handed over: lend a block of this node to readers, pass it on to a writer. */
void weft_guarded_pass(struct weft_block *blk, const struct weft_successors *successors,
		       struct weft_outbox *outbox);

/* Would weft_guarded_pass() pass the block on?  For who has to say so before. */
bool weft_guarded_goes(struct weft_block *blk);

/*
 * Readers give up the lock for a writer, who expects the block under transaction @writer: pass
 * the block on if this node owns it, give it back if it was lent.
 */
void weft_guarded_yield(struct weft_block *blk, u32 writer, struct weft_outbox *outbox);

/* The lock guards the block no more. */
void weft_guarded_drop(struct weft_block *blk, struct weft_outbox *outbox);

/* --- guard learning, see locks/learn.h -------------------------------------------------- */

/**
 * weft_guarded_missed() - a program that holds a lock of the region has missed the block
 * @lock: number of the lock, not 0; WEFT_NO_LOCK: the program holds none
 *
 * Return: false if another lock has learnt the block, or if a program without @lock has missed
 * it since the last miss with @lock.
 */
bool weft_guarded_missed(struct weft_block *blk, u32 lock);

/* Expect the block with @lock from now on.  Return: false if another lock has learnt it. */
bool weft_guarded_learn(struct weft_block *blk, u32 lock);

/* Expect it no longer. */
void weft_guarded_unlearn(struct weft_block *blk, u32 lock, struct weft_outbox *outbox);

#define WEFT_GUARDED_SAVED	1	/* it came with the lock, and a program touched it */
#define WEFT_GUARDED_USELESS	2	/* it came, and no program touched it */
#define WEFT_GUARDED_RIVAL	4	/* a program without the lock missed it */

/* What happened since the last call: WEFT_GUARDED_*. */
u32 weft_guarded_judge(struct weft_block *blk, u32 lock);

/* As weft_guarded_pass(), but only to nodes that were seen to expect the block. */
void weft_guarded_offer(struct weft_block *blk, u32 lock,
			const struct weft_successors *successors, struct weft_outbox *outbox);

/* Would weft_guarded_offer() pass the block on to @writer, a transaction? */
bool weft_guarded_follows(struct weft_block *blk, u32 lock, u32 writer);

/* As weft_guarded_yield(), for a block that was lent: give it back to the writer. */
void weft_guarded_return(struct weft_block *blk, u32 writer, struct weft_outbox *outbox);

#endif /* WEFT_GUARDED_H */
