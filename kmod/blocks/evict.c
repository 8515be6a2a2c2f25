// SPDX-License-Identifier: GPL-2.0-only
/*
 * Eviction, see evict.h.  Blocks that hold nothing go first, then the least recently used ones,
 * by the second-chance algorithm.  The background begins while there is still room.
 */
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "base/stats.h"
#include "blocks/block.h"
#include "blocks/cache.h"
#include "blocks/evict.h"
#include "blocks/flush.h"
#include "net/node.h"

#define ROOM_MS		10	/* between two looks without a wake-up */
#define FULL_LOOKS	200	/* looks in which nothing moves: the cache is full */
#define BATCH		32

/* The first block of a list, with a reference; it moves to the end. */
static struct weft_block *next_of(struct weft_cache *cache, struct list_head *list)
{
	struct weft_block *blk = NULL;

	spin_lock_bh(&cache->lru_lock);
	if (!list_empty(list)) {
		blk = list_first_entry(list, struct weft_block, lru);
		list_move_tail(&blk->lru, list);
		if (!refcount_inc_not_zero(&blk->ref))
			blk = NULL;
	}
	spin_unlock_bh(&cache->lru_lock);
	return blk;
}

/* --- making room ------------------------------------------------------------------ */

static unsigned long kill_free(struct weft_cache *cache, unsigned long pages)
{
	unsigned long done = 0;
	unsigned int failures = 0;

	while (done < pages && failures < BATCH) {
		struct weft_block *blk = next_of(cache, &cache->free);

		if (!blk)
			break;
		if (weft_block_kill(blk))
			done += blk->nr_pages;
		else
			failures++;
		weft_block_put(blk);
	}
	return done;
}

/*
 * Evict until @pages are free or on their way home, but look at *@looks blocks at most; *@looks
 * receives the rest.
 */
static unsigned long evict_some(struct weft_cache *cache, unsigned long pages,
				unsigned long *looks)
{
	unsigned long done = kill_free(cache, pages);

	for (; done < pages && *looks; --*looks) {
		struct weft_block *blk;

		if (atomic_read(&cache->putting) >= WEFT_PUTTING_MAX)
			break;
		blk = next_of(cache, &cache->lru);
		if (!blk)
			break;
		if (READ_ONCE(blk->used))
			WRITE_ONCE(blk->used, false);
		else if (weft_block_evict(blk))
			done += blk->nr_pages;
		weft_block_put(blk);
		cond_resched();
	}
	return done;
}

/* At most two rounds through the list: the second one finds no second chances. */
static unsigned long evict_pages(struct weft_cache *cache, unsigned long pages)
{
	unsigned long looks = 2 * READ_ONCE(cache->lines);

	return evict_some(cache, pages, &looks);
}

static void evict_work(struct work_struct *work)
{
	struct weft_cache *cache = container_of(work, struct weft_cache, evict);
	unsigned long used, rounds = 1000;

	while (rounds-- && (used = weft_cache_in_use(cache)) > weft_cache_low_mark(cache)) {
		used = min_t(unsigned long, used - weft_cache_low_mark(cache), BATCH);
		if (!evict_pages(cache, used))
			break; /* the next block that comes free queues this work again */
		cond_resched();
	}
	wake_up_all(&cache->room);
}

static bool try_reserve(struct weft_cache *cache, unsigned long pages)
{
	if (atomic_long_add_return(pages, &cache->pages) <= READ_ONCE(cache->max_pages))
		return true;
	atomic_long_sub(pages, &cache->pages);
	return false;
}

static int full(const struct weft_cache *cache)
{
	weft_stat_inc(&cache->node->counters, WEFT_STAT_CACHE_FULL);
	pr_warn_ratelimited("weft: the cache (%lu KiB) is full and everything in it is in use or locked in memory: mount with a larger cache=\n",
			    READ_ONCE(cache->max_pages) << (PAGE_SHIFT - 10));
	return -ENOBUFS;
}

