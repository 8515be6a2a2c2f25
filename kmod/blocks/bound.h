/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wishes of the lock that guards a block (struct weft_bound), kept until the line is idle.  The
 * other files of blocks/ call it with the block locked; locks reach it by guarded.h.  It decides
 * for the block alone and knows no lock but by its number.
 */
#ifndef WEFT_BOUND_H
#define WEFT_BOUND_H

#include "blocks/block.h"

/* Carry out the next wish that is possible.  Return: false if none is, else @out follows. */
bool weft_bound_step(struct weft_block *blk, struct weft_out *out)
	__must_hold(&blk->lock);

/*
 * Stop waiting for the node that is to pass the block on.  Return: whether weft_bound_step() has
 * to ask for the block now.
 */
bool weft_bound_urge(struct weft_block *blk) __must_hold(&blk->lock);

/* The time for the node that was to pass the block on is up: the same, and wait less from now on. */
void weft_bound_broken(struct weft_block *blk) __must_hold(&blk->lock);

/* A request for the block goes out. */
void weft_bound_asked(struct weft_block *blk) __must_hold(&blk->lock);

/**
 * weft_bound_recv() - the core has taken in a message
 * @state: of the line before the message
 *
 * Return: true if the block has come with a lock, which is no miss.
 */
bool weft_bound_recv(struct weft_block *blk, const struct weft_msg *msg, u8 state)
	__must_hold(&blk->lock);

/* The line is reset, or DEAD: drop all wishes. */
void weft_bound_forget(struct weft_block *blk) __must_hold(&blk->lock);

/* A program touches a block that is @untried.  Any context, without @blk->lock. */
void weft_bound_touched(struct weft_block *blk);

/* The block came because its lock has learnt it, and no program has touched it.  A hint. */
static inline bool weft_bound_is_untried(const struct weft_block *blk)
{
	return READ_ONCE(blk->bound.untried);
}

/* Clear @untried: the lock has judged the block, or the block has gone. */
void weft_bound_tried(struct weft_block *blk) __must_hold(&blk->lock);

/* Readers are about to give back what they were lent: a writer waits for that and asks nobody. */
static inline bool weft_bound_returning(const struct weft_block *blk)
{
	return blk->line.state == WEFT_M && blk->bound.wish && blk->bound.patience;
}

/* Expected only: no request is out and nothing has come, so no retransmission timer runs. */
static inline bool weft_bound_silent(const struct weft_block *blk)
{
	return blk->line.expecting && !blk->line.held && !blk->line.need_known &&
	       !blk->bound.urged;
}

#endif /* WEFT_BOUND_H */
