// SPDX-License-Identifier: GPL-2.0-only
/* All blocks of this node: their lists and how many they are, see cache.h. */
#include "blocks/cache.h"
#include "net/node.h"

struct weft_cache weft_cache = {
	.lru_lock = __SPIN_LOCK_UNLOCKED(weft_cache.lru_lock),
	.lru = LIST_HEAD_INIT(weft_cache.lru),
	.free = LIST_HEAD_INIT(weft_cache.free),
	.room = __WAIT_QUEUE_HEAD_INITIALIZER(weft_cache.room),
};

unsigned long weft_cache_in_use(void)
{
	return (unsigned long)max(atomic_long_read(&weft_cache.pages), 0L);
}

/* What the background eviction leaves: an eighth is free. */
unsigned long weft_cache_low_mark(void)
{
	unsigned long max = READ_ONCE(weft_cache.max_pages);

	return max - max / 8;
}

void weft_cache_add(struct weft_block *blk)
{
	/* in no list until it is LIVE */
	spin_lock_bh(&weft_cache.lru_lock);
	weft_cache.lines++;
	spin_unlock_bh(&weft_cache.lru_lock);
}

void weft_cache_move(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->phase != WEFT_BLOCK_LIVE)
		return;
	spin_lock(&weft_cache.lru_lock);
	list_move_tail(&blk->lru, blk->free ? &weft_cache.free : &weft_cache.lru);
	spin_unlock(&weft_cache.lru_lock);
	if (blk->free)
		weft_cache_room();
}

void weft_cache_del(struct weft_block *blk)
{
	spin_lock_bh(&weft_cache.lru_lock);
	list_del_init(&blk->lru);
	weft_cache.lines--;
	spin_unlock_bh(&weft_cache.lru_lock);
	weft_cache_unreserve(blk->nr_pages);
}

void weft_cache_room(void)
{
	if (weft_cache_in_use() > weft_cache_low_mark())
		queue_work(weft_cache.evict_wq, &weft_cache.evict);
	if (wq_has_sleeper(&weft_cache.room))
		wake_up_all(&weft_cache.room);
}

static u32 home_of(const struct weft_block *blk)
{
	return weft_node_home(blk->line.key) - WEFT_BLADE_MIN;
}

static atomic_t *putting_to(const struct weft_block *blk)
{
	return &weft_cache.putting_to[home_of(blk)];
}

void weft_cache_put_begins(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->putting = true;
	atomic_inc(&weft_cache.putting);
	atomic_inc(putting_to(blk));
}

void weft_cache_put_ends(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->putting = false;
	atomic_dec(&weft_cache.putting);
	atomic_dec(putting_to(blk));
	weft_cache_room();
}

void weft_cache_taken(const struct weft_block *blk)
{
	atomic64_inc(&weft_cache.taken[home_of(blk)]);
}

u64 weft_cache_taken_by(u8 blade)
{
	return atomic64_read(&weft_cache.taken[blade - WEFT_BLADE_MIN]);
}

u64 weft_cache_taken_all(void)
{
	u64 n = 0;
	u32 home;

	for (home = 0; home < WEFT_BLADES; home++)
		n += atomic64_read(&weft_cache.taken[home]);
	return n;
}

void weft_cache_unreserve(unsigned long pages)
{
	atomic_long_sub(pages, &weft_cache.pages);
	if (wq_has_sleeper(&weft_cache.room))
		wake_up_all(&weft_cache.room);
}

void weft_cache_status(struct weft_cache_status *status)
{
	status->lines = READ_ONCE(weft_cache.lines);
	status->bytes = (u64)weft_cache_in_use() << PAGE_SHIFT;
	status->max = (u64)READ_ONCE(weft_cache.max_pages) << PAGE_SHIFT;
}
