// SPDX-License-Identifier: GPL-2.0-only
/*
 * Behind the end of a region, see tail.h.
 *
 * Who grows it sees to it: whoever stored there, and whoever has the block, it comes over as for
 * any write.  But other nodes may make the region larger at the same time, and store what is
 * then part of it; none of that must go.  So what is not zero is zeroed if
 *
 *	1. this node has the block to write, and holds its own programs off (blocks/tail.h);
 *	2. the catalog, asked after that, says where the end is;
 *	3. the block has not been away since 1.
 *
 * Then whatever lies behind that end was stored before 2, when that was no part of the region.
 */
#include <linux/highmem.h>
#include <linux/jiffies.h>
#include <linux/pagemap.h>

#include "blocks/access.h"
#include "blocks/tail.h"
#include "fs/fault.h"
#include "fs/inode.h"
#include "fs/tail.h"

/* Return: 0: it is zero; 1: it was @size no more, or the block has been away; -EAGAIN */
static int clear_block(struct weft_inode *wi, struct weft_block *blk, u64 *size)
{
	u32 at = *size & (weft_region_block(&wi->region) - 1), generation;
	u64 now;
	int ret;

	ret = weft_tail_seal(blk, at, &generation);
	if (ret <= 0)
		return ret;
	ret = weft_inode_ask_size(wi, &now);
	if (!ret)
		ret = now != *size || !weft_tail_zero(blk, at, generation);
	if (ret >= 0)
		*size = now;
	weft_tail_unseal(blk);
	return ret;
}

int weft_tail_clear(struct weft_inode *wi)
{
	unsigned long end = weft_wait_end(wi->rack);
	struct weft_block *blk;
	u64 size;
	int ret;

	ret = weft_inode_ask_size(wi, &size);
	if (ret)
		return ret;
	do {
		if (!(size & (weft_region_block(&wi->region) - 1)))
			return 0;
		blk = weft_get_page(wi, (size - 1) >> PAGE_SHIFT, WEFT_M, false, end);
		if (blk == ERR_PTR(-ENXIO)) {
			/* it is smaller by now */
			ret = weft_inode_ask_size(wi, &size);
			if (ret)
				return ret;
			continue;
		}
		if (IS_ERR(blk))
			return PTR_ERR(blk);
		ret = clear_block(wi, blk, &size);
		/* the access is over that it was fetched for */
		weft_block_touched(blk, WEFT_M);
		weft_put_page(blk);
		if (ret <= 0 && ret != -EAGAIN)
			return ret;
	} while (time_before(jiffies, end));
	return -ETIMEDOUT;
}

int weft_tail_cut(struct weft_inode *wi, u64 size)
{
	unsigned long end = weft_wait_end(wi->rack);
	u64 stop = min_t(u64, round_up(size, weft_region_block(&wi->region)),
			 i_size_read(&wi->vfs));

	while (size < stop) {
		pgoff_t page = size >> PAGE_SHIFT;
		u32 in_block = weft_region_in_block(&wi->region, page);
		u32 at = offset_in_page(size);
		u32 n = min_t(u64, PAGE_SIZE - at, stop - size);
		struct weft_block *blk;

		blk = weft_lock_cached(wi, page, WEFT_M);
		if (blk) {
			memzero_page(blk->pages[in_block], at, n);
			weft_block_touched(blk, WEFT_M);
			unlock_page(blk->pages[in_block]);
			weft_block_put(blk);
			size += n;
			continue;
		}
		blk = weft_get_page(wi, page, WEFT_M, false, end);
		if (IS_ERR(blk))
			return PTR_ERR(blk) == -ENXIO ? 0 : PTR_ERR(blk);
		weft_put_page(blk);
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
	}
	return 0;
}
