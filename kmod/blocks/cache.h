/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All blocks of this node: the lists that the eviction goes through, the room that they
 * take, and those that are on their way home.
 */
#ifndef WEFT_CACHE_H
#define WEFT_CACHE_H

#include "blocks/block.h"
#include "blocks/flight.h"
#include "blocks/region.h"
#include "net/config.h"
#include "net/node.h"

struct shrinker;

/* Blocks that the eviction has on their way home at a time. */
#define WEFT_PUTTING_MAX	64

/**
 * struct weft_cache - all blocks of this node
 * @node: that it is of
 * @regions: those of which there are blocks, or may be
 * @lru_lock: @lru, @free, @lines
 * @lru: blocks in use, the oldest first
 * @free: blocks that hold nothing
 * @lines: how many blocks there are, also those that are in no list
 * @pages: pages that they take, or that are reserved for new ones
 * @max_pages: what they may take
 * @room: for a page less, or a block more that may go
 * @evict: keeps room free
 * @putting: blocks that are being written home
 * @putting_to: the same, for each home: one that is silent keeps its own waiting
 * @taken: blocks that each home has taken back so far
 * @from: what is in flight from each home to this node
 * @to: what is in flight to each home
 * @renewed: blocks that renewals of directories are done with here
 * @expected: pages of blocks that are only expected, with locks
 * @shrinker: gives memory back when there is little of it; while something is mounted
 * @wq: revocation; the other end waits for it
 * @evict_wq: eviction
 */
struct weft_cache {
	struct weft_node *node;
	struct weft_regions regions;
	spinlock_t lru_lock;
	struct list_head lru;
	struct list_head free;
	unsigned long lines;
	atomic_long_t pages;
	unsigned long max_pages;
	wait_queue_head_t room;
	struct work_struct evict;
	atomic_t putting;
	atomic_t putting_to[WEFT_BLADES];
	atomic64_t taken[WEFT_BLADES];
	struct weft_flight from[WEFT_BLADES];
	struct weft_flight to[WEFT_BLADES];
	atomic64_t renewed;
	atomic_long_t expected;
	struct shrinker *shrinker;
	struct workqueue_struct *wq;
	struct workqueue_struct *evict_wq;
};

/**
 * struct weft_cache_status - what is in the cache
 * @lines: blocks
 * @bytes: their size
 * @max: bytes that they may take
 */
struct weft_cache_status {
	u64 lines;
	u64 bytes;
	u64 max;
};

static inline const struct weft_counters *weft_block_counters(const struct weft_block *blk)
{
	return &blk->cache->node->counters;
}

void weft_cache_status(struct weft_cache *cache, struct weft_cache_status *status);

/* Put a new block where the eviction finds it, when it is LIVE. */
void weft_cache_add(struct weft_block *blk);

/* Move it to the end of the list that it belongs to. */
void weft_cache_move(struct weft_block *blk) __must_hold(&blk->lock);

/* It is gone. */
void weft_cache_del(struct weft_block *blk);

/* Pages in use or reserved; what the background eviction leaves: an eighth is free. */
unsigned long weft_cache_in_use(const struct weft_cache *cache);
unsigned long weft_cache_low_mark(const struct weft_cache *cache);

/* So many pages less are reserved. */
void weft_cache_unreserve(struct weft_cache *cache, unsigned long pages);

/* Somebody waits for room, and this might be some. */
void weft_cache_room(struct weft_cache *cache);

/*
 * A block begins to be written home; its region has other homes now; it is there.  Which home
 * that counts for is in the block (@to).
 */
void weft_cache_put_begins(struct weft_block *blk) __must_hold(&blk->lock);
void weft_cache_put_moves(struct weft_block *blk) __must_hold(&blk->lock);
void weft_cache_put_ends(struct weft_block *blk) __must_hold(&blk->lock);

/* The home that it was being written to took this block back. */
void weft_cache_taken(const struct weft_block *blk) __must_hold(&blk->lock);

/* How many blocks this home, or all of them, have taken back so far.  Any context. */
u64 weft_cache_taken_by(const struct weft_cache *cache, u8 blade);
u64 weft_cache_taken_all(const struct weft_cache *cache);

#endif /* WEFT_CACHE_H */
