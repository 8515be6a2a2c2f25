// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cache as a whole: which blocks there are, and keeping them within the size
 * that was mounted with.
 *
 * Blocks that hold nothing go first, then the one that was not used for longest,
 * with a second chance for those that a fault or a copy used since.  Eviction
 * begins in the background while there is still room.
 */
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "cache.h"
#include "compat.h"
#include "inode.h"
#include "node.h"
#include "stats.h"

#define ROOM_MS		10	/* look again, if nobody wakes us */
#define FULL_MS		2000	/* nothing at all moves: the cache is full */
#define BATCH		32

struct weft_cache weft_cache = {
	.lru_lock = __SPIN_LOCK_UNLOCKED(weft_cache.lru_lock),
	.lru = LIST_HEAD_INIT(weft_cache.lru),
	.free = LIST_HEAD_INIT(weft_cache.free),
	.room = __WAIT_QUEUE_HEAD_INITIALIZER(weft_cache.room),
};

static struct shrinker *shrinker;

static unsigned long pages_in_use(void)
{
	return (unsigned long)max(atomic_long_read(&weft_cache.pages), 0L);
}

/* What the background eviction leaves: an eighth is free. */
static unsigned long low_mark(void)
{
	unsigned long max = READ_ONCE(weft_cache.max_pages);

	return max - max / 8;
}

/* --- lists --------------------------------------------------------------------- */

void weft_cache_add(struct weft_cline *cl)
{
	/* in no list until it is LIVE */
	spin_lock_bh(&weft_cache.lru_lock);
	weft_cache.lines++;
	spin_unlock_bh(&weft_cache.lru_lock);
}

void weft_cache_move(struct weft_cline *cl)
{
	lockdep_assert_held(&cl->lock);
	if (cl->phase != WEFT_CLINE_LIVE)
		return;
	spin_lock(&weft_cache.lru_lock);
	list_move_tail(&cl->lru, cl->free ? &weft_cache.free : &weft_cache.lru);
	spin_unlock(&weft_cache.lru_lock);
	if (cl->free)
		weft_cache_room();
}

void weft_cache_del(struct weft_cline *cl)
{
	spin_lock_bh(&weft_cache.lru_lock);
	list_del_init(&cl->lru);
	weft_cache.lines--;
	spin_unlock_bh(&weft_cache.lru_lock);
	weft_cache_unreserve(cl->nr_pages);
}

/* The next candidate with a reference; it goes to the end of its list. */
static struct weft_cline *next_of(struct list_head *list)
{
	struct weft_cline *cl = NULL;

	spin_lock_bh(&weft_cache.lru_lock);
	if (!list_empty(list)) {
		cl = list_first_entry(list, struct weft_cline, lru);
		list_move_tail(&cl->lru, list);
		if (!refcount_inc_not_zero(&cl->ref))
			cl = NULL;
	}
	spin_unlock_bh(&weft_cache.lru_lock);
	return cl;
}

/* --- making room ------------------------------------------------------------------ */

static unsigned long kill_free(unsigned long pages)
{
	unsigned long done = 0;
	unsigned int failures = 0;

	while (done < pages && failures < BATCH) {
		struct weft_cline *cl = next_of(&weft_cache.free);

		if (!cl)
			break;
		if (weft_cline_kill(cl))
			done += cl->nr_pages;
		else
			failures++;
		weft_cline_put(cl);
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
		struct weft_cline *cl = next_of(&weft_cache.lru);

		if (!cl)
			break;
		if (READ_ONCE(cl->used))
			WRITE_ONCE(cl->used, false);
		else if (weft_cline_evict(cl))
			done += cl->nr_pages;
		weft_cline_put(cl);
		cond_resched();
	}
	return done;
}

static void evict_work(struct work_struct *work)
{
	unsigned long used, rounds = 1000;

	while (rounds-- && (used = pages_in_use()) > low_mark()) {
		if (!evict_pages(min_t(unsigned long, used - low_mark(), BATCH)))
			break; /* whatever comes free queues us again */
		cond_resched();
	}
	wake_up_all(&weft_cache.room);
}

void weft_cache_room(void)
{
	if (pages_in_use() > low_mark())
		queue_work(weft_cache.evict_wq, &weft_cache.evict);
	if (wq_has_sleeper(&weft_cache.room))
		wake_up_all(&weft_cache.room);
}

static atomic_t *putting_to(const struct weft_cline *cl)
{
	return &weft_cache.putting_to[weft_node_home(cl->line.key) - WEFT_BLADE_MIN];
}

void weft_cache_put_begins(struct weft_cline *cl)
{
	lockdep_assert_held(&cl->lock);
	cl->putting = true;
	atomic_inc(&weft_cache.putting);
	atomic_inc(putting_to(cl));
}

void weft_cache_put_ends(struct weft_cline *cl)
{
	lockdep_assert_held(&cl->lock);
	cl->putting = false;
	atomic_dec(&weft_cache.putting);
	atomic_dec(putting_to(cl));
	weft_cache_room();
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
			pages_in_use() + pages <= READ_ONCE(weft_cache.max_pages),
			msecs_to_jiffies(ROOM_MS));
	}
	if (pages_in_use() > low_mark())
		queue_work(weft_cache.evict_wq, &weft_cache.evict);
	return 0;
}

void weft_cache_unreserve(unsigned long pages)
{
	atomic_long_sub(pages, &weft_cache.pages);
	if (wq_has_sleeper(&weft_cache.room))
		wake_up_all(&weft_cache.room);
}

/* --- memory pressure ------------------------------------------------------------- */

static unsigned long shrink_count(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long used = pages_in_use();

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

void weft_cache_status(struct weft_node_status *status)
{
	status->lines = READ_ONCE(weft_cache.lines);
	status->cache_bytes = (u64)pages_in_use() << PAGE_SHIFT;
	status->cache_max = (u64)READ_ONCE(weft_cache.max_pages) << PAGE_SHIFT;
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
