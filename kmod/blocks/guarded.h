/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A block that a lock guards, seen from the lock: it is expected with the lock,
 * asked for when the lock has come without it, passed on with the lock.
 *
 * Nothing here waits, and no program waits for anything here but one that touches
 * the block: it waits as for every other block.  Any context; the lock's spinlock
 * may be held, the line's is taken inside it.
 */
#ifndef WEFT_GUARDED_H
#define WEFT_GUARDED_H

#include "blocks/block.h"

struct weft_outbox;

/**
 * weft_guarded_expect() - a lock is asked for, and the block may come with it
 * @perm: WEFT_S or WEFT_M
 * @txn: the lock's transaction, which nobody else knows yet
 */
void weft_guarded_expect(struct weft_block *blk, u8 perm, u32 txn,
			 struct weft_outbox *outbox);

/**
 * weft_guarded_come() - the lock has come
 * @perm: WEFT_S or WEFT_M
 * @passed: whoever had it passes on what it has modified: wait for that a moment
 *	before the block is asked for
 */
void weft_guarded_come(struct weft_block *blk, u8 perm, bool passed,
		       struct weft_outbox *outbox);

/**
 * weft_guarded_map() - is the block to be mapped for the thread that has got the lock?
 * @perm: that it has the lock with
 * @at: which byte of the block the program is going to begin with
 *
 * Waits for a block that is on its way with the lock, as long as that is waited for anyway
 * (bound.patience), and not at all for one that is not to be mapped.  Process context, no lock
 * held; a signal ends it.
 *
 * Return: with which permission, as weft_predict_map().
 */
u8 weft_guarded_map(struct weft_block *blk, u8 perm, u32 *at);

/* The lock is given up: no program that is through with the block keeps it. */
void weft_guarded_leave(struct weft_block *blk, struct weft_outbox *outbox);

/**
 * weft_guarded_pass() - the lock is handed on: the block goes with it if it is ours
 *
 * To readers it is lent, to a writer it is passed on.
 */
void weft_guarded_pass(struct weft_block *blk, const struct weft_successors *successors,
		       struct weft_outbox *outbox);

/**
 * weft_guarded_yield() - readers give up the lock: the block goes with it
 * @writer: who gets the lock expects the block with this name
 *
 * If it is ours it is passed on; if it was lent to us it is given back.
 */
void weft_guarded_yield(struct weft_block *blk, u32 writer,
			struct weft_outbox *outbox);

/* The lock has nothing to do with the block any more. */
void weft_guarded_drop(struct weft_block *blk, struct weft_outbox *outbox);

/* --- guards that were learnt, see locks/learn.h ---------------------------------------- */

/**
 * weft_guarded_missed() - a program that has a lock of the region has missed the block
 * @lock: number of the lock, not 0; WEFT_NO_LOCK: it has none
 *
 * Return: false if another lock has learnt that it guards the block, or if it was missed
 * otherwise since it was missed with this lock.
 */
bool weft_guarded_missed(struct weft_block *blk, u32 lock);

/* It is expected with @lock from now on.  Return: false: with another one. */
bool weft_guarded_learn(struct weft_block *blk, u32 lock);

/* ... and not any more. */
void weft_guarded_unlearn(struct weft_block *blk, u32 lock, struct weft_outbox *outbox);

#define WEFT_GUARDED_SAVED	1	/* it came with the lock, and was touched */
#define WEFT_GUARDED_USELESS	2	/* it came, and was not */
#define WEFT_GUARDED_RIVAL	4	/* it was missed without the lock */

/* What became of it, since this was last asked: WEFT_GUARDED_*. */
u32 weft_guarded_judge(struct weft_block *blk, u32 lock);

/*
 * The lock is handed on: as weft_guarded_pass(), but the block goes only to those who were
 * seen to expect it.
 */
void weft_guarded_offer(struct weft_block *blk, u32 lock,
			const struct weft_successors *successors, struct weft_outbox *outbox);

/* ... and what was lent to us with it is given back to the writer: as weft_guarded_yield(). */
void weft_guarded_return(struct weft_block *blk, u32 writer, struct weft_outbox *outbox);

#endif /* WEFT_GUARDED_H */
