// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeping the cache within its size, see evict.h.
 *
 * Blocks that hold nothing go first, then the one that was not used for longest,
 * with a second chance for those that a fault or a copy used since.  Eviction
 * begins in the background while there is still room.
 */
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "base/stats.h"
#include "blocks/cache.h"
#include "blocks/evict.h"
#include "blocks/giveback.h"

#define ROOM_MS		10	/* look again, if nobody wakes us */
#define FULL_MS		2000	/* nothing at all moves: the cache is full */
#define BATCH		32

static struct shrinker *shrinker;

/* The next candidate with a reference; it goes to the end of its list. */
static struct weft_block *next_of(struct list_head *list)
{
	struct weft_block *blk = NULL;

	spin_lock_bh(&weft_cache.lru_lock);
	if (!list_empty(list)) {
		blk = list_first_entry(list, struct weft_block, lru);
		list_move_tail(&blk->lru, list);
		if (!refcount_inc_not_zero(&blk->ref))
			blk = NULL;
	}
	spin_unlock_bh(&weft_cache.lru_lock);
	return blk;
}

/* --- making room ------------------------------------------------------------------ */

static unsigned long kill_free(unsigned long pages)
{
	unsigned long done = 0;
	unsigned int failures = 0;

	while (done < pages && failures < BATCH) {
		struct weft_block *blk = next_of(&weft_cache.free);

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
 * Evict until so many pages are free or on their way.  Gives up after one round
 * through the list (two, for second chances).
 */
static unsigned long evict_pages(unsigned long pages)
{
	unsigned long done = kill_free(pages);
	unsigned long left = 2 * READ_ONCE(weft_cache.lines);

	while (done < pages && left-- &&
	       atomic_read(&weft_cache.putting) < WEFT_PUTTING_MAX) {
		struct weft_block *blk = next_of(&weft_cache.lru);

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

static void evict_work(struct work_struct *work)
{
	unsigned long used, rounds = 1000;

	while (rounds-- && (used = weft_cache_in_use()) > weft_cache_low_mark()) {
		if (!evict_pages(min_t(unsigned long, used - weft_cache_low_mark(), BATCH)))
			break; /* whatever comes free queues us again */
		cond_resched();
	}
	wake_up_all(&weft_cache.room);
}

static bool try_reserve(unsigned long pages)
{
	if (atomic_long_add_return(pages, &weft_cache.pages) <=
	    READ_ONCE(weft_cache.max_pages))
		return true;
	atomic_long_sub(pages, &weft_cache.pages);
	return false;
}

static int full(void)
{
	weft_stat_inc(WEFT_STAT_CACHE_FULL);
	pr_warn_ratelimited("weft: the cache (%lu KiB) is full and everything in it is in use or locked in memory: mount with a larger cache=\n",
			    READ_ONCE(weft_cache.max_pages) << (PAGE_SHIFT - 10));
	return -ENOBUFS;
}

int weft_cache_reserve(unsigned long pages, bool may_wait, unsigned long end)
{
	unsigned long moved = jiffies;

	if (pages > READ_ONCE(weft_cache.max_pages))
		return full();
	while (!try_reserve(pages)) {
		queue_work(weft_cache.evict_wq, &weft_cache.evict);
		if (!may_wait)
			return -EAGAIN;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (evict_pages(pages) || atomic_read(&weft_cache.putting))
			moved = jiffies;
		else if (time_after(jiffies, moved + msecs_to_jiffies(FULL_MS)))
			return full();
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		wait_event_killable_timeout(weft_cache.room,
			weft_cache_in_use() + pages <= READ_ONCE(weft_cache.max_pages),
			msecs_to_jiffies(ROOM_MS));
	}
	if (weft_cache_in_use() > weft_cache_low_mark())
		queue_work(weft_cache.evict_wq, &weft_cache.evict);
	return 0;
}

/* --- memory pressure ------------------------------------------------------------- */

static unsigned long shrink_count(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long used = weft_cache_in_use();

	return used ? used : SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long done;

	if (!(sc->gfp_mask & __GFP_FS))
		return SHRINK_STOP;
	done = evict_pages(sc->nr_to_scan);
	return done ? done : SHRINK_STOP;
}

/* --- start and stop ---------------------------------------------------------------- */

int weft_cache_start(unsigned long max_pages)
{
	int err;

	WRITE_ONCE(weft_cache.max_pages, max_pages);
	shrinker = weft_shrinker_alloc();
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = shrink_count;
	shrinker->scan_objects = shrink_scan;
	err = weft_shrinker_register(shrinker);
	if (err) {
		weft_shrinker_free(shrinker);
		shrinker = NULL;
	}
	return err;
}

/* All inodes are gone, and with them all lines. */
void weft_cache_stop(void)
{
	weft_shrinker_free(shrinker);
	shrinker = NULL;
	flush_work(&weft_cache.evict);
	flush_workqueue(weft_cache.wq);
	WARN_ON_ONCE(weft_cache.lines || atomic_long_read(&weft_cache.pages) ||
		     atomic_read(&weft_cache.putting) ||
		     atomic_long_read(&weft_cache.expected));
}

void weft_cache_resize(unsigned long max_pages)
{
	WRITE_ONCE(weft_cache.max_pages, max_pages);
	weft_cache_room();
}

int weft_cache_init(void)
{
	INIT_WORK(&weft_cache.evict, evict_work);
	/* the other end waits, and memory may depend on it */
	weft_cache.wq = alloc_workqueue("weft", WEFT_WQ_PERCPU | WQ_HIGHPRI |
					WQ_MEM_RECLAIM, 0);
	if (!weft_cache.wq)
		return -ENOMEM;
	weft_cache.evict_wq = alloc_workqueue("weft-evict",
					      WQ_UNBOUND | WQ_MEM_RECLAIM, 1);
	if (!weft_cache.evict_wq) {
		destroy_workqueue(weft_cache.wq);
		return -ENOMEM;
	}
	return 0;
}

void weft_cache_exit(void)
{
	destroy_workqueue(weft_cache.evict_wq);
	destroy_workqueue(weft_cache.wq);
	rcu_barrier(); /* lines that are still to be freed */
}
