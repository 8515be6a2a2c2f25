// SPDX-License-Identifier: GPL-2.0-only
/* Lists and accounting of the blocks of this node, see cache.h. */
#include "blocks/cache.h"
#include "net/node.h"

unsigned long weft_cache_in_use(const struct weft_cache *cache)
{
	return (unsigned long)max(atomic_long_read(&cache->pages), 0L);
}

unsigned long weft_cache_low_mark(const struct weft_cache *cache)
{
	unsigned long max = READ_ONCE(cache->max_pages);

	return max - max / 8; /* an eighth stays free */
}

void weft_cache_add(struct weft_block *blk)
{
	spin_lock_bh(&blk->cache->lru_lock);
	blk->cache->lines++;
	spin_unlock_bh(&blk->cache->lru_lock);
}

void weft_cache_move(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->phase != WEFT_BLOCK_LIVE)
		return;
	spin_lock(&blk->cache->lru_lock);
	list_move_tail(&blk->lru, blk->free ? &blk->cache->free : &blk->cache->lru);
	spin_unlock(&blk->cache->lru_lock);
	if (blk->free)
		weft_cache_room(blk->cache);
}

void weft_cache_del(struct weft_block *blk)
{
	spin_lock_bh(&blk->cache->lru_lock);
	list_del_init(&blk->lru);
	blk->cache->lines--;
	spin_unlock_bh(&blk->cache->lru_lock);
	weft_cache_unreserve(blk->cache, blk->nr_pages);
}

void weft_cache_room(struct weft_cache *cache)
{
	if (weft_cache_in_use(cache) > weft_cache_low_mark(cache))
		queue_work(cache->evict_wq, &cache->evict);
	if (wq_has_sleeper(&cache->room))
		wake_up_all(&cache->room);
}

static atomic_t *putting_to(const struct weft_block *blk)
{
	return &blk->cache->putting_to[blk->to - WEFT_BLADE_MIN];
}

void weft_cache_put_begins(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->putting = true;
	blk->to = weft_node_home(blk->cache->node, blk->line.key);
	atomic_inc(&blk->cache->putting);
	atomic_inc(putting_to(blk));
	weft_flight_home_begin(blk);
}

void weft_cache_put_moves(struct weft_block *blk)
{
	u8 home = weft_node_home(blk->cache->node, blk->line.key);

	lockdep_assert_held(&blk->lock);
	if (blk->to == home)
		return;
	atomic_dec(putting_to(blk));
	weft_flight_home_moves(blk, home);
	atomic_inc(putting_to(blk));
	/* the write-back went to the former home: send it to this one now */
	blk->retry_at = ktime_get_ns();
}

void weft_cache_put_ends(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->putting = false;
	atomic_dec(&blk->cache->putting);
	atomic_dec(putting_to(blk));
	weft_flight_home_end(blk);
	weft_cache_room(blk->cache);
}

void weft_cache_taken(const struct weft_block *blk)
{
	atomic64_inc(&blk->cache->taken[blk->to - WEFT_BLADE_MIN]);
	atomic64_inc(&blk->region->taken);
}

u64 weft_cache_taken_by(const struct weft_cache *cache, u8 blade)
{
	return atomic64_read(&cache->taken[blade - WEFT_BLADE_MIN]);
}

u64 weft_cache_taken_all(const struct weft_cache *cache)
{
	u64 n = 0;
	u32 home;

	for (home = 0; home < WEFT_BLADES; home++)
		n += atomic64_read(&cache->taken[home]);
	return n;
}

void weft_cache_unreserve(struct weft_cache *cache, unsigned long pages)
{
	atomic_long_sub(pages, &cache->pages);
	if (wq_has_sleeper(&cache->room))
		wake_up_all(&cache->room);
}

void weft_cache_status(struct weft_cache *cache, struct weft_cache_status *status)
{
	status->lines = READ_ONCE(cache->lines);
	status->bytes = (u64)weft_cache_in_use(cache) << PAGE_SHIFT;
	status->max = (u64)READ_ONCE(cache->max_pages) << PAGE_SHIFT;
}
