// SPDX-License-Identifier: GPL-2.0-only
/* Blocks go home or away, see flush.h. */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/wait.h>

#include "base/stats.h"
#include "base/trace.h"
#include "blocks/bound.h"
#include "blocks/cache.h"
#include "blocks/effects.h"
#include "blocks/flush.h"
#include "blocks/pages.h"
#include "blocks/region.h"
#include "blocks/step.h"
#include "core/controller.h"
#include "net/node.h"
#include "net/outbox.h"

/* --- what is left of dead nodes ------------------------------------------------------------ */

#define AGAIN_NS	(40 * NSEC_PER_MSEC)	/* most answers come sooner */

bool weft_block_gone(struct weft_block *blk, u32 dead)
{
	struct weft_outbox outbox;
	struct weft_out out;
	bool done = true;

	weft_outbox_init(&outbox, blk->cache->node);
	weft_block_begin(blk);
	if (blk->phase == WEFT_BLOCK_LIVE) {
		done = weft_line_gone(&blk->line, dead, &out);
		/* all nodes wait for this: no minimum stay */
		if (!done)
			blk->keep = blk->late = 0;
		weft_block_carry_out(blk, &out, NULL, &outbox);
	}
	weft_block_end(blk, &outbox);
	weft_outbox_send(&outbox);
	if (!done)
		weft_block_take_now(blk);
	return done;
}

/*
 * A blade that was away makes answers slow and the time-out a second long, so a request that is
 * lost as the blade comes back would wait all of that second.
 */
static bool waits_long(const struct weft_block *blk)
{
	return blk->losses || ktime_get_ns() - max(blk->asked, blk->repeated) > AGAIN_NS;
}

void weft_block_again(struct weft_block *blk)
{
	struct weft_outbox outbox;

	weft_outbox_init(&outbox, blk->cache->node);
	weft_block_begin(blk);
	if (blk->phase == WEFT_BLOCK_LIVE && blk->retry_at && waits_long(blk))
		blk->retry_at = ktime_get_ns();
	weft_block_end(blk, &outbox);
	weft_outbox_send(&outbox);
}

/* --- blocks are given back ----------------------------------------------------------------- */

void weft_block_take_apart(struct weft_block *blk)
{
	struct weft_region *region = blk->region;
	u64 index = weft_line_index(blk->line.key);
	loff_t start = (loff_t)index << region->block_shift;

	truncate_inode_pages_range(region->mapping, start,
				   start + weft_region_block(region) - 1);
	atomic_dec(&region->nr_blocks);
	xa_erase(&region->blocks, index);
	/* the region may go from here on: its end waits for this in weft_cache.room */
	weft_cache_del(blk);
	weft_block_set_phase(blk, WEFT_BLOCK_GONE);
	weft_block_put(blk);
}

bool weft_block_kill(struct weft_block *blk)
{
	bool dead;

	spin_lock_bh(&blk->lock);
	dead = blk->phase == WEFT_BLOCK_LIVE && !blk->pins &&
	       blk->line.state == WEFT_I && weft_line_idle(&blk->line);
	if (dead) {
		blk->phase = WEFT_BLOCK_DEAD;
		weft_step_stop(blk);
	}
	spin_unlock_bh(&blk->lock);
	if (dead)
		weft_block_take_apart(blk);
	return dead;
}

static bool live(struct weft_block *blk)
{
	wait_event(blk->wait, READ_ONCE(blk->phase) == WEFT_BLOCK_LIVE ||
			     READ_ONCE(blk->phase) == WEFT_BLOCK_GONE);
	return READ_ONCE(blk->phase) == WEFT_BLOCK_LIVE;
}

/* Take the block away from programs, end its transactions, drop its data. */
static void forget(struct weft_block *blk)
{
	if (!live(blk))
		return;
	spin_lock_bh(&blk->lock);
	blk->forget = true;
	spin_unlock_bh(&blk->lock);
	weft_block_take(blk);
	weft_block_kill(blk);
}

