// SPDX-License-Identifier: GPL-2.0-only
/* References to blocks, and the table of a region that finds them; see block.h. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "blocks/block.h"
#include "blocks/region.h"

void weft_block_put(struct weft_block *blk)
{
	u32 i;

	if (!refcount_dec_and_test(&blk->ref))
		return;
	WARN_ON_ONCE(blk->flying || blk->flushing || blk->offer.posted || blk->offer.parked);
	/* not earlier: whoever has a reference may lock the pages to find the block DEAD */
	for (i = 0; i < blk->nr_folios; i++)
		if (blk->pages[i])
			put_page(blk->pages[i]);
	/* a lookup in softirq may still read @ref */
	kfree_rcu(blk, rcu);
}

struct weft_block *weft_block_of_contents(struct weft_contents *contents)
{
	return container_of(contents, struct weft_block, contents);
}

static void get_contents(struct weft_contents *contents)
{
	refcount_inc(&weft_block_of_contents(contents)->ref);
}

static void put_contents(struct weft_contents *contents)
{
	weft_block_put(weft_block_of_contents(contents));
}

void weft_block_init_contents(struct weft_block *blk)
{
	blk->contents = (struct weft_contents){
		.pages = blk->pages,
		.size = blk->nr_pages << PAGE_SHIFT,
		.get = get_contents,
		.put = put_contents,
	};
}

struct weft_contents *weft_block_contents(struct weft_block *blk)
{
	refcount_inc(&blk->ref);
	return &blk->contents;
}

struct weft_block *weft_block_find(struct weft_region *region, u64 index)
{
	struct weft_block *blk;

	rcu_read_lock();
	blk = xa_load(&region->blocks, index);
	if (blk && !refcount_inc_not_zero(&blk->ref))
		blk = NULL;
	rcu_read_unlock();
	return blk;
}

struct weft_block *weft_block_next(struct weft_region *region, u64 *index)
{
	unsigned long at = *index;
	struct weft_block *blk;

	rcu_read_lock();
	do {
		blk = xa_find(&region->blocks, &at, ULONG_MAX, XA_PRESENT);
	} while (blk && !refcount_inc_not_zero(&blk->ref) && at++ < ULONG_MAX);
	rcu_read_unlock();
	*index = at;
	return blk;
}

void weft_block_set_phase(struct weft_block *blk, u8 phase)
{
	spin_lock_bh(&blk->lock);
	blk->phase = phase;
	spin_unlock_bh(&blk->lock);
	wake_up_all(&blk->wait);
}

void weft_block_wake(struct weft_block *blk)
{
	WRITE_ONCE(blk->wakes, blk->wakes + 1);
	/* pairs with prepare_to_wait() of weft_block_wait() */
	if (wq_has_sleeper(&blk->wait))
		wake_up_all(&blk->wait);
}
