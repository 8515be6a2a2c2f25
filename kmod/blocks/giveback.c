// SPDX-License-Identifier: GPL-2.0-only
/* A block is given back, or up; see giveback.h. */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/wait.h>

#include "base/stats.h"
#include "base/trace.h"
#include "blocks/bound.h"
#include "blocks/cache.h"
#include "blocks/giveback.h"
#include "blocks/pages.h"
#include "blocks/region.h"
#include "blocks/step.h"
#include "core/controller.h"
#include "net/node.h"
#include "net/outbox.h"

void weft_block_take_apart(struct weft_block *blk)
{
	struct weft_region *region = blk->region;
	u64 index = weft_line_index(blk->line.key);
	loff_t start = (loff_t)index << region->block_shift;

	truncate_inode_pages_range(region->mapping, start,
				   start + weft_region_block(region) - 1);
	atomic_dec(&region->nr_blocks);
	xa_erase(&region->blocks, index);
	/* from here on the region may go: it waits for this in weft_cache.room */
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

/* mlock() keeps a block in the cache; others may still take it. */
static bool locked_in_memory(const struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_pages; i++)
		if (folio_test_mlocked(page_folio(blk->pages[i])))
			return true;
	return false;
}

static bool may_evict(const struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	return blk->phase == WEFT_BLOCK_LIVE && !blk->pins &&
	       !(blk->fresh && blk->keep > ktime_get_ns()) &&
	       !locked_in_memory(blk);
}

bool weft_block_evict(struct weft_block *blk)
{
	bool modified, done = false;
	struct weft_outbox outbox;
	struct weft_out out;

	if (READ_ONCE(blk->nowhere)) {
		weft_block_forget(blk);
		return true;
	}
	weft_outbox_init(&outbox, blk->cache->node);
	spin_lock_bh(&blk->lock);
	if (!may_evict(blk))
		goto out;
	modified = blk->line.state == WEFT_M;
	done = weft_line_evict(&blk->line, true, weft_node_seq(blk->cache->node), &out);
	if (!done)
		goto out;
	weft_stat_inc(weft_block_counters(blk), modified ? WEFT_STAT_EVICTED_MODIFIED :
				 WEFT_STAT_EVICTED_CLEAN);
	blk->keep = 0;
	blk->losses = 0;
	weft_cache_put_begins(blk);
	trace_weft_evict(&blk->line);
	weft_step(blk, &out, NULL, &outbox);
out:
	spin_unlock_bh(&blk->lock);
	weft_outbox_send(&outbox);
	/* it may have been free before, or be it now */
	return weft_block_kill(blk) || done;
}

/* Is data of this block on its way home? */
static bool writing_home(const struct weft_line *l)
{
	return l->held || l->op == WEFT_OP_CLEAN || l->op == WEFT_OP_PUT ||
	       l->revoking;
}

int weft_block_clean(struct weft_block *blk, u32 *seen)
{
	struct weft_outbox outbox;
	struct weft_out out;
	int ret = 0;

	weft_outbox_init(&outbox, blk->cache->node);
	if (READ_ONCE(blk->phase) != WEFT_BLOCK_LIVE)
		return 0;
	weft_pages_lock(blk);
	spin_lock_bh(&blk->lock);
	*seen = blk->wakes;
	if (blk->phase != WEFT_BLOCK_LIVE)
		ret = 0;
	else if (!weft_line_idle(&blk->line))
		ret = blk->dirty || writing_home(&blk->line) ? -EAGAIN : 0;
	else if (blk->line.state == WEFT_M && blk->dirty)
		ret = 1;
	spin_unlock_bh(&blk->lock);
	if (ret <= 0)
		goto out;

	/* later writes fault again, and so make it dirty again */
	weft_pages_protect(blk);
	spin_lock_bh(&blk->lock);
	*seen = blk->wakes;
	if (weft_line_clean(&blk->line, weft_node_seq(blk->cache->node), &out)) {
		blk->dirty = false;
		blk->losses = 0;
		weft_step(blk, &out, NULL, &outbox);
	} else {
		ret = -EAGAIN;
	}
	spin_unlock_bh(&blk->lock);
out:
	weft_pages_unlock(blk);
	weft_outbox_send(&outbox);
	return ret;
}

void weft_block_forget(struct weft_block *blk)
{
	struct weft_outbox outbox;
	struct weft_out out;

	weft_outbox_init(&outbox, blk->cache->node);
	if (!live(blk))
		return;
	weft_pages_lock(blk);
	/* before the state goes: from then on others are told that nobody has it here */
	weft_pages_unmap(blk);
	spin_lock_bh(&blk->lock);
	if (blk->phase == WEFT_BLOCK_LIVE) {
		weft_line_forget(&blk->line, &out);
		blk->backoff_at = 0;
		blk->waiting = false;
		weft_bound_forget(blk);
		WRITE_ONCE(blk->fails, blk->fails + 1);
		/* what came since they were unmapped may have set it again */
		weft_pages_clear_uptodate(blk);
		weft_step(blk, &out, NULL, &outbox);
	}
	spin_unlock_bh(&blk->lock);
	weft_pages_unlock(blk);
	weft_outbox_send(&outbox);
	weft_block_kill(blk);
}

bool weft_block_renew(struct weft_block *blk, bool force)
{
	struct weft_outbox outbox;
	struct weft_out out;
	bool returns;

	weft_outbox_init(&outbox, blk->cache->node);
	if (!live(blk))
		return true;
	weft_pages_lock(blk);
	/* what programs write until here is in what goes home */
	weft_pages_unmap(blk);
	/* a device that only reads what it has pinned takes nothing from anybody */
	if (!force && READ_ONCE(blk->line.state) == WEFT_M && weft_pages_pinned(blk)) {
		weft_pages_unlock(blk);
		return false;
	}
	spin_lock_bh(&blk->lock);
	if (blk->phase == WEFT_BLOCK_LIVE) {
		blk->backoff_at = 0;
		blk->waiting = false;
		blk->losses = 0;
		weft_bound_forget(blk);
		returns = weft_line_returning(&blk->line);
		if (weft_line_return(&blk->line, weft_node_seq(blk->cache->node), &out) &&
		    !blk->putting)
			weft_cache_put_begins(blk);
		if (!returns && weft_line_returning(&blk->line))
			atomic64_inc(&blk->cache->renewed);
		/* what came since they were unmapped may have set it again */
		weft_pages_clear_uptodate(blk);
		weft_step(blk, &out, NULL, &outbox);
	}
	spin_unlock_bh(&blk->lock);
	weft_pages_unlock(blk);
	weft_outbox_send(&outbox);
	if (weft_block_kill(blk))
		atomic64_inc(&blk->cache->renewed);
	return true;
}

bool weft_block_lose(struct weft_block *blk)
{
	bool modified;

	spin_lock_bh(&blk->lock);
	modified = blk->phase == WEFT_BLOCK_LIVE &&
		   ((blk->line.state == WEFT_M && blk->dirty) ||
		    weft_line_returning(&blk->line));
	spin_unlock_bh(&blk->lock);
	weft_block_forget(blk);
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
		weft_block_forget(blk);
		weft_block_put(blk);
		first++;
		cond_resched();
	}
}
