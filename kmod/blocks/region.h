/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A region as the layers below the file system see it: a number, blocks of one size, the pages
 * of one mapping; and the table in which messages find it.  struct weft_inode contains it.
 * fs/lifetime.c adds and removes regions.  Knows nothing of names, owners and modes.
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
 * @n: number of entries
 */
struct weft_regions {
	struct xarray table;
	atomic_t n;
};

/**
 * struct weft_region - a region
 * @cache: holds its blocks
 * @id: its number; 0 for the root directory
 * @block_shift: log2 of the bytes of a block
 * @mapping: its pages
 * @blocks: struct weft_block by index; looked up under RCU
 * @nr_blocks: number of entries of @blocks
 * @untried: blocks with bound.untried set, see struct weft_bound
 * @taken: blocks that its homes have taken back so far
 * @policy: WEFT_POLICY_* and the number of the change (core/call.h); written under
 *	weft_inode.lock, read without it
 * @placed: change of the policy that its homes belong to (fs/policy.h); written under
 *	weft_places.lock, read without it
 * @refresh: asks the catalog for its size; sleeps.  Return: 0 or a negative errno
 *
 * From weft_region_add() on only @blocks, @nr_blocks, @untried, @taken, @policy and @placed
 * change.
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

static inline u32 weft_region_block(const struct weft_region *r)
{
	return 1u << r->block_shift;
}

static inline u32 weft_region_block_pages(const struct weft_region *r)
{
	return 1u << (r->block_shift - PAGE_SHIFT);
}

/* Index of the block that holds a page of the file, and the page's place in that block. */
static inline u64 weft_region_block_of(const struct weft_region *r, pgoff_t page)
{
	return page >> (r->block_shift - PAGE_SHIFT);
}

static inline u32 weft_region_in_block(const struct weft_region *r, pgoff_t page)
{
	return page & (weft_region_block_pages(r) - 1);
}

/* WEFT_POLICY_WRITE_BACK, RELEASE, SYNC or MIRROR. */
static inline u32 weft_region_durability(const struct weft_region *r)
{
	return READ_ONCE(r->policy) & WEFT_POLICY_DURABILITY;
}

/*
 * Has the region write-through?  A modified block is written home before its ownership moves
 * (step.c), so the death of this node loses nothing that another node has seen.
 */
static inline bool weft_through_kept(const struct weft_region *r)
{
	u32 durability = weft_region_durability(r);

	return durability == WEFT_POLICY_RELEASE || durability == WEFT_POLICY_SYNC;
}

/* Bytes of the region as far as this node knows: another node may have made it larger. */
static inline u64 weft_region_size(const struct weft_region *r)
{
	return (u64)i_size_read(r->mapping->host);
}

/* A region without blocks that messages do not find. */
void weft_region_init(struct weft_region *r, struct weft_cache *cache,
		      struct address_space *mapping,
		      int (*refresh)(struct weft_region *region));

/**
 * weft_region_add() - messages find the region from now on
 * @id: its number, not 0
 * @block_shift: log2 of the bytes of a block
 *
 * Process context.  Return: 0 or -ENOMEM.
 */
int weft_region_add(struct weft_regions *regions, struct weft_region *r, u32 id, u8 block_shift);

/*
 * Messages find it no more.  The caller keeps its memory for a grace period.  Process context.
 */
void weft_region_remove(struct weft_regions *regions, struct weft_region *r);

/* The region with number @id, or NULL.  Under rcu_read_lock(). */
static inline struct weft_region *weft_region_find(struct weft_regions *regions, u32 id)
{
	return xa_load(&regions->table, id);
}

/* The first region at or after *id, which is set to its number.  Under rcu_read_lock(). */
struct weft_region *weft_region_next(struct weft_regions *regions, u32 *id);

static inline u32 weft_region_count(const struct weft_regions *regions)
{
	return (u32)atomic_read(&regions->n);
}

#endif /* WEFT_REGION_H */
