/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A region as the layers below the file system see it: a number, blocks of one size, and
 * the pages of one mapping.  struct weft_inode contains it.
 */
#ifndef WEFT_REGION_H
#define WEFT_REGION_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "weft.h"

struct weft_cache;

/**
 * struct weft_regions - the regions that a node knows
 * @table: struct weft_region by its number; looked up under RCU
 * @n: how many there are
 */
struct weft_regions {
	struct xarray table;
	atomic_t n;
};

void weft_regions_init(struct weft_regions *regions);
void weft_regions_exit(struct weft_regions *regions);

/**
 * struct weft_region - a region
 * @cache: that its blocks are in
 * @id: its number; 0: none (the root directory)
 * @block_shift: log2 of the bytes of a block
 * @mapping: its pages
 * @blocks: struct weft_block by index; looked up under RCU
 * @nr_blocks: how many there are
 * @untried: how many have come with a lock that has learnt that it guards them, and were not
 *	touched yet
 * @taken: how many its homes have taken back so far
 * @policy: WEFT_POLICY_*, and the number of the change that it is of, see core/call.h; written
 *	with weft_inode.lock, read without it
 * @placed: the change of its policy that its homes are of, see fs/policy.h; written with
 *	weft_places.lock, read without it
 * @refresh: asks the catalog for its size; sleeps.  Return: 0 or a negative errno
 *
 * All but @blocks, @nr_blocks, @untried, @taken, @policy and @placed constant from
 * weft_region_add() on.
 */
struct weft_region {
	struct weft_cache *cache;
	u32 id;
	u8 block_shift;
	struct address_space *mapping;
	struct xarray blocks;
	atomic_t nr_blocks;
	atomic_t untried;
	atomic64_t taken;
	u32 policy;
	u32 placed;
	int (*refresh)(struct weft_region *region);
};

/* Bytes of a block. */
static inline u32 weft_region_block(const struct weft_region *r)
{
	return 1u << r->block_shift;
}

static inline u32 weft_region_block_pages(const struct weft_region *r)
{
	return 1u << (r->block_shift - PAGE_SHIFT);
}

/* Number of the block that a page of the file is in, and which page of it. */
static inline u64 weft_region_block_of(const struct weft_region *r, pgoff_t page)
{
	return page >> (r->block_shift - PAGE_SHIFT);
}

static inline u32 weft_region_in_block(const struct weft_region *r, pgoff_t page)
{
	return page & (weft_region_block_pages(r) - 1);
}

/* What is to be with its contents: WEFT_POLICY_WRITE_BACK, RELEASE or SYNC. */
static inline u32 weft_region_durability(const struct weft_region *r)
{
	return READ_ONCE(r->policy) & WEFT_POLICY_DURABILITY;
}

/* Bytes, as this node knows it: another one may have made it larger. */
static inline u64 weft_region_size(const struct weft_region *r)
{
	return (u64)i_size_read(r->mapping->host);
}

/* Without blocks, unknown to messages.  @refresh: see above. */
void weft_region_init(struct weft_region *r, struct weft_cache *cache,
		      struct address_space *mapping,
		      int (*refresh)(struct weft_region *region));

/**
 * weft_region_add() - messages find it from now on
 * @id: its number, not 0
 * @block_shift: log2 of the bytes of a block
 *
 * Process context.  Return: 0 or -ENOMEM.
 */
int weft_region_add(struct weft_regions *regions, struct weft_region *r, u32 id, u8 block_shift);

/* ... and not any more.  Its memory stays for a grace period.  Process context. */
void weft_region_remove(struct weft_regions *regions, struct weft_region *r);

/* The region; NULL if it is not known here.  Under rcu_read_lock(). */
struct weft_region *weft_region_find(struct weft_regions *regions, u32 id);

/* The first one at or after *id, which is set to it.  Under rcu_read_lock(). */
struct weft_region *weft_region_next(struct weft_regions *regions, u32 *id);

/* How many regions are known here. */
u32 weft_region_count(const struct weft_regions *regions);

#endif /* WEFT_REGION_H */
