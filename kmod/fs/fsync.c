// SPDX-License-Identifier: GPL-2.0-only
/* Writing back to the homes and their disks, see fsync.h. */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/pagemap.h>
#include <linux/slab.h>

#include "base/event.h"
#include "base/stats.h"
#include "blocks/clean.h"
#include "blocks/flight.h"
#include "blocks/flush.h"
#include "blocks/pages.h"
#include "fs/fault.h"
#include "fs/fsync.h"
#include "fs/inode.h"
#include "fs/mount.h"
#include "fs/rack.h"
#include "net/node.h"
#include "net/rpc.h"

/* --- all of a region goes home ------------------------------------------------------------- */

static u32 home_of(const struct weft_block *blk)
{
	return weft_node_home(blk->cache->node, blk->line.key) - WEFT_BLADE_MIN;
}

/* Has this home, bit of the first blade: 0, taken no block back for the time-out? */
static bool silent(const struct weft_rack *rack, struct weft_flush_way *way, u32 home)
{
	u64 taken = weft_cache_taken_by(&rack->cache, WEFT_BLADE_MIN + home);

	if (!(way->waiting & 1u << home)) {
		way->waiting |= 1u << home;
		way->progress[home] = (struct weft_progress){ taken, jiffies };
	}
	return weft_progress_stalled(&way->progress[home], taken,
				     READ_ONCE(rack->node.timeout_ms));
}

/* Those of @homes that are silent. */
static u32 silent_of(const struct weft_rack *rack, struct weft_flush_way *way, u32 homes)
{
	u32 home, mask = 0;

	for (home = 0; home < WEFT_BLADES; home++)
		if (homes & 1u << home && silent(rack, way, home))
			mask |= 1u << home;
	return mask;
}

/* Is @blk pinned by a device, and the wait for devices over?  The first such block begins it. */
static bool pins_over(struct weft_flush_way *way, struct weft_block *blk)
{
	bool pinned = blk->line.state == WEFT_M && weft_pages_pinned(blk);

	if (pinned && !way->pins_end)
		way->pins_end = jiffies + msecs_to_jiffies(WEFT_PIN_WAITS *
					WEFT_PIN_WAIT_US / USEC_PER_MSEC);
	return pinned && time_after(jiffies, way->pins_end);
}

/*
 * One round of giving blocks back.  A silent home gets one block each round, to find out when it
 * answers again.  Return: bits of the homes for which blocks are left.
 */
static u32 give_back(struct weft_inode *wi, struct weft_flush_way *way)
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
		/* wait for room in flight; hardly if a home is silent, as it frees none */
		wait_event_timeout(wi->rack->cache.room,
				   atomic_read(&wi->rack->cache.putting) <
				   WEFT_PUTTING_MAX && weft_flight_home_room(blk),
				   silent_of(wi->rack, way, left) ? 1 : HZ / 10);
		weft_block_put(blk);
	}
	return left;
}

/*
 * Give blocks back until all are home, or the region is used again.  During an unmount all inodes
 * share the wait for silent homes, so that it ends within one time-out.
 * Return: false: blocks are left, and all their homes are silent.
 */
static bool give_all_back(struct weft_inode *wi)
{
	struct weft_mount *m = weft_mount_of(wi->vfs.i_sb);
	struct weft_flush_way own = {}, *way = m->leaving ? &m->flushing : &own;
	u32 left, due = 0;
	bool over;

	for (;;) {
		left = give_back(wi, way);
		way->waiting &= ~(due & ~left); /* these have taken all back */
		due = left;
		/* a program has opened the region again: its blocks may stay */
		if (!left || atomic_read(&wi->files))
			return true;
		over = silent_of(wi->rack, way, left) == left;
		wait_event_timeout(wi->rack->cache.room, xa_empty(&wi->region.blocks), HZ / 50);
		if (over && silent_of(wi->rack, way, left) == left)
			return xa_empty(&wi->region.blocks);
	}
}

void weft_flush_region(struct weft_inode *wi)
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

/* --- fsync --------------------------------------------------------------------------------- */

#define RUN_SHIFT	6	/* log2 of the blocks in a row with one home: weft_line_blade() */

int weft_program_errno(int err)
{
	switch (err) {
	case -ENXIO:
		return -EIO;
	case -ENOBUFS:
		return -ENOMEM;
	default:
		return err;
	}
}

