// SPDX-License-Identifier: GPL-2.0-only
/* Blocks in flight, see flight.h. */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>

#include "base/stats.h"
#include "blocks/cache.h"
#include "blocks/flight.h"

#define CALM_LIMIT	HZ	/* a home that takes nothing delays a read by so much at most */

void weft_flight_init(struct weft_cache *cache)
{
	struct weft_flight *f;
	u32 i;

	for (i = 0; i < 2 * WEFT_BLADES; i++) {
		f = i < WEFT_BLADES ? &cache->from[i] : &cache->to[i - WEFT_BLADES];
		spin_lock_init(&f->lock);
		weft_window_init(&f->window);
		init_waitqueue_head(&f->calm);
	}
}

/* --- a window, with its lock ------------------------------------------------------------- */

static bool has_room(struct weft_flight *f, u32 bytes)
{
	struct weft_window *w = &f->window;
	u32 flight = READ_ONCE(w->flight);

	if (!flight || (u64)flight + bytes <= READ_ONCE(w->size))
		return true;
	/* the caller takes nothing that would fail: tell the window here */
	if (!READ_ONCE(w->pressed))
		WRITE_ONCE(w->pressed, true);
	return false;
}

static bool take(struct weft_flight *f, u32 bytes)
{
	bool ok;

	spin_lock_bh(&f->lock);
	ok = weft_window_take(&f->window, bytes);
	spin_unlock_bh(&f->lock);
	return ok;
}

static void force(struct weft_flight *f, u32 bytes)
{
	spin_lock_bh(&f->lock);
	weft_window_force(&f->window, bytes);
	spin_unlock_bh(&f->lock);
}

static void needless(struct weft_flight *f)
{
	spin_lock_bh(&f->lock);
	weft_window_needless(&f->window);
	spin_unlock_bh(&f->lock);
}

/* Losses of others may keep the window small: these bytes keep a home busy. */
static bool is_calm(const struct weft_flight *f)
{
	return READ_ONCE(f->homing) <
	       max_t(u32, READ_ONCE(f->window.size), 2 * WEFT_WINDOW_FIRST);
}

/*
 * Bytes are in flight no longer; @homing of them were still missing at their home.  @asked: when
 * they were requested, ns, for a sample of the round trip; 0: they did not come, or the request
 * was repeated.
 */
static void end(struct weft_flight *f, u32 bytes, u32 homing, u64 asked)
{
	u64 now = ktime_get_ns();

	spin_lock_bh(&f->lock);
	weft_window_give(&f->window, bytes);
	if (asked) {
		weft_window_answered(&f->window, bytes, now - asked, now);
		if (asked > f->newest)
			WRITE_ONCE(f->newest, asked);
	}
	if (homing)
		WRITE_ONCE(f->homing, f->homing - min(homing, f->homing));
	spin_unlock_bh(&f->lock);
	if (homing && wq_has_sleeper(&f->calm) && is_calm(f))
		wake_up_all(&f->calm);
}

/* --- from a home --------------------------------------------------------------------------- */

static u32 bytes_of(const struct weft_block *blk)
{
	return blk->nr_pages << PAGE_SHIFT;
}

static u8 home_of(const struct weft_block *blk)
{
	return weft_node_home(blk->cache->node, blk->line.key);
}

/*
 * The windows of a home.  A block that is counted stays in the window of @from or @to, though its
 * region may have got another home.
 */
static struct weft_flight *window_from(const struct weft_block *blk, u8 home)
{
	return &blk->cache->from[home - WEFT_BLADE_MIN];
}

static struct weft_flight *window_to(const struct weft_block *blk, u8 home)
{
	return &blk->cache->to[home - WEFT_BLADE_MIN];
}

u32 weft_flight_size(const struct weft_cache *cache, u32 home)
{
	return READ_ONCE(cache->from[home - WEFT_BLADE_MIN].window.size);
}

bool weft_flight_room(const struct weft_region *region, u64 index)
{
	u64 key = weft_line_key(region->id, WEFT_KIND_PAGE, index);
	u32 home = weft_node_home(region->cache->node, key);

	return has_room(&region->cache->from[home - WEFT_BLADE_MIN], weft_region_block(region));
}

