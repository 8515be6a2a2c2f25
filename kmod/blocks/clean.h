/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks of a region that this node has modified go home, and stay; whoever wants that waits. */
#ifndef WEFT_CLEAN_H
#define WEFT_CLEAN_H

#include "blocks/region.h"

/**
 * weft_clean_range() - write home what this node has modified in a part of a region
 * @first: block
 * @last: block, inclusive
 * @end: until when, jiffies
 *
 * Sleeps; killable.  Return: 0, -EINTR, -ETIMEDOUT.
 */
int weft_clean_range(struct weft_region *region, u64 first, u64 last, unsigned long end);

/**
 * weft_clean_marked() - write home what this node has modified since that was last done
 * @id: number of the region, which may be going, or gone
 *
 * The same; only for regions that are kept (through.h).
 */
int weft_clean_marked(struct weft_regions *regions, u32 id, unsigned long end);

#endif /* WEFT_CLEAN_H */