int weft_cache_reserve(struct weft_cache *cache, unsigned long pages, bool may_wait,
		       unsigned long end)
{
	unsigned long began;
	u32 looks = 0;

	if (pages > READ_ONCE(cache->max_pages))
		return full(cache);
	while (!try_reserve(cache, pages)) {
		queue_work(cache->evict_wq, &cache->evict);
		if (!may_wait)
			return -EAGAIN;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (evict_pages(cache, pages) || atomic_read(&cache->putting))
			looks = 0;
		else if (looks >= FULL_LOOKS)
			return full(cache);
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		began = jiffies;
		/* count looks, not time: nothing moves while this machine stands still */
		if (wait_event_killable_timeout(cache->room,
				weft_cache_in_use(cache) + pages <= READ_ONCE(cache->max_pages),
				msecs_to_jiffies(ROOM_MS)))
			looks = 0; /* something moved, even if other threads take the room */
		else
			looks++;
		end += weft_stood_still(began, msecs_to_jiffies(ROOM_MS));
	}
	if (weft_cache_in_use(cache) > weft_cache_low_mark(cache))
		queue_work(cache->evict_wq, &cache->evict);
	return 0;
}

/* --- memory pressure ------------------------------------------------------------- */

static unsigned long shrink_count(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long used = weft_cache_in_use(weft_shrinker_private(s));

	return used ? used : SHRINK_EMPTY;
}

/*
 * The allocating thread waits for this, so it looks at no more than the kernel asks for.  Blocks
 * keep their second chance from one call to the next.
 */
static unsigned long shrink_scan(struct shrinker *s, struct shrink_control *sc)
{
	struct weft_cache *cache = weft_shrinker_private(s);
	unsigned long looks = sc->nr_to_scan, done;

	if (!(sc->gfp_mask & __GFP_FS) || atomic_read(&cache->putting) >= WEFT_PUTTING_MAX)
		return SHRINK_STOP;
	done = evict_some(cache, sc->nr_to_scan, &looks);
	weft_stat_add(&cache->node->counters, WEFT_STAT_SHRINK_ASKED, sc->nr_to_scan);
	weft_stat_add(&cache->node->counters, WEFT_STAT_SHRINK_LOOKED, sc->nr_to_scan - looks);
	return done;
}

/* --- start and stop ---------------------------------------------------------------- */

int weft_cache_start(struct weft_cache *cache, unsigned long max_pages)
{
	int err;

	WRITE_ONCE(cache->max_pages, max_pages);
	cache->shrinker = weft_shrinker_alloc(cache);
	if (!cache->shrinker)
		return -ENOMEM;
	cache->shrinker->count_objects = shrink_count;
	cache->shrinker->scan_objects = shrink_scan;
	err = weft_shrinker_register(cache->shrinker);
	if (err) {
		weft_shrinker_free(cache->shrinker);
		cache->shrinker = NULL;
	}
	return err;
}

/* All inodes are gone, and with them all blocks. */
void weft_cache_stop(struct weft_cache *cache)
{
	weft_shrinker_free(cache->shrinker);
	cache->shrinker = NULL;
	flush_work(&cache->evict);
	flush_workqueue(cache->wq);
	WARN_ON_ONCE(cache->lines || atomic_long_read(&cache->pages) ||
		     atomic_read(&cache->putting) ||
		     atomic_long_read(&cache->expected));
}

void weft_cache_resize(struct weft_cache *cache, unsigned long max_pages)
{
	WRITE_ONCE(cache->max_pages, max_pages);
	weft_cache_room(cache);
}

int weft_cache_init(struct weft_cache *cache, struct weft_node *node)
{
	memset(cache, 0, sizeof(*cache));
	cache->node = node;
	xa_init(&cache->regions.table);
	weft_flight_init(cache);
	spin_lock_init(&cache->lru_lock);
	INIT_LIST_HEAD(&cache->lru);
	INIT_LIST_HEAD(&cache->free);
	init_waitqueue_head(&cache->room);
	INIT_WORK(&cache->evict, evict_work);
	/* other nodes wait for a revocation, and the memory of this one may depend on it */
	cache->wq = alloc_workqueue("weft", WEFT_WQ_PERCPU | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!cache->wq)
		return -ENOMEM;
	cache->evict_wq = alloc_workqueue("weft-evict", WQ_UNBOUND | WQ_MEM_RECLAIM, 1);
	if (!cache->evict_wq) {
		destroy_workqueue(cache->wq);
		return -ENOMEM;
	}
	return 0;
}

void weft_cache_exit(struct weft_cache *cache)
{
	destroy_workqueue(cache->evict_wq);
	destroy_workqueue(cache->wq);
	xa_destroy(&cache->regions.table);
}
