/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives blocks back to their homes, and up: the eviction, fsync(), homes that begin anew, regions
 * that go, nodes that have died.  Called by evict.c, clean.c and fs/, in process context with no
 * page locked unless it says otherwise.  Writes wishes into blocks; step.c carries them out.
 */
#ifndef WEFT_FLUSH_H
#define WEFT_FLUSH_H

#include "blocks/block.h"

/* Remove a block that is DEAD, with its pages, from its region. */
void weft_block_take_apart(struct weft_block *blk);

/* Take a block apart.  Return: false if it holds something or a thread uses it. */
bool weft_block_kill(struct weft_block *blk);

/* Start to evict a block.  Return: true if it is on its way home, or gone. */
bool weft_block_evict(struct weft_block *blk);

/**
 * weft_block_clean() - start to write a modified block home
 * @seen: receives @wakes for weft_block_wait()
 *
 * Return: 1: started; 0: nothing to write; -EAGAIN: the line is busy.  Wait and call again until
 * it returns 0.
 */
int weft_block_clean(struct weft_block *blk, u32 *seen);

/**
 * weft_block_renew() - give a block back to a home that begins anew
 * @force: even if a device writes into it
 *
 * A block that the home has, too, is dropped without a message.  May be called again.
 *
 * Return: false: a device writes into the block, and programs have lost their access to it.
 */
bool weft_block_renew(struct weft_block *blk, bool force);

/* Drop a block with all that it holds.  Return: whether it was modified. */
bool weft_block_lose(struct weft_block *blk);

/* The region ends before block @first: drop all blocks from there on. */
void weft_region_drop(struct weft_region *region, u64 first);

/* Has weft_block_renew() sent the block home, and does its home not have it yet? */
bool weft_block_returning(struct weft_block *blk);

/**
 * weft_block_gone() - nodes have died, and no message of theirs is taken any more
 * @dead: bits of the nodes
 *
 * See weft_line_gone().  Programs lose access to a block that was lent to this node.
 *
 * Return: false: the revocation is under way; call again.
 */
bool weft_block_gone(struct weft_block *blk, u32 dead);

/*
 * Repeat the request of a block now if a time-out, or 40 ms, have passed: the member that it
 * waits for may answer again.  Any context.
 */
void weft_block_again(struct weft_block *blk);

#endif /* WEFT_FLUSH_H */