static u32 all_homes(const struct weft_inode *wi)
{
	return weft_place_homes(&wi->rack->node.places, wi->region.id);
}

/* Return: those of the region's @homes that blocks @first to @last are at home at. */
static u32 homes_of(const struct weft_inode *wi, u32 homes, u64 first, u64 last)
{
	u32 mask = 0;
	u64 run, blocks = DIV_ROUND_UP_ULL((u64)i_size_read(&wi->vfs),
					   weft_region_block(&wi->region));

	if (!blocks || first >= blocks)
		return 0;
	last = min(last, blocks - 1);
	for (run = first >> RUN_SHIFT; run <= last >> RUN_SHIFT; run++) {
		mask |= 1u << weft_line_blade(weft_line_key(wi->region.id, WEFT_KIND_PAGE,
							    run << RUN_SHIFT), homes);
		if (mask == homes)
			break;
	}
	return mask;
}

/* SYNC: the blade answers when the region's contents there are on its disk. */
static int sync_home(struct weft_inode *wi, u32 home)
{
	struct weft_call *call = weft_inode_new_call(WEFT_CALL_SYNC);
	int err;

	if (!call)
		return -ENOMEM;
	call->region = wi->region.id;
	weft_stat_inc(&wi->rack->node.counters, WEFT_STAT_SYNCS);
	err = weft_rpc_call(&wi->rack->node, WEFT_BLADE_MIN + home, call,
			    READ_ONCE(wi->rack->node.timeout_ms));
	kfree(call);
	if (err != -EOPNOTSUPP)
		return err;
	pr_warn_ratelimited("weft: region %u: its durability is sync, and memory blade %u has no --backing file any more: fsync() fails, start the blade with one or choose another durability\n",
			    wi->region.id, home + 1);
	return -EIO;
}

static int sync_mask(struct weft_inode *wi, u32 mask)
{
	u32 home;
	int err = 0;

	for (home = 0; mask && !err; home++, mask >>= 1)
		if (mask & 1)
			err = sync_home(wi, home);
	return err;
}

/*
 * SYNC at the homes that took the write-back.  If the region moves meanwhile, the new homes have
 * synced all of it before any node hears of them, so an error of a former home means nothing: ask
 * the new ones.
 */
static int sync_homes(struct weft_inode *wi, u64 first, u64 last, int datasync)
{
	unsigned long end = weft_wait_end(wi->rack);
	u32 homes;
	int err;

	do {
		homes = all_homes(wi);
		/* the first blade keeps size and times */
		err = sync_mask(wi, homes_of(wi, homes, first, last) | (datasync ? 0 : 1));
	} while (err && err != -EINTR && all_homes(wi) != homes && time_before(jiffies, end));
	return err == -ESTALE ? -ETIMEDOUT : err;
}

int weft_fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct weft_inode *wi = weft_inode_of(file_inode(file));
	u64 first = (u64)start >> wi->region.block_shift;
	u64 last = (u64)end >> wi->region.block_shift;
	int err = weft_clean_range(&wi->region, first, last, weft_wait_end(wi->rack)), lost;

	/* also if @datasync: msync() looks like fdatasync(), and has to update the time */
	if (!err)
		err = weft_inode_flush_mtime(wi);
	if (!err && weft_region_durability(&wi->region) == WEFT_POLICY_SYNC)
		err = sync_homes(wi, first, last, datasync);
	/* after the answers: a blade that crashed tells this node before it answers SYNC */
	lost = file_check_and_advance_wb_err(file);
	return weft_program_errno(err ? err : lost);
}

void weft_fsync_crashed(struct weft_rack *rack, u8 blade)
{
	struct weft_inode *wi;
	u32 region = 0, n = 0;

	while ((wi = weft_inode_grab_next(rack, 0, &region))) {
		if (weft_region_durability(&wi->region) == WEFT_POLICY_SYNC &&
		    homes_of(wi, all_homes(wi), 0, ~0ull) & 1u << (blade - WEFT_BLADE_MIN)) {
			mapping_set_error(wi->vfs.i_mapping, -EIO);
			n++;
		}
		iput(&wi->vfs);
	}
	if (n)
		pr_warn("weft: the machine of memory blade %u has ended: what was at home there and not synced may be older; fsync() of %u regions with durability=sync says so once for each open file (EIO)\n",
			blade - WEFT_BLADE_MIN + 1, n);
}
