// SPDX-License-Identifier: GPL-2.0-only
/* All blocks of a region go home, see homeward.h. */
#include <linux/jiffies.h>

#include "base/event.h"
#include "blocks/flight.h"
#include "blocks/giveback.h"
#include "blocks/pages.h"
#include "fs/homeward.h"
#include "fs/inode.h"
#include "fs/mount.h"
#include "fs/rack.h"

static u32 home_of(const struct weft_block *blk)
{
	return weft_node_home(blk->cache->node, blk->line.key) - WEFT_BLADE_MIN;
}

/* Is it being waited for, and has taken nothing for the time-out? */
static bool silent(const struct weft_rack *rack, struct weft_homeward *way, u32 home)
{
	u64 n = weft_cache_taken_by(&rack->cache, WEFT_BLADE_MIN + home);

	if (!(way->waiting & 1u << home) || way->taken[home] != n) {
		way->waiting |= 1u << home;
		way->taken[home] = n;
		way->since[home] = jiffies;
	}
	return time_after(jiffies, way->since[home] +
			  msecs_to_jiffies(READ_ONCE(rack->node.timeout_ms)));
}

static bool any_silent(const struct weft_rack *rack, struct weft_homeward *way, u32 homes)
{
	u32 home;

	for (home = 0; home < WEFT_BLADES; home++)
		if (homes & 1u << home && silent(rack, way, home))
			return true;
	return false;
}

static bool all_silent(const struct weft_rack *rack, struct weft_homeward *way, u32 homes)
{
	u32 home;

	for (home = 0; home < WEFT_BLADES; home++)
		if (homes & 1u << home && !silent(rack, way, home))
			return false;
	return true;
}

/* Have the devices that write into blocks had their time?  It begins with the first. */
static bool pins_over(struct weft_homeward *way, struct weft_block *blk)
{
	bool pinned = blk->line.state == WEFT_M && weft_pages_pinned(blk);

	if (pinned && !way->pins_end)
		way->pins_end = jiffies + msecs_to_jiffies(WEFT_PIN_WAITS *
					WEFT_PIN_WAIT_US / USEC_PER_MSEC);
	return pinned && time_after(jiffies, way->pins_end);
}

/*
 * One round of giving blocks back.  A home that is silent gets one each round, to see
 * whether it is still so.  Returns the homes for which there are some left.
 */
static u32 give_back(struct weft_inode *wi, struct weft_homeward *way)
{
	struct weft_block *blk;
	u64 index = 0;
	u32 left = 0;

	for (; (blk = weft_block_next(&wi->region, &index)); index++) {
		u32 home = home_of(blk), bit = 1u << home;

		if (left & bit && silent(wi->rack, way, home)) {
			weft_block_put(blk);
			continue;
		}
		if (READ_ONCE(wi->lose) & bit)
			weft_block_lose(blk);
		else if (READ_ONCE(wi->renew) & bit)
			weft_block_renew(blk, pins_over(way, blk));
		else
			weft_block_evict(blk);
		if (READ_ONCE(blk->phase) != WEFT_BLOCK_GONE)
			left |= bit;
		/* so many on their way are enough; those to a silent home stay */
		wait_event_timeout(wi->rack->cache.room,
				   atomic_read(&wi->rack->cache.putting) <
				   WEFT_PUTTING_MAX && weft_flight_home_room(blk),
				   any_silent(wi->rack, way, left) ? 1 : HZ / 10);
		weft_block_put(blk);
	}
	return left;
}

/*
 * Until all blocks are home, or the region is used again.  False: some are left, as
 * their homes are silent.  While the file system is being unmounted, a home that was
 * silent when one inode went is not waited for by the next ones: it all ends within one
 * time-out.
 */
static bool give_all_back(struct weft_inode *wi)
{
	struct weft_mount *m = weft_mount_of(wi->vfs.i_sb);
	struct weft_homeward own = {}, *way = m->leaving ? &m->homeward : &own;
	u32 left, due = 0;
	bool over;

	for (;;) {
		left = give_back(wi, way);
		way->waiting &= ~(due & ~left); /* these have answered */
		due = left;
		/* while nobody used it a program has come back: its blocks are safe with it */
		if (!left || atomic_read(&wi->files))
			return true;
		over = all_silent(wi->rack, way, left);
		wait_event_timeout(wi->rack->cache.room, xa_empty(&wi->region.blocks),
				   HZ / 50);
		if (over && all_silent(wi->rack, way, left))
			return xa_empty(&wi->region.blocks);
	}
}

void weft_homeward_return(struct weft_inode *wi)
{
	struct weft_block *blk;
	u64 index = 0, lost = 0;

	if (give_all_back(wi))
		return;
	for (; (blk = weft_block_next(&wi->region, &index)); index++) {
		lost += blk->line.state == WEFT_M;
		weft_block_put(blk);
	}
	if (!lost)
		return;
	pr_err("weft: region %u: %llu modified blocks could not be written home and are lost: the memory blade does not answer\n",
	       wi->region.id, lost);
	weft_stat_add(&wi->rack->node.counters, WEFT_STAT_BLOCKS_LOST, lost);
	weft_event_lost(&wi->rack->node, wi->region.id, lost);
}
