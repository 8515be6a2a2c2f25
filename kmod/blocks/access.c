// SPDX-License-Identifier: GPL-2.0-only
/* Threads find blocks, get permission and use them; see access.h. */
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/stats.h"
#include "blocks/access.h"
#include "blocks/bound.h"
#include "blocks/cache.h"
#include "blocks/clean.h"
#include "blocks/effects.h"
#include "blocks/evict.h"
#include "blocks/flight.h"
#include "blocks/flush.h"
#include "blocks/pages.h"
#include "blocks/region.h"
#include "blocks/step.h"
#include "core/controller.h"
#include "net/node.h"
#include "net/outbox.h"

#define NOWHERE	(~0u)	/* no byte of a block */
#define SLICE	HZ	/* part of a wait that is checked for a machine that stood still */

/* --- life --------------------------------------------------------------------- */

static struct weft_block *block_alloc(struct weft_region *region, u64 index)
{
	u32 nr = weft_region_block_pages(region);
	struct weft_block *blk = kzalloc(struct_size(blk, pages, nr), GFP_KERNEL);

	if (!blk)
		return NULL;
	weft_line_init(&blk->line, weft_line_key(region->id, WEFT_KIND_PAGE, index),
		       region->cache->node->id);
	spin_lock_init(&blk->lock);
	blk->phase = WEFT_BLOCK_NEW;
	refcount_set(&blk->ref, 2); /* for the table and the caller */
	blk->cache = region->cache;
	blk->region = region;
	init_waitqueue_head(&blk->wait);
	INIT_LIST_HEAD(&blk->lru);
	blk->nr_pages = nr;
	blk->nr_folios = nr;
	weft_block_init_contents(blk);
	weft_step_init(blk);
	return blk;
}

static struct weft_block *block_create(struct weft_region *region, u64 index,
				       bool may_wait, unsigned long end)
{
	struct weft_block *blk;
	int err;

	err = weft_cache_reserve(region->cache, weft_region_block_pages(region), may_wait, end);
	if (err)
		return ERR_PTR(err);
	blk = block_alloc(region, index);
	if (!blk) {
		weft_cache_unreserve(region->cache, weft_region_block_pages(region));
		return ERR_PTR(-ENOMEM);
	}
	err = xa_insert(&region->blocks, index, blk, GFP_KERNEL);
	if (err) {
		kfree(blk);
		weft_cache_unreserve(region->cache, weft_region_block_pages(region));
		/* -EBUSY: another thread has made the block */
		return ERR_PTR(err == -EBUSY ? -EAGAIN : err);
	}
	atomic_inc(&region->nr_blocks);
	weft_cache_add(blk);
	err = weft_pages_make(blk);
	if (err) {
		weft_block_set_phase(blk, WEFT_BLOCK_DEAD);
		weft_block_take_apart(blk);
		weft_block_put(blk);
		return ERR_PTR(err);
	}
	weft_block_set_phase(blk, WEFT_BLOCK_LIVE);
	spin_lock_bh(&blk->lock);
	weft_cache_move(blk);
	spin_unlock_bh(&blk->lock);
	return blk;
}

static long time_left(unsigned long end)
{
	long left = (long)(end - jiffies);

	return max(left, 0L);
}

/* Wait until a block that is NEW or DEAD is LIVE or GONE. */
static int wait_phase(struct weft_block *blk, unsigned long end)
{
	long left;

	left = wait_event_killable_timeout(blk->wait,
		READ_ONCE(blk->phase) == WEFT_BLOCK_LIVE ||
		READ_ONCE(blk->phase) == WEFT_BLOCK_GONE, time_left(end));
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

struct weft_block *weft_block_get(struct weft_region *region, u64 index,
				  bool may_wait, unsigned long end)
{
	struct weft_block *blk;
	int err;

	for (;;) {
		blk = weft_block_find(region, index);
		if (!blk) {
			blk = block_create(region, index, may_wait, end);
			if (blk == ERR_PTR(-EAGAIN) && may_wait)
				continue;
			return blk;
		}
		if (READ_ONCE(blk->phase) == WEFT_BLOCK_LIVE)
			return blk;
		err = may_wait ? wait_phase(blk, end) : -EAGAIN;
		weft_block_put(blk);
		if (err)
			return ERR_PTR(err);
	}
}

/* --- permission ------------------------------------------------------------------ */

int weft_block_wait(struct weft_block *blk, u32 seen, unsigned long *end)
{
	unsigned long began;
	long slice, left;

	do {
		began = jiffies;
		slice = min_t(long, time_left(*end), SLICE);
		left = wait_event_killable_timeout(blk->wait,
						   READ_ONCE(blk->wakes) != seen,
						   slice);
		if (left)
			return left < 0 ? -EINTR : 0;
		*end += weft_stood_still(began, slice);
	} while (time_left(*end));
	return -ETIMEDOUT;
}

/*
 * During the minimum stay programs keep their access although an order to give the block up has
 * come: the stay is for that access.
 */
u8 weft_block_may_use(const struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->lost)
		return WEFT_I;
	/* a revocation that waits for a device has unmapped the block already */
	if (blk->waiting && !blk->pin_waits)
		return weft_line_perm_yet(&blk->line);
	return weft_line_perm(&blk->line);
}

static u8 may_use(const struct weft_block *blk)
{
	u8 perm = weft_block_may_use(blk);

	return blk->sealed ? min_t(u8, perm, WEFT_S) : perm;
}

