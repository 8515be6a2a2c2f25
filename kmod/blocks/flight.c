// SPDX-License-Identifier: GPL-2.0-only
/* Blocks that are under way, see flight.h. */
#include "base/stats.h"
#include "blocks/cache.h"
#include "blocks/flight.h"
#include "net/underway.h"

static u32 bytes_of(const struct weft_block *blk)
{
	return blk->nr_pages << PAGE_SHIFT;
}

static u8 home_of(const struct weft_block *blk)
{
	return weft_node_home(blk->cache->node, blk->line.key);
}

static struct weft_underway *from_home(const struct weft_block *blk)
{
	return weft_node_underway(blk->cache->node, home_of(blk));
}

/* In whose window it is: what was counted there is taken out there. */
static struct weft_underway *flying_from(const struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	return weft_node_underway(blk->cache->node, blk->from);
}

bool weft_flight_early(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->flying)
		return true;
	blk->from = home_of(blk);
	blk->flying = weft_underway_take(flying_from(blk), bytes_of(blk));
	return blk->flying;
}

void weft_flight_begin(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->flying || blk->line.state != WEFT_I)
		return;
	blk->from = home_of(blk);
	weft_underway_force(flying_from(blk), bytes_of(blk));
	blk->flying = true;
}

void weft_flight_follow(struct weft_block *blk)
{
	bool came = blk->line.state != WEFT_I, once = blk->repeated < blk->asked;

	lockdep_assert_held(&blk->lock);
	/* a reader has it before it is at home: who asks on meanwhile floods the home */
	if (!blk->flying)
		return;
	if (blk->line.op == WEFT_OP_GETS && came && !blk->homing) {
		blk->homing = true;
		weft_underway_homing(flying_from(blk), bytes_of(blk));
	}
	if (blk->line.op == WEFT_OP_GETS || blk->line.op == WEFT_OP_GETM)
		return;
	weft_underway_done(flying_from(blk), bytes_of(blk), blk->homing,
			   came && once ? blk->asked : 0);
	blk->flying = false;
	blk->homing = false;
}

void weft_flight_calm(const struct weft_block *blk)
{
	/* without a lock: what comes with nothing to be asked for waits for nothing */
	if (READ_ONCE(blk->line.state) == WEFT_I && READ_ONCE(blk->line.op) == WEFT_OP_NONE)
		weft_underway_calm(from_home(blk));
}

static struct weft_underway *to_home(const struct weft_block *blk)
{
	return weft_node_homeward(blk->cache->node, home_of(blk));
}

static struct weft_underway *going_to(const struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	return weft_node_homeward(blk->cache->node, blk->to);
}

void weft_flight_home_begin(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->homeward = blk->dirty || blk->line.state == WEFT_M;
	if (blk->homeward)
		weft_underway_force(going_to(blk), bytes_of(blk));
}

void weft_flight_home_end(struct weft_block *blk)
{
	bool once = blk->repeated < blk->asked;

	lockdep_assert_held(&blk->lock);
	if (!blk->homeward)
		return;
	blk->homeward = false;
	weft_underway_done(going_to(blk), bytes_of(blk), false, once ? blk->asked : 0);
}

void weft_flight_home_moves(struct weft_block *blk, u8 to)
{
	lockdep_assert_held(&blk->lock);
	if (blk->homeward)
		weft_underway_done(going_to(blk), bytes_of(blk), false, 0);
	blk->to = to;
	if (blk->homeward)
		weft_underway_force(going_to(blk), bytes_of(blk));
}

bool weft_flight_home_room(const struct weft_block *blk)
{
	return weft_underway_room(to_home(blk), bytes_of(blk));
}

bool weft_flight_overtaken(const struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	return blk->flying &&
	       weft_underway_overtaken(flying_from(blk), max(blk->asked, blk->repeated));
}

/*
 * A miss that a program waits for is repeated as soon as it takes longer than usual, which on
 * a busy machine says nothing about the way; what nobody waits for has more patience.
 */
void weft_flight_lost(struct weft_block *blk)
{
	struct weft_underway *under = blk->flying && blk->early ? flying_from(blk) :
				      blk->homeward ? going_to(blk) : NULL;

	lockdep_assert_held(&blk->lock);
	if (under && weft_underway_lost(under, blk->asked))
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_WINDOW_CUTS);
}

void weft_flight_needless(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	switch (blk->doubt_op) {
	case WEFT_OP_GETS:
	case WEFT_OP_GETM:
		weft_underway_needless(from_home(blk));
		break;
	case WEFT_OP_PUT:
		weft_underway_needless(to_home(blk));
		break;
	}
}
