/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write modified blocks of a region home and keep them; the caller waits, with no page or spinlock
 * held.  Called by fsync() and by locks that release what was modified under them.  access.c and
 * fs/ mark the blocks that may have to go.  It never gives a block up.
 */
#ifndef WEFT_CLEAN_H
#define WEFT_CLEAN_H

#include "blocks/region.h"

/**
 * weft_clean_range() - write home what this node has modified in a part of a region
 * @first: index of the first block
 * @last: index of the last block
 * @end: until when, jiffies
 *
 * Killable.  Return: 0, -EINTR, -ETIMEDOUT.
 */
int weft_clean_range(struct weft_region *region, u64 first, u64 last, unsigned long end);

/**
 * weft_clean_marked() - write home what this node has modified since the last call
 * @id: number of the region, which may go at any time
 * @end: until when, jiffies
 *
 * Only for regions with write-through.  Killable.  Return: as above.
 */
int weft_clean_marked(struct weft_regions *regions, u32 id, unsigned long end);

struct weft_block;

/*
 * A program may write to the block from now on: mark it if the region has write-through.  Process
 * context, a page of it locked.
 */
void weft_clean_mark(struct weft_block *blk);

/* The region has write-through from now on: mark all its blocks. */
void weft_clean_mark_all(struct weft_region *region);

#endif /* WEFT_CLEAN_H */
