/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access predictor of a block that comes with a lock: programs do with it what they did when the
 * kernel last looked.  locks/mapped.c maps it so for the new holder of the lock.  A wrong
 * prediction costs a page fault, never coherence: it grants no permission.
 */
#ifndef WEFT_PREDICT_H
#define WEFT_PREDICT_H

#include "blocks/block.h"

/*
 * A program that finds a block mapped causes no fault, so the kernel sees nothing.  It looks in
 * some turns, in which it leaves the block to page faults: after the first turn in which the
 * block was mapped, then after two more, four more and so on (struct weft_predict).
 */

/* The block has come with the lock that guards it. */
void weft_predict_came(struct weft_block *blk) __must_hold(&blk->lock);

/* The holder gives the lock up. */
void weft_predict_left(struct weft_block *blk) __must_hold(&blk->lock);

/* The line is reset, or DEAD. */
void weft_predict_forget(struct weft_block *blk) __must_hold(&blk->lock);

/* Does the kernel look in this turn?  A hint without the lock. */
static inline bool weft_predict_looks(const struct weft_block *blk)
{
	return READ_ONCE(blk->predict.looking);
}

/*
 * A program has faulted for byte @at of the block, to read (WEFT_S) or to write (WEFT_M).  Process
 * context, without @blk->lock.
 */
void weft_predict_touched(struct weft_block *blk, u8 perm, u32 at);

/* The block is on its way, and is to be mapped when it comes. */
static inline bool weft_predict_waits(const struct weft_block *blk)
{
	return !blk->predict.come && blk->predict.left && blk->predict.usual;
}

/**
 * weft_predict_map() - shall the block be mapped for the thread that has got the lock?
 * @perm: permission that it has of the lock
 * @at: receives the byte of the block that programs begin with
 *
 * Says so once for each time that the block comes.
 *
 * Return: permission to map it with, which this node has; WEFT_I: do not map it.
 */
u8 weft_predict_map(struct weft_block *blk, u8 perm, u32 *at) __must_hold(&blk->lock);

#endif /* WEFT_PREDICT_H */
