/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write-through, for regions whose policy asks for it: a modified block is written home before
 * its ownership moves, so the death of this node loses nothing that another node has seen.
 * step.c and arrive.c ask it what comes first; it sends nothing itself.
 */
#ifndef WEFT_THROUGH_H
#define WEFT_THROUGH_H

#include "blocks/block.h"
#include "blocks/region.h"

/*
 * Mark in the table of a region: the block may have @modified set.  The mark is set after
 * @modified, with a page of the block locked, and cleared when the block is home: there may be
 * a mark too many, never one too few.  clean.c finds the blocks to write home by it.
 */
#define WEFT_THROUGH_MARK	XA_MARK_0

/* Has the region write-through? */
static inline bool weft_through_kept(const struct weft_region *region)
{
	u32 durability = weft_region_durability(region);

	return durability == WEFT_POLICY_RELEASE || durability == WEFT_POLICY_SYNC;
}

/* A program may write to the block from now on.  Process context, a page of it locked. */
void weft_through_wrote(struct weft_block *blk);

/*
 * Another node waits to write: must the block be written home first?  No longer after half of
 * timeout_ms: then the other node gets it, and unsafe_blocks counts.  The caller has taken the
 * block away from programs, or does so before it writes it home.
 */
bool weft_through_first(struct weft_block *blk) __must_hold(&blk->lock);

/* It must, and its write-back is in flight or cannot begin: wait for the next event. */
bool weft_through_under_way(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * Ignore an INV that overtakes the PUT with which a modified block leaves?  It is repeated later.
 */
bool weft_through_deaf(struct weft_block *blk, const struct weft_msg *msg) __must_hold(&blk->lock);

/* The region has write-through from now on: mark all its blocks. */
void weft_through_begin(struct weft_region *region);

#endif /* WEFT_THROUGH_H */
