// SPDX-License-Identifier: GPL-2.0-only
/* Write modified blocks home, many at a time; see clean.h. */

#include "blocks/access.h"
#include "blocks/cache.h"
#include "blocks/clean.h"
#include "blocks/flush.h"

#define AT_A_TIME	32	/* blocks in flight home for one caller */

/*
 * Mark in the table of a region with write-through: the block may have @modified set.  The mark is
 * set after @modified, with a page of the block locked, and cleared when the block is home: there
 * may be a mark too many, never one too few.
 */
#define MODIFIED	XA_MARK_0

void weft_clean_mark(struct weft_block *blk)
{
	struct xarray *blocks = &blk->region->blocks;
	u64 index = weft_line_index(blk->line.key);

	if (weft_through_kept(blk->region) && !xa_get_mark(blocks, index, MODIFIED))
		xa_set_mark(blocks, index, MODIFIED);
}

void weft_clean_mark_all(struct weft_region *region)
{
	struct weft_block *blk;
	unsigned long index;

	xa_for_each(&region->blocks, index, blk)
		xa_set_mark(&region->blocks, index, MODIFIED);
}

/**
 * struct batch - the blocks that a caller wants at home
 * @regions: where the region is looked up for each block, as it may go at any time
 * @id: number of the region
 * @last: index of the last block
 * @mark: of @blocks of the region: XA_PRESENT for all, or MODIFIED
 * @end: when the caller gives up, jiffies
 */
struct batch {
	struct weft_regions *regions;
	u32 id;
	u64 last;
	xa_mark_t mark;
	unsigned long end;
};

/* The first block at or after *index, with a reference; *index is set to it. */
static struct weft_block *next_block(const struct batch *b, u64 *index)
{
	struct weft_block *blk = NULL;
	struct weft_region *region;
	unsigned long at = *index;

	rcu_read_lock();
	region = weft_region_find(b->regions, b->id);
	if (region) {
		do {
			blk = xa_find(&region->blocks, &at, b->last, b->mark);
		} while (blk && !refcount_inc_not_zero(&blk->ref) && at++ < b->last);
	}
	rcu_read_unlock();
	*index = at;
	return blk;
}

/* Wait until the home has all that programs had written before the call. */
static int finish(struct weft_block *blk, unsigned long end)
{
	u32 seen;
	int ret;

	while ((ret = weft_block_clean(blk, &seen)) != 0) {
		ret = weft_block_wait(blk, seen, &end);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Remove the mark of a block that is home, not earlier: others that look for marks wait for this
 * block, too.  A program that has modified it again set @modified before it looked for the mark.
 */
static void unmark(const struct batch *b, struct weft_block *blk)
{
	u64 index = weft_line_index(blk->line.key);
	struct weft_region *region;
	bool again;

	rcu_read_lock();
	region = weft_region_find(b->regions, b->id);
	if (region) {
		xa_clear_mark(&region->blocks, index, MODIFIED);
		spin_lock_bh(&blk->lock);
		again = blk->modified;
		spin_unlock_bh(&blk->lock);
		if (again)
			xa_set_mark(&region->blocks, index, MODIFIED);
	}
	rcu_read_unlock();
}

/* Start up to AT_A_TIME blocks, then wait for them, until none is left. */
static int clean_all(const struct batch *b, u64 first)
{
	struct weft_block *blk[AT_A_TIME];
	bool marked = b->mark == MODIFIED;
	u64 index = first;
	int i, n, err = 0;
	u32 seen;

	do {
		for (n = 0; n < AT_A_TIME && index <= b->last; index++) {
			blk[n] = next_block(b, &index);
			if (!blk[n])
				break;
			/* a block without a mark is waited for only if something goes home */
			if (weft_block_clean(blk[n], &seen) || marked)
				n++;
			else
				weft_block_put(blk[n]);
		}
		for (i = 0; i < n; i++) {
			if (!err)
				err = finish(blk[i], b->end);
			if (!err && marked)
				unmark(b, blk[i]);
			weft_block_put(blk[i]);
		}
	} while (!err && n == AT_A_TIME);
	return err;
}

int weft_clean_range(struct weft_region *region, u64 first, u64 last, unsigned long end)
{
	const struct batch b = { &region->cache->regions, region->id, last, XA_PRESENT, end };

	return clean_all(&b, first);
}

int weft_clean_marked(struct weft_regions *regions, u32 id, unsigned long end)
{
	const struct batch b = { regions, id, ULONG_MAX, MODIFIED, end };

	return clean_all(&b, 0);
}
