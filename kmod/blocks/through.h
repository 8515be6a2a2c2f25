/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write-through, of regions whose policy asks for that: a block that programs have modified is
 * written home before its ownership moves, so the death of this node loses nothing that another
 * one has seen.
 *
 * A block that programs have modified since it was last home, or on its way there, has @modified.
 * By a mark in the table of its region it is found (clean.h): the mark is set after @modified,
 * with a page of the block locked, and goes when the block is home.  So there may be a mark too
 * many, never one too few.
 */
#ifndef WEFT_THROUGH_H
#define WEFT_THROUGH_H

#include "blocks/block.h"
#include "blocks/region.h"

#define WEFT_THROUGH_MARK	XA_MARK_0

/* Does the region keep what is modified from going elsewhere before it is home? */
static inline bool weft_through_kept(const struct weft_region *region)
{
	u32 durability = weft_region_durability(region);

	return durability == WEFT_POLICY_RELEASE || durability == WEFT_POLICY_SYNC;
}

/* A program may write to it from now on.  Process context, a page of it locked. */
void weft_through_wrote(struct weft_block *blk);

/*
 * Another node waits to write to it: does it have to go home first?  Not any more if that takes
 * longer than half of the time-out: then the other one gets it, and that is counted.  Nobody
 * here has access any more, or it has to be taken away before it goes home.
 */
bool weft_through_first(struct weft_block *blk) __must_hold(&blk->lock);

/* ... and is just on its way, or cannot be sent now: wait for what comes next. */
bool weft_through_under_way(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * An INV overtakes the PUT with which the block leaves.  Return: true if it is not to be heard
 * yet: it comes again.
 */
bool weft_through_deaf(struct weft_block *blk, const struct weft_msg *msg) __must_hold(&blk->lock);

/* The region is kept from now on: it is not known what was modified before. */
void weft_through_begin(struct weft_region *region);

#endif /* WEFT_THROUGH_H */