static bool may_evict(const struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	return blk->phase == WEFT_BLOCK_LIVE && !blk->pins &&
	       !(blk->fresh && blk->keep > ktime_get_ns());
}

/* The home had no such line when it was asked last, and no thread asks it again. */
static bool is_nowhere(struct weft_block *blk)
{
	bool nowhere;

	spin_lock_bh(&blk->lock);
	nowhere = blk->nowhere && !blk->pins;
	spin_unlock_bh(&blk->lock);
	return nowhere;
}

bool weft_block_evict(struct weft_block *blk)
{
	struct weft_outbox outbox;
	bool putting, locked;

	if (is_nowhere(blk)) {
		forget(blk);
		return true;
	}
	/* mlock() keeps a block in the cache; other nodes may still take it */
	locked = READ_ONCE(blk->phase) == WEFT_BLOCK_LIVE && weft_pages_mlocked(blk);
	weft_outbox_init(&outbox, blk->cache->node);
	weft_block_begin(blk);
	putting = blk->putting;
	blk->leave = !locked && may_evict(blk);
	weft_block_end(blk, &outbox);
	weft_outbox_send(&outbox);
	/* the block may have been free before, or may have become free */
	return weft_block_kill(blk) || (!putting && READ_ONCE(blk->putting));
}

static bool writing_home(const struct weft_line *l)
{
	return l->held || l->op == WEFT_OP_CLEAN || l->op == WEFT_OP_PUT || l->revoking;
}

/* The return value of weft_block_clean(). */
static int may_clean(const struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->phase != WEFT_BLOCK_LIVE)
		return 0;
	if (!weft_line_idle(&blk->line))
		return blk->dirty || writing_home(&blk->line) ? -EAGAIN : 0;
	return blk->line.state == WEFT_M && blk->dirty;
}

int weft_block_clean(struct weft_block *blk, u32 *seen)
{
	int ret;

	if (READ_ONCE(blk->phase) != WEFT_BLOCK_LIVE)
		return 0;
	spin_lock_bh(&blk->lock);
	*seen = blk->wakes;
	ret = may_clean(blk);
	blk->clean |= ret > 0;
	spin_unlock_bh(&blk->lock);
	/* a later write faults, and so makes the block dirty again */
	if (ret > 0)
		weft_block_take(blk);
	return ret;
}

bool weft_block_renew(struct weft_block *blk, bool force)
{
	bool done;

	if (!live(blk))
		return true;
	spin_lock_bh(&blk->lock);
	blk->flush = force ? WEFT_FLUSH_NOW : WEFT_FLUSH_SOON;
	spin_unlock_bh(&blk->lock);
	/* programs may write until this has unmapped the block; it goes home with those writes */
	weft_block_take(blk);
	spin_lock_bh(&blk->lock);
	done = blk->flush == WEFT_FLUSH_NONE || blk->phase != WEFT_BLOCK_LIVE;
	blk->flush = WEFT_FLUSH_NONE;
	spin_unlock_bh(&blk->lock);
	if (done && weft_block_kill(blk))
		atomic64_inc(&blk->cache->renewed);
	return done;
}

bool weft_block_lose(struct weft_block *blk)
{
	bool modified;

	spin_lock_bh(&blk->lock);
	modified = blk->phase == WEFT_BLOCK_LIVE &&
		   ((blk->line.state == WEFT_M && blk->dirty) ||
		    weft_line_returning(&blk->line));
	spin_unlock_bh(&blk->lock);
	forget(blk);
	atomic64_inc(&blk->cache->renewed);
	return modified;
}

bool weft_block_returning(struct weft_block *blk)
{
	bool ret;

	spin_lock_bh(&blk->lock);
	ret = blk->phase == WEFT_BLOCK_LIVE && weft_line_returning(&blk->line);
	spin_unlock_bh(&blk->lock);
	return ret;
}

void weft_region_drop(struct weft_region *region, u64 first)
{
	struct weft_block *blk;

	while ((blk = weft_block_next(region, &first))) {
		forget(blk);
		weft_block_put(blk);
		first++;
		cond_resched();
	}
}