bool weft_flight_early(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->flying)
		return true;
	blk->from = home_of(blk);
	blk->flying = take(window_from(blk, blk->from), bytes_of(blk));
	return blk->flying;
}

void weft_flight_begin(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->flying || blk->line.state != WEFT_I)
		return;
	blk->from = home_of(blk);
	force(window_from(blk, blk->from), bytes_of(blk));
	blk->flying = true;
}

/* The block is here, and another node is writing it home. */
static void begin_homing(struct weft_block *blk)
{
	struct weft_flight *f = window_from(blk, blk->from);

	blk->homing = true;
	spin_lock_bh(&f->lock);
	WRITE_ONCE(f->homing, f->homing + bytes_of(blk));
	spin_unlock_bh(&f->lock);
}

void weft_flight_follow(struct weft_block *blk)
{
	bool came = blk->line.state != WEFT_I, once = blk->repeated < blk->asked;

	lockdep_assert_held(&blk->lock);
	/* until the block is at home: readers that went on asking would flood the home */
	if (!blk->flying)
		return;
	if (blk->line.op == WEFT_OP_GETS && came && !blk->homing)
		begin_homing(blk);
	if (blk->line.op == WEFT_OP_GETS || blk->line.op == WEFT_OP_GETM)
		return;
	end(window_from(blk, blk->from), bytes_of(blk), blk->homing ? bytes_of(blk) : 0,
	    came && once ? blk->asked : 0);
	blk->flying = false;
	blk->homing = false;
}

void weft_flight_calm(const struct weft_block *blk)
{
	struct weft_flight *f = window_from(blk, home_of(blk));

	/* a hint without the lock: only a block that has to be asked for waits */
	if (READ_ONCE(blk->line.state) != WEFT_I || READ_ONCE(blk->line.op) != WEFT_OP_NONE)
		return;
	if (!is_calm(f))
		wait_event_killable_timeout(f->calm, is_calm(f), CALM_LIMIT);
}

bool weft_flight_overtaken(const struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	return blk->flying &&
	       READ_ONCE(window_from(blk, blk->from)->newest) > max(blk->asked, blk->repeated);
}

/* --- home ------------------------------------------------------------------------------------ */

void weft_flight_home_begin(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->flushing = blk->dirty || blk->line.state == WEFT_M;
	if (blk->flushing)
		force(window_to(blk, blk->to), bytes_of(blk));
}

void weft_flight_home_end(struct weft_block *blk)
{
	bool once = blk->repeated < blk->asked;

	lockdep_assert_held(&blk->lock);
	if (!blk->flushing)
		return;
	blk->flushing = false;
	end(window_to(blk, blk->to), bytes_of(blk), 0, once ? blk->asked : 0);
}

void weft_flight_home_moves(struct weft_block *blk, u8 home)
{
	lockdep_assert_held(&blk->lock);
	if (blk->flushing)
		end(window_to(blk, blk->to), bytes_of(blk), 0, 0);
	blk->to = home;
	if (blk->flushing)
		force(window_to(blk, blk->to), bytes_of(blk));
}

bool weft_flight_home_room(const struct weft_block *blk)
{
	return has_room(window_to(blk, home_of(blk)), bytes_of(blk));
}

/* --- losses --------------------------------------------------------------------------------- */

/*
 * Cut the window for read-ahead and write-backs only.  A miss of a program is repeated as soon as
 * it takes longer than usual, which on a busy machine does not show a loss.
 */
void weft_flight_lost(struct weft_block *blk)
{
	struct weft_flight *f = blk->flying && blk->early ? window_from(blk, blk->from) :
				blk->flushing ? window_to(blk, blk->to) : NULL;
	bool cut;

	lockdep_assert_held(&blk->lock);
	if (!f)
		return;
	spin_lock_bh(&f->lock);
	cut = weft_window_lost(&f->window, blk->asked, ktime_get_ns());
	spin_unlock_bh(&f->lock);
	if (cut)
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_WINDOW_CUTS);
}

void weft_flight_needless(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	switch (blk->doubt_op) {
	case WEFT_OP_GETS:
	case WEFT_OP_GETM:
		needless(window_from(blk, home_of(blk)));
		break;
	case WEFT_OP_PUT:
		needless(window_to(blk, home_of(blk)));
		break;
	}
}
