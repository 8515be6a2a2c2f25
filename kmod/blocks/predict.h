/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The access predictor of a block that comes with a lock: programs will do with it what they did
 * the last time that the kernel saw it.  So it can be mapped for who has the lock before that thread goes
 * on (locks/mapped.h), with the right to write if it is going to write.
 *
 * Whoever finds a block mapped tells nobody.  So there are turns in which it is left to page
 * faults, and the kernel looks: one after the first that it was mapped in, one after the next
 * two, and so on (struct weft_predict).
 */
#ifndef WEFT_PREDICT_H
#define WEFT_PREDICT_H

#include "blocks/block.h"

/* It has come with the lock that guards it. */
void weft_predict_came(struct weft_block *blk) __must_hold(&blk->lock);

/* That lock is given up. */
void weft_predict_left(struct weft_block *blk) __must_hold(&blk->lock);

/* It did not come; it is reset, or DEAD. */
void weft_predict_forget(struct weft_block *blk) __must_hold(&blk->lock);

/* Is it of interest what programs do with it? */
static inline bool weft_predict_looks(const struct weft_block *blk)
{
	return READ_ONCE(blk->predict.looking);
}

/*
 * A program has faulted for byte @at of it, to read (WEFT_S) or to write (WEFT_M).  Process
 * context, @blk->lock is not held.
 */
void weft_predict_touched(struct weft_block *blk, u8 perm, u32 at);

/* It is on its way, and would be mapped. */
static inline bool weft_predict_waits(const struct weft_block *blk)
{
	return !blk->predict.come && blk->predict.left && blk->predict.usual;
}

/**
 * weft_predict_map() - is it to be mapped for the thread that has got the lock?
 * @perm: that it has the lock with
 * @at: where programs begin, bytes into the block
 *
 * The caller maps what it is told to, once: others are not told.
 *
 * Return: with which permission, of which this node has at least that; WEFT_I: no.
 */
u8 weft_predict_map(struct weft_block *blk, u8 perm, u32 *at) __must_hold(&blk->lock);

#endif /* WEFT_PREDICT_H */
