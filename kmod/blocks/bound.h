/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the lock that guards a block wants of it (struct weft_bound), until that can be done.
 * Locks say so by guarded.h.
 */
#ifndef WEFT_BOUND_H
#define WEFT_BOUND_H

#include "blocks/block.h"

/*
 * What was not possible before.  Return: false if there is nothing that can be done now,
 * else @out says what follows.
 */
bool weft_bound_step(struct weft_block *blk, struct weft_out *out)
	__must_hold(&blk->lock);

/*
 * Who is to pass it on is not waited for any longer: ask.  Return: whether there is
 * something to do for weft_bound_step() now.
 */
bool weft_bound_urge(struct weft_block *blk) __must_hold(&blk->lock);

/* It is asked for now. */
void weft_bound_asked(struct weft_block *blk) __must_hold(&blk->lock);

/**
 * weft_bound_recv() - a message has been taken in by the core
 * @state: of the line before it
 *
 * Return: true if the block has come with a lock, which is no miss.
 */
bool weft_bound_recv(struct weft_block *blk, const struct weft_msg *msg, u8 state)
	__must_hold(&blk->lock);

/* The line is reset, or DEAD. */
void weft_bound_forget(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * A program touches the block, which came with a lock that has learnt that it guards it.  Any
 * context, @blk->lock is not held.
 */
void weft_bound_touched(struct weft_block *blk);

/* It has come, and no program has touched it: whether that lock guards it is to be seen. */
static inline bool weft_bound_is_untried(const struct weft_block *blk)
{
	return READ_ONCE(blk->bound.untried);
}

/* That lock looks, or the block has gone. */
void weft_bound_tried(struct weft_block *blk) __must_hold(&blk->lock);

/* Lent to readers who are about to give it back: who wants to write waits for that. */
static inline bool weft_bound_returning(const struct weft_block *blk)
{
	return blk->line.state == WEFT_M && blk->bound.wish && blk->bound.patience;
}

/* Only expected: no timer runs, as nothing has been asked, and nothing has come. */
static inline bool weft_bound_silent(const struct weft_block *blk)
{
	return blk->line.expecting && !blk->line.held && !blk->line.need_known &&
	       !blk->bound.urged;
}

#endif /* WEFT_BOUND_H */
