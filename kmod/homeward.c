// SPDX-License-Identifier: GPL-2.0-only
/* All blocks of a region go home, see homeward.h. */
#include <linux/jiffies.h>

#include "cache.h"
#include "drive.h"
#include "homeward.h"
#include "inode.h"
#include "netlink_event.h"
#include "node.h"
#include "renew.h"
#include "stats.h"
#include "super.h"

/* Blocks that each home has taken back so far: it is there. */
static atomic64_t taken[WEFT_BLADES];

static u32 home_of(const struct weft_cline *cl)
{
	return weft_node_home(cl->line.key) - WEFT_BLADE_MIN;
}

void weft_homeward_taken(const struct weft_cline *cl)
{
	atomic64_inc(&taken[home_of(cl)]);
}

u64 weft_homeward_count_of(u8 blade)
{
	return atomic64_read(&taken[blade - WEFT_BLADE_MIN]);
}

u64 weft_homeward_count(void)
{
	u64 n = 0;
	u32 home;

	for (home = 0; home < WEFT_BLADES; home++)
		n += atomic64_read(&taken[home]);
	return n;
}

/* Is it being waited for, and has taken nothing for the time-out? */
static bool silent(struct weft_homeward *way, u32 home)
{
	u64 n = atomic64_read(&taken[home]);

	if (!(way->waiting & 1u << home) || way->taken[home] != n) {
		way->waiting |= 1u << home;
		way->taken[home] = n;
		way->since[home] = jiffies;
	}
	return time_after(jiffies, way->since[home] +
			  msecs_to_jiffies(READ_ONCE(weft_node.timeout_ms)));
}

static bool any_silent(struct weft_homeward *way, u32 homes)
{
	u32 home;

	for (home = 0; home < WEFT_BLADES; home++)
		if (homes & 1u << home && silent(way, home))
			return true;
	return false;
}

static bool all_silent(struct weft_homeward *way, u32 homes)
{
	u32 home;

	for (home = 0; home < WEFT_BLADES; home++)
		if (homes & 1u << home && !silent(way, home))
			return false;
	return true;
}

/* Have the devices that write into blocks had their time?  It begins with the first. */
static bool pins_over(struct weft_homeward *way, struct weft_cline *cl)
{
	bool pinned = cl->line.state == WEFT_M && weft_drive_pinned(cl);

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
	struct weft_cline *cl;
	u64 index = 0;
	u32 left = 0;

	for (; (cl = weft_cline_next(wi, &index)); index++) {
		u32 home = home_of(cl), bit = 1u << home;

		if (left & bit && silent(way, home)) {
			weft_cline_put(cl);
			continue;
		}
		if (READ_ONCE(wi->lose) & bit)
			weft_renew_lose(cl);
		else if (READ_ONCE(wi->renew) & bit)
			weft_renew_give_back(cl, pins_over(way, cl));
		else
			weft_cline_evict(cl);
		if (READ_ONCE(cl->phase) != WEFT_CLINE_GONE)
			left |= bit;
		weft_cline_put(cl);
		/* so many on their way are enough; those to a silent home stay */
		wait_event_timeout(weft_cache.room,
				   atomic_read(&weft_cache.putting) <
				   WEFT_PUTTING_MAX,
				   any_silent(way, left) ? 1 : HZ / 10);
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
		over = all_silent(way, left);
		wait_event_timeout(weft_cache.room, xa_empty(&wi->lines),
				   HZ / 50);
		if (over && all_silent(way, left))
			return xa_empty(&wi->lines);
	}
}

void weft_homeward_return(struct weft_inode *wi)
{
	struct weft_node_event event = {};
	struct weft_cline *cl;
	u64 index = 0;

	if (give_all_back(wi))
		return;
	for (; (cl = weft_cline_next(wi, &index)); index++) {
		event.blocks += cl->line.state == WEFT_M;
		weft_cline_put(cl);
	}
	if (!event.blocks)
		return;
	pr_err("weft: region %u: %llu modified blocks could not be written home and are lost: the memory blade does not answer\n",
	       wi->region, event.blocks);
	weft_stat_add(WEFT_STAT_BLOCKS_LOST, event.blocks);
	weft_node_event(WEFT_EVENT_BLOCKS_LOST, &event);
	weft_event_lost(wi->region, event.blocks);
}
