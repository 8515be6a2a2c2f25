/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All blocks of this node in a rack: the lists of the eviction, the memory that blocks take, and
 * the blocks on their way home.  blocks/ changes it; fs/, locks/ and control/ read it.  Accounting
 * only: evict.c decides which block goes.
 */
#ifndef WEFT_CACHE_H
#define WEFT_CACHE_H

#include "blocks/block.h"
#include "blocks/flight.h"
#include "blocks/region.h"
#include "net/config.h"
#include "net/node.h"

struct shrinker;

/* Blocks that the eviction writes home at a time. */
#define WEFT_PUTTING_MAX	64

/**
 * struct weft_cache - all blocks of this node
 * @node: this machine in the rack
 * @regions: the regions that blocks may belong to
 * @lru_lock: guards @lru, @free, @lines
 * @lru: blocks in use, the oldest first
 * @free: blocks that hold nothing
 * @lines: number of blocks, also of those in no list
 * @pages: pages of blocks, and pages reserved for new ones
 * @max_pages: limit of @pages
 * @room: waiters for a page less or a block more that may go
 * @evict: background eviction
 * @putting: blocks on their way home
 * @putting_to: the same for each home, so that a silent home delays its own blocks only
 * @taken: blocks that each home has taken back so far
 * @from: what is in flight from each home to this node
 * @to: what is in flight to each home
 * @renewed: blocks that this node has finished for homes that begin anew
 * @expected: pages of blocks with bound.expected
 * @unmet: how many blocks in a row did not come with their locks, see guarded.c; a hint
 * @shrinker: gives memory back under pressure, while something is mounted
 * @wq: revocation, which other nodes wait for
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
	u32 unmet;
	struct shrinker *shrinker;
	struct workqueue_struct *wq;
	struct workqueue_struct *evict_wq;
};

/**
 * struct weft_cache_status - what is in the cache
 * @lines: number of blocks
 * @bytes: memory that they take
 * @max: limit of @bytes
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

/* Count a new block; the first weft_cache_move() puts it into a list. */
void weft_cache_add(struct weft_block *blk);

/* Move a block that is LIVE to the end of the list that it belongs to. */
void weft_cache_move(struct weft_block *blk) __must_hold(&blk->lock);

/* The block is gone. */
void weft_cache_del(struct weft_block *blk);

/* Pages in use or reserved; the level down to which the background evicts. */
unsigned long weft_cache_in_use(const struct weft_cache *cache);
unsigned long weft_cache_low_mark(const struct weft_cache *cache);

void weft_cache_unreserve(struct weft_cache *cache, unsigned long pages);

/* There may be room, or a block that may go: wake those that wait for it. */
void weft_cache_room(struct weft_cache *cache);

/*
 * A block begins to go home; its region has got other homes meanwhile; it is there.  @to of the
 * block names the home that this counts for.
 */
void weft_cache_put_begins(struct weft_block *blk) __must_hold(&blk->lock);
void weft_cache_put_moves(struct weft_block *blk) __must_hold(&blk->lock);
void weft_cache_put_ends(struct weft_block *blk) __must_hold(&blk->lock);

/* The home @to has taken the block back. */
void weft_cache_taken(const struct weft_block *blk) __must_hold(&blk->lock);

/* Number of blocks that this home, or all homes, have taken back so far.  Any context. */
u64 weft_cache_taken_by(const struct weft_cache *cache, u8 blade);
u64 weft_cache_taken_all(const struct weft_cache *cache);

#endif /* WEFT_CACHE_H */
