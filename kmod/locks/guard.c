// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of the blocks that a lock guards.  Made for bind.c, read by the other files of this
 * folder.  Sleeps only in weft_guard_make(), which may ask the catalog; changes no block.
 */
#include <linux/bsearch.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "blocks/region.h"
#include "locks/guard.h"

static int by_index(const void *left, const void *right)
{
	u64 a = *(const u64 *)left, b = *(const u64 *)right;

	return a < b ? -1 : a > b;
}

/*
 * Which blocks a range of bytes covers: a lock guards whole blocks, even if a range ends inside
 * one.  Return: 0; -EINVAL: the range is empty or ends behind the region; errors of asking for
 * the size.
 */
static int to_blocks(struct weft_region *region, const struct weft_lock_range *r,
		     u64 *first, u64 *last)
{
	u64 end;
	int err;

	if (!r->length || check_add_overflow(r->offset, r->length - 1, &end))
		return -EINVAL;
	*first = r->offset >> region->block_shift;
	*last = end >> region->block_shift;
	if (*last << region->block_shift < weft_region_size(region))
		return 0;
	/* another node may have made the region larger */
	err = region->refresh(region);
	if (err)
		return err;
	return *last << region->block_shift < weft_region_size(region) ? 0 : -EINVAL;
}

/* Insert the block in order, once.  Return: false: the list is full. */
static bool insert(struct weft_guard *guard, u64 block)
{
	if (weft_guard_has(guard, block))
		return true;
	if (guard->n == WEFT_BIND_MAX)
		return false;
	guard->block[guard->n++] = block;
	/* the block is in order already if programs name ranges in order */
	if (guard->n > 1 && guard->block[guard->n - 2] > block)
		sort(guard->block, guard->n, sizeof(u64), by_index, NULL);
	return true;
}

static int fill_guard(struct weft_guard *guard, const struct weft_lock_range *range, u32 n)
{
	u64 block, last;
	u32 i;
	int err;

	for (i = 0; i < n; i++) {
		err = to_blocks(guard->region, &range[i], &block, &last);
		if (err)
			return err;
		if (last - block >= WEFT_BIND_MAX)
			return -E2BIG;
		for (; block <= last; block++)
			if (!insert(guard, block))
				return -E2BIG;
	}
	return 0;
}

struct weft_guard *weft_guard_make(struct weft_region *region,
				   const struct weft_lock_range *range, u32 n)
{
	struct weft_guard *all, *guard;
	int err;

	all = kzalloc(struct_size(all, block, WEFT_BIND_MAX), GFP_KERNEL_ACCOUNT);
	if (!all)
		return ERR_PTR(-ENOMEM);
	refcount_set(&all->ref, 1);
	all->region = region;
	err = fill_guard(all, range, n);
	if (err) {
		kfree(all);
		return ERR_PTR(err);
	}
	/* keep only what is used: most locks guard few blocks */
	guard = kmemdup(all, struct_size(all, block, all->n), GFP_KERNEL_ACCOUNT);
	kfree(all);
	return guard ? guard : ERR_PTR(-ENOMEM);
}

void weft_guard_put(struct weft_guard *guard)
{
	if (guard && refcount_dec_and_test(&guard->ref))
		kfree(guard);
}

bool weft_guard_has(const struct weft_guard *guard, u64 block)
{
	return guard && bsearch(&block, guard->block, guard->n, sizeof(block), by_index);
}
