/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Giving blocks back to their homes, and up: because there is no room, because programs
 * want them at home, because the region or the home does not know them any more.
 *
 * Process context, no page locked, but where it says otherwise.
 */
#ifndef WEFT_FLUSH_H
#define WEFT_FLUSH_H

#include "blocks/block.h"

/* It is DEAD, nobody uses it and nobody comes back to it: it leaves its region. */
void weft_block_take_apart(struct weft_block *blk);

/**
 * weft_block_kill() - take a block apart that holds nothing
 *
 * Return: false if it holds something, or a thread is at it.
 */
bool weft_block_kill(struct weft_block *blk);

/**
 * weft_block_evict() - start to give a block up
 *
 * Return: true if it is on its way, or gone.
 */
bool weft_block_evict(struct weft_block *blk);

/**
 * weft_block_clean() - start to write a modified block home
 * @seen: receives what @wakes was, for weft_block_wait()
 *
 * Return: 1: started; 0: there is nothing to write; -EAGAIN: the line is busy.  Wait and
 * ask again until 0.
 */
int weft_block_clean(struct weft_block *blk, u32 *seen);

/**
 * weft_block_renew() - start to give a block back to a home that begins anew
 * @force: even if a device writes into it
 *
 * What the home has, too, is dropped without a message.  May be called again.
 *
 * Return: false: a device writes into it, programs have no access to it any more.
 */
bool weft_block_renew(struct weft_block *blk, bool force);

/* Nothing of a block counts any more.  Return: whether it was modified. */
bool weft_block_lose(struct weft_block *blk);

/* All blocks of a region from @first on are no part of it any more. */
void weft_region_drop(struct weft_region *region, u64 first);

/* Is it on its way home? */
bool weft_block_returning(struct weft_block *blk);

/* What is left of dead nodes in blocks of this node. */

/**
 * weft_block_gone() - nodes have died, of which no message is taken any more
 * @dead: bits of them
 *
 * See weft_line_gone().  Programs lose access to what was lent to this node.  Process
 * context, no page locked.
 *
 * Return: false: something of it is under way; call it again.
 */
bool weft_block_gone(struct weft_block *blk, u32 dead);

/*
 * What it has asked for, if a time-out has passed, or 40 ms have: now again, as who was to answer
 * may do so now.  Any context.
 */
void weft_block_again(struct weft_block *blk);

#endif /* WEFT_FLUSH_H */