static void want(struct weft_block *blk, u8 perm)
{
	lockdep_assert_held(&blk->lock);
	blk->want = max(blk->want, perm);
}

int weft_block_acquire(struct weft_block *blk, u8 perm, unsigned long end)
{
	struct weft_outbox outbox;
	u32 fails, denials, wakes;
	int err = 0;

	weft_outbox_init(&outbox, blk->cache->node);
	weft_block_begin(blk);
	fails = blk->fails;
	denials = blk->denials;
	blk->pins++;
	blk->ahead = false;
	while (!err) {
		if (blk->phase != WEFT_BLOCK_LIVE)
			err = -ESTALE;
		else if (may_use(blk) >= perm)
			break;
		else if (blk->fails != fails)
			err = -ENXIO;
		else if (blk->denials != denials)
			err = -EIO;
		if (err)
			break;
		wakes = blk->wakes;
		want(blk, perm);
		weft_block_end(blk, &outbox);
		weft_outbox_send(&outbox);
		err = weft_block_wait(blk, wakes, &end);
		weft_block_begin(blk);
	}
	/* the last thread that wanted it has given up: make no request for it */
	if (err && !--blk->pins)
		blk->want = WEFT_I;
	weft_block_end(blk, &outbox);
	weft_outbox_send(&outbox);
	return err;
}

void weft_block_ask(struct weft_block *blk, u8 perm)
{
	struct weft_outbox outbox;

	weft_outbox_init(&outbox, blk->cache->node);
	weft_block_begin(blk);
	if (!blk->pins++)
		weft_block_hurry(blk);
	blk->ahead = false;
	want(blk, perm);
	weft_block_end(blk, &outbox);
	weft_outbox_send(&outbox);
}

bool weft_block_start(struct weft_block *blk, u8 perm)
{
	bool idle;

	spin_lock_bh(&blk->lock);
	idle = blk->phase != WEFT_BLOCK_LIVE || weft_line_idle(&blk->line);
	spin_unlock_bh(&blk->lock);
	if (idle) {
		weft_block_ask(blk, perm);
		weft_block_unpin(blk);
	}
	return idle;
}

bool weft_block_prefetch(struct weft_block *blk, struct weft_outbox *outbox)
{
	bool room = true;

	weft_block_begin(blk);
	if (blk->phase == WEFT_BLOCK_LIVE && blk->line.state == WEFT_I &&
	    weft_line_idle(&blk->line)) {
		room = weft_flight_early(blk);
		if (room) {
			blk->ahead = true;
			want(blk, WEFT_S);
			weft_stat_inc(weft_block_counters(blk), WEFT_STAT_READ_AHEAD);
		}
	}
	weft_block_end(blk, outbox);
	return room;
}

void weft_block_unpin(struct weft_block *blk)
{
	bool room;

	spin_lock_bh(&blk->lock);
	room = !--blk->pins;
	if (room)
		blk->want = WEFT_I;
	spin_unlock_bh(&blk->lock);
	if (room)
		weft_cache_room(blk->cache);
}

bool weft_block_lock_page(struct weft_block *blk, u32 page, u8 perm)
{
	bool ok;

	if (READ_ONCE(blk->phase) != WEFT_BLOCK_LIVE)
		return false; /* pages[] may not be filled */
	lock_page(blk->pages[page]);
	spin_lock_bh(&blk->lock);
	ok = blk->phase == WEFT_BLOCK_LIVE && may_use(blk) >= perm;
	if (ok && perm == WEFT_M) {
		blk->dirty = true;
		blk->modified = true;
		weft_migratory_wrote(&blk->migratory);
	}
	spin_unlock_bh(&blk->lock);
	if (!ok)
		unlock_page(blk->pages[page]);
	else if (perm == WEFT_M)
		weft_clean_mark(blk);
	return ok;
}

/*
 * Begin the minimum stay: the access that the block came for goes ahead.  @at: the byte that the
 * program is about to write to, or NOWHERE.
 */
static void touched(struct weft_block *blk, u8 perm, u32 at)
{
	u64 now = ktime_get_ns();
	u64 hold = (u64)READ_ONCE(blk->cache->node->hold_us) * NSEC_PER_USEC;

	lockdep_assert_held(&blk->lock);
	/* else the block was granted to write, and that fault is still to come */
	if (perm >= blk->line.state) {
		blk->fresh = false;
		blk->keep = now + hold;
	} else if (blk->migratory.guessed) {
		/* unless the node only guessed that the program will write */
		blk->keep = min(blk->keep, now + WEFT_GUESS_US * NSEC_PER_USEC);
	}
	blk->late = 0;
	if (at == NOWHERE)
		return;
	blk->late = now + (blk->keep - now) * WEFT_LATE;
	blk->watch = at;
	blk->was = weft_pages_word(blk, at);
}

static void touch(struct weft_block *blk, u8 perm, u32 at)
{
	struct weft_outbox outbox;

	if (!READ_ONCE(blk->used))
		WRITE_ONCE(blk->used, true);
	if (weft_bound_is_untried(blk))
		weft_bound_touched(blk);
	if (!READ_ONCE(blk->fresh))
		return;
	weft_outbox_init(&outbox, blk->cache->node);
	weft_block_begin(blk);
	touched(blk, perm, at);
	weft_block_end(blk, &outbox);
	weft_outbox_send(&outbox);
}

void weft_block_touched(struct weft_block *blk, u8 perm)
{
	touch(blk, perm, NOWHERE);
}

void weft_block_writes(struct weft_block *blk, u32 at)
{
	touch(blk, WEFT_M, at);
}
