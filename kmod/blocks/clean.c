// SPDX-License-Identifier: GPL-2.0-only
/* What this node has modified goes home, see clean.h. */

#include "blocks/access.h"
#include "blocks/clean.h"
#include "blocks/flush.h"
#include "blocks/through.h"

#define AT_A_TIME	32	/* blocks on their way for one caller */

/* Until the block has nothing that the home lacks of what was written before. */
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

static int finish_all(struct weft_block **blk, int n, unsigned long end)
{
	int i, err = 0;

	for (i = 0; i < n; i++) {
		if (!err)
			err = finish(blk[i], end);
		weft_block_put(blk[i]);
	}
	return err;
}

/* The next block up to @last that has to be waited for, or NULL. */
static struct weft_block *begin_next(struct weft_region *region, u64 *index, u64 last)
{
	struct weft_block *blk;
	u32 seen;

	while (*index <= last && (blk = weft_block_next(region, index))) {
		if (*index <= last && weft_block_clean(blk, &seen)) {
			++*index;
			return blk;
		}
		weft_block_put(blk);
		++*index;
	}
	return NULL;
}

int weft_clean_range(struct weft_region *region, u64 first, u64 last, unsigned long end)
{
	struct weft_block *blk[AT_A_TIME];
	u64 index = first;
	int n, err;

	do {
		for (n = 0; n < AT_A_TIME; n++) {
			blk[n] = begin_next(region, &index, last);
			if (!blk[n])
				break;
		}
		err = finish_all(blk, n, end);
	} while (!err && n == AT_A_TIME);
	return err;
}

/* The next one that has a mark.  Its region may go at any time. */
static struct weft_block *next_marked(struct weft_regions *regions, u32 id, u64 *index)
{
	struct weft_block *blk = NULL;
	struct weft_region *region;
	unsigned long at = *index;

	rcu_read_lock();
	region = weft_region_find(regions, id);
	if (region) {
		do {
			blk = xa_find(&region->blocks, &at, ULONG_MAX, WEFT_THROUGH_MARK);
		} while (blk && !refcount_inc_not_zero(&blk->ref) && at++ < ULONG_MAX);
	}
	rcu_read_unlock();
	*index = at;
	return blk;
}

/*
 * It is home: the mark goes, not before, so that others that look for marks meanwhile wait for
 * this block, too.  Unless it was modified again: who does that looks for the mark afterwards.
 */
static void unmark(struct weft_regions *regions, u32 id, struct weft_block *blk)
{
	u64 index = weft_line_index(blk->line.key);
	struct weft_region *region;
	bool again;

	rcu_read_lock();
	region = weft_region_find(regions, id);
	if (region) {
		xa_clear_mark(&region->blocks, index, WEFT_THROUGH_MARK);
		spin_lock_bh(&blk->lock);
		again = blk->modified;
		spin_unlock_bh(&blk->lock);
		if (again)
			xa_set_mark(&region->blocks, index, WEFT_THROUGH_MARK);
	}
	rcu_read_unlock();
}

static int finish_marked(struct weft_regions *regions, u32 id, struct weft_block **blk, int n,
			 unsigned long end)
{
	int i, err = 0;

	for (i = 0; i < n; i++) {
		if (!err)
			err = finish(blk[i], end);
		if (!err)
			unmark(regions, id, blk[i]);
		weft_block_put(blk[i]);
	}
	return err;
}

int weft_clean_marked(struct weft_regions *regions, u32 id, unsigned long end)
{
	struct weft_block *blk[AT_A_TIME];
	int n, err = 0;
	u64 index = 0;
	u32 seen;

	do {
		for (n = 0; n < AT_A_TIME; n++, index++) {
			blk[n] = next_marked(regions, id, &index);
			if (!blk[n])
				break;
			weft_block_clean(blk[n], &seen);
		}
		err = finish_marked(regions, id, blk, n, end);
	} while (!err && n == AT_A_TIME);
	return err;
}
