// SPDX-License-Identifier: GPL-2.0-only
/* Look at and zero what lies behind the end of a region, see tail.h. */
#include <linux/highmem.h>
#include <linux/string.h>

#include "blocks/access.h"
#include "blocks/clean.h"
#include "blocks/pages.h"
#include "blocks/region.h"
#include "blocks/tail.h"

/* Bytes of page @i that lie behind byte @at of the block; *@from receives the first of them. */
static u32 behind(u32 i, u32 at, u32 *from)
{
	u32 start = i << PAGE_SHIFT;

	*from = at > start ? at - start : 0;
	return *from < PAGE_SIZE ? PAGE_SIZE - *from : 0;
}

static bool is_zero(const struct weft_block *blk, u32 at)
{
	bool zero = true;
	u32 i, from, n;
	u8 *page;

	for (i = at >> PAGE_SHIFT; i < blk->nr_pages && zero; i++) {
		n = behind(i, at, &from);
		page = kmap_local_page(blk->pages[i]);
		zero = !memchr_inv(page + from, 0, n);
		kunmap_local(page);
	}
	return zero;
}

/* Pages locked, so that the answer holds until they are unlocked. */
static bool may_write(struct weft_block *blk)
{
	bool may;

	spin_lock_bh(&blk->lock);
	may = blk->phase == WEFT_BLOCK_LIVE && weft_block_may_use(blk) == WEFT_M;
	spin_unlock_bh(&blk->lock);
	return may;
}

static void set_sealed(struct weft_block *blk, bool sealed)
{
	spin_lock_bh(&blk->lock);
	blk->sealed = sealed;
	/* threads that wait to write */
	if (!sealed)
		weft_block_wake(blk);
	spin_unlock_bh(&blk->lock);
}

int weft_tail_seal(struct weft_block *blk, u32 at, u32 *generation)
{
	int ret = -EAGAIN;

	if (READ_ONCE(blk->phase) != WEFT_BLOCK_LIVE)
		return ret; /* pages[] may not be filled */
	weft_pages_lock(blk);
	if (may_write(blk))
		ret = !is_zero(blk, at);
	if (ret > 0) {
		set_sealed(blk, true);
		weft_pages_protect(blk);
		*generation = READ_ONCE(blk->contents.generation);
	}
	weft_pages_unlock(blk);
	return ret;
}

bool weft_tail_zero(struct weft_block *blk, u32 at, u32 generation)
{
	u32 i, from, n;
	bool ok;

	weft_pages_lock(blk);
	spin_lock_bh(&blk->lock);
	/* no program has written: it is sealed.  No other node has: the generation is the same */
	ok = blk->phase == WEFT_BLOCK_LIVE && weft_block_may_use(blk) == WEFT_M &&
	     blk->contents.generation == generation;
	if (ok)
		blk->dirty = blk->modified = true;
	spin_unlock_bh(&blk->lock);
	for (i = at >> PAGE_SHIFT; i < blk->nr_pages && ok; i++) {
		n = behind(i, at, &from);
		memzero_page(blk->pages[i], from, n);
	}
	weft_pages_unlock(blk);
	if (ok)
		weft_clean_mark(blk);
	return ok;
}

void weft_tail_unseal(struct weft_block *blk)
{
	set_sealed(blk, false);
}
