// SPDX-License-Identifier: GPL-2.0-only
/* Giving back all lines of a blade or of a region, see recovery.h. */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "base/event.h"
#include "blocks/flight.h"
#include "blocks/flush.h"
#include "fs/callback.h"
#include "fs/fsync.h"
#include "fs/inode.h"
#include "fs/mount.h"
#include "fs/openstate.h"
#include "fs/policy.h"
#include "fs/rack.h"
#include "fs/recovery.h"
#include "locks/reclaim.h"
#include "net/rpc.h"

#define CALL_MS		5000	/* for a CLAIM */
#define ALL_BLADES	0
#define ALL_REGIONS	0
#define OTHERS_MS	5000	/* without progress, while another RENEW or MOVE waits */
#define PINS_MS		1000	/* for all devices that write into blocks together */

static u64 all_done(const struct weft_rack *rack)
{
	return atomic64_read(&rack->renewed) + atomic64_read(&rack->cache.renewed);
}

u64 weft_recover_done(const struct weft_rack *rack)
{
	/* a block in flight counts when its home has taken it back */
	return all_done(rack) + weft_cache_taken_all(&rack->cache);
}

/**
 * struct scope - the lines that a recovery is about
 * @rack: their rack
 * @blade: their home; or ALL_BLADES
 * @region: their region; or ALL_REGIONS
 */
struct scope {
	struct weft_rack *rack;
	u8 blade;
	u32 region;
};

/* How many blocks of a region its homes have taken back. */
static u64 taken_of(struct weft_rack *rack, u32 id)
{
	struct weft_region *region;
	u64 n = 0;

	rcu_read_lock();
	region = weft_region_find(&rack->cache.regions, id);
	if (region)
		n = (u64)atomic64_read(&region->taken);
	rcu_read_unlock();
	return n;
}

/* The progress of one recovery: blocks of other blades, or other regions, do not count. */
static u64 done_for(const struct scope *s)
{
	const struct weft_cache *cache = &s->rack->cache;

	return all_done(s->rack) +
	       (s->region != ALL_REGIONS ? taken_of(s->rack, s->region) :
		s->blade != ALL_BLADES ? weft_cache_taken_by(cache, s->blade) :
					 weft_cache_taken_all(cache));
}

/*
 * No progress for the time-out; or for OTHERS_MS, if another RENEW or MOVE waits for its turn:
 * its blade waits less long for a sign of this node than the time-out.  This one is repeated
 * after that.
 */
static bool stalled(const struct scope *s, struct weft_progress *p)
{
	u32 limit = READ_ONCE(s->rack->node.timeout_ms);

	if (weft_callback_renewal_waits(s->rack))
		limit = min_t(u32, limit, OTHERS_MS);
	return weft_progress_stalled(p, done_for(s), limit);
}

/* --- blocks -------------------------------------------------------------------- */

static bool is_of(const struct weft_block *blk, u8 blade)
{
	return blade == ALL_BLADES || weft_node_home(blk->cache->node, blk->line.key) == blade;
}

enum pass { PASS_GIVE_BACK, PASS_OWED, PASS_FORCE, PASS_COUNT, PASS_LOSE };

/**
 * struct renewal - the blocks of a recovery, which are given back or lost
 * @scope: whose
 * @progress: of what the homes take back; without any, the wait for them ends
 * @returning: blocks in flight to their homes at the last PASS_COUNT
 * @owed: blocks that a device writes into, which are given back later
 * @modified: modified blocks of the inode that are lost
 * @clean: its other blocks that are dropped; programs may have read them since they were out of
 *	date
 */
struct renewal {
	struct scope scope;
	struct weft_progress progress;
	u64 returning;
	u64 owed;
	u64 modified;
	u64 clean;
};

static void pass_block(struct renewal *r, struct weft_block *blk, enum pass pass)
{
	switch (pass) {
	case PASS_OWED:
	case PASS_FORCE:
		if (!READ_ONCE(blk->owed))
			break;
		fallthrough;
	case PASS_GIVE_BACK:
		blk->owed = !weft_block_renew(blk, pass == PASS_FORCE);
		r->owed += blk->owed;
		break;
	case PASS_COUNT:
		r->returning += weft_block_returning(blk);
		break;
	case PASS_LOSE:
		if (weft_block_lose(blk))
			r->modified++;
		else
			r->clean++;
		break;
	}
}

/*
 * Wait for room in the window of the block's home, and for fewer than WEFT_PUTTING_MAX blocks in
 * flight to it.  Blocks in flight to other homes, which may be dead, do not count.
 * Return: false: no progress, the recovery has to be repeated.
 */
static bool wait_for_room(struct renewal *r, const struct weft_block *blk)
{
	struct weft_cache *cache = &r->scope.rack->cache;
	u8 home = weft_node_home(cache->node, blk->line.key);
	atomic_t *putting = &cache->putting_to[home - WEFT_BLADE_MIN];

	while (!wait_event_timeout(cache->room,
				   atomic_read(putting) < WEFT_PUTTING_MAX &&
				   weft_flight_home_room(blk), HZ / 10))
		if (stalled(&r->scope, &r->progress))
			return false;
	return true;
}

static int pass_inode(struct renewal *r, struct weft_inode *wi, enum pass pass)
{
	struct weft_block *blk;
	u64 index = 0;

	for (; (blk = weft_block_next(&wi->region, &index)); index++) {
		bool ours = is_of(blk, r->scope.blade), late;

		if (ours)
			pass_block(r, blk, pass);
		late = ours && pass < PASS_COUNT && !wait_for_room(r, blk);
		weft_block_put(blk);
		if (late)
			return -ETIMEDOUT;
		cond_resched();
	}
	return 0;
}

/* Report lost blocks of a region to its programs, the log, the counters, the listeners. */
static void report(struct weft_inode *wi, const struct renewal *r)
{
	if (r->clean && !r->modified)
		pr_warn("weft: region %u: %llu unmodified blocks are dropped: the rack went on without this node, what programs have read in them since may be old\n",
			wi->region.id, r->clean);
	if (!r->modified)
		return;
	WRITE_ONCE(wi->lost, true);
	pr_err("weft: region %u: %llu modified blocks are lost, %llu others dropped: the rack went on without this node; programs that have it open get errors, restart them\n",
	       wi->region.id, r->modified, r->clean);
	weft_stat_add(&wi->rack->node.counters, WEFT_STAT_BLOCKS_LOST, r->modified);
	weft_event_lost(&wi->rack->node, wi->region.id, r->modified);
}

static int pass_all(struct renewal *r, enum pass pass)
{
	struct weft_inode *wi;
	u32 region = 0;
	int err = 0;

	r->returning = 0;
	r->owed = 0;
	while (!err && (wi = weft_inode_grab_next(r->scope.rack, r->scope.region, &region))) {
		r->modified = 0;
		r->clean = 0;
		err = pass_inode(r, wi, pass);
		if (pass == PASS_LOSE)
			report(wi, r);
		iput(&wi->vfs);
	}
	return err;
}

static u32 bits_of(u8 blade)
{
	return blade == ALL_BLADES ? ~0u : 1u << (blade - WEFT_BLADE_MIN);
}

enum mark { UNMARKED, RETURNING, LOSING };

/*
 * Mark all inodes of @s: their blocks are RETURNING, or, as the blades do not want them any more,
 * LOSING.  Inodes that are being freed cannot be grabbed: whoever evicts them looks at the mark
 * and does that to their blocks.
 * Return: whether blocks of such inodes are left.
 */
static bool mark_inodes(const struct scope *s, enum mark mark)
{
	u32 at = s->region == ALL_REGIONS ? 0 : s->region;
	u32 last = s->region == ALL_REGIONS ? WEFT_REGION_MAX : s->region;
	u32 blades = bits_of(s->blade);
	struct weft_region *region;
	bool any = false;

	rcu_read_lock();
	for (; (region = weft_region_next(&s->rack->cache.regions, &at)) && at <= last; at++) {
		struct weft_inode *wi = weft_inode_of_region(region);

		/* only the queue of callbacks writes these */
		WRITE_ONCE(wi->renew, mark == UNMARKED ? 0 : wi->renew | blades);
		WRITE_ONCE(wi->lose, mark == LOSING ? wi->lose | blades : 0);
		any |= weft_inode_state(&wi->vfs) & (I_FREEING | I_WILL_FREE) &&
		       !xa_empty(&wi->region.blocks);
	}
	rcu_read_unlock();
	return any;
}

static void wait_a_little(struct weft_rack *rack)
{
	wait_event_timeout(rack->cache.room, !atomic_read(&rack->cache.putting), HZ / 50);
}

/*
 * Give back blocks that devices write into, when the devices have ended, or after PINS_MS: what
 * they write after that is lost.
 */
static int return_owed(struct renewal *r)
{
	unsigned long end = jiffies + msecs_to_jiffies(PINS_MS);
	int err = 0;

	while (!err && r->owed) {
		if (time_after(jiffies, end))
			return pass_all(r, PASS_FORCE);
		usleep_range(WEFT_PIN_WAIT_US, 2 * WEFT_PIN_WAIT_US);
		err = pass_all(r, PASS_OWED);
	}
	return err;
}

/* Wait until no block is in flight, and none is left in an inode that is being freed. */
static int wait_returned(struct renewal *r)
{
	int err = pass_all(r, PASS_COUNT);

	while (!err && (r->returning || mark_inodes(&r->scope, RETURNING))) {
		if (stalled(&r->scope, &r->progress))
			return -ETIMEDOUT;
		wait_a_little(r->scope.rack);
		err = pass_all(r, PASS_COUNT);
	}
	return err;
}

static int return_blocks(const struct scope *s)
{
	struct renewal r = { .scope = *s, .progress = { done_for(s), jiffies } };
	int err;

	mark_inodes(s, RETURNING);
	err = pass_all(&r, PASS_GIVE_BACK);
	if (!err)
		err = return_owed(&r);
	if (!err)
		err = wait_returned(&r);
	mark_inodes(s, UNMARKED);
	return err;
}

static void lose_blocks(const struct scope *s)
{
	struct renewal r = { .scope = *s };

	mark_inodes(s, LOSING);
	pass_all(&r, PASS_LOSE);
	r.progress = (struct weft_progress){ done_for(s), jiffies };
	while (mark_inodes(s, LOSING) && !stalled(s, &r.progress))
		wait_a_little(s->rack);
	mark_inodes(s, UNMARKED);
}

/* Blocks of @s are left in the cache. */
static bool any_block(const struct scope *s)
{
	struct weft_region *region;
	bool any;

	if (s->region == ALL_REGIONS)
		return READ_ONCE(s->rack->cache.lines);
	rcu_read_lock();
	region = weft_region_find(&s->rack->cache.regions, s->region);
	any = region && !xa_empty(&region->blocks);
	rcu_read_unlock();
	return any;
}

/* While unmounting: wait until the eviction of inodes has given back all blocks of @s. */
static int wait_evicted(const struct scope *s)
{
	unsigned long end = jiffies + msecs_to_jiffies(CALL_MS);

	while (any_block(s)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		mark_inodes(s, RETURNING);
		wait_a_little(s->rack);
	}
	return 0;
}

/* --- locks ---------------------------------------------------------------------- */

static int claim(const struct scope *s, struct weft_call *call, u32 life)
{
	int err;

	if (!call->list_len)
		return 0;
	call->op = WEFT_CALL_CLAIM;
	call->region = s->region;
	call->life = life;
	err = weft_rpc_call(&s->rack->node, s->blade, call, CALL_MS);
	memset(call, 0, sizeof(*call));
	return err;
}

static int claim_locks(const struct scope *s, u32 life)
{
	struct weft_call *call = kzalloc(sizeof(*call), GFP_KERNEL);
	struct weft_held_lock held;
	int err = 0;
	u64 key = 0;
	u8 *p;

	if (!call)
		return -ENOMEM;
	while (!err && weft_lockres_renew(&s->rack->locks, s->blade, s->region, &key, false,
					  &held)) {
		if (call->list_len + WEFT_CLAIM_LEN > WEFT_CALL_LIST_MAX)
			err = claim(s, call, life);
		p = call->list + call->list_len;
		put_unaligned_be64(held.key, p);
		put_unaligned_be32(held.epoch, p + 8);
		p[12] = held.state;
		memset(p + 13, 0, 3);
		call->list_len += WEFT_CLAIM_LEN;
		atomic64_inc(&s->rack->renewed);
	}
	if (!err)
		err = claim(s, call, life);
	kfree(call);
	return err;
}

/*
 * Programs hold @n locks of the region that other nodes can get from now on.  What the programs
 * go on to write under them must not reach the other nodes, so the region is lost for them.
 */
static void lose_locks_of(const struct scope *s, u32 region, u64 n)
{
	struct weft_inode *wi;

	if (!n)
		return;
	wi = weft_inode_grab(s->rack, region);
	if (!wi)
		return;
	WRITE_ONCE(wi->lost, true);
	pr_err("weft: region %u: %llu locks that programs hold are lost: the rack went on without this node; programs that have it open get errors, restart them\n",
	       region, n);
	iput(&wi->vfs);
}

static void lose_locks(const struct scope *s)
{
	struct weft_held_lock held;
	u64 key = 0, n = 0;
	u32 region = 0, of;

	/* weft_lockres_renew() goes by line names: by regions */
	while (weft_lockres_renew(&s->rack->locks, s->blade, s->region, &key, true, &held)) {
		of = weft_line_region(held.key);
		if (of != region) {
			lose_locks_of(s, region, n);
			n = 0;
		}
		region = of;
		n++;
	}
	lose_locks_of(s, region, n);
}

/* --- a blade, a region, or all -------------------------------------------------- */

int weft_recover_opens(struct weft_rack *rack)
{
	struct weft_inode *wi;
	u32 region = 0;
	int err = 0;

	while (!err && (wi = weft_inode_grab_next(rack, 0, &region))) {
		err = weft_openstate_again(wi);
		if (!err)
			atomic64_inc(&rack->renewed);
		iput(&wi->vfs);
	}
	return err;
}

int weft_recover(struct weft_rack *rack, u8 blade, u32 life, u32 valid)
{
	const struct scope scope = { .rack = rack, .blade = blade, .region = ALL_REGIONS };
	bool late = valid & WEFT_RENEW_LATE;
	int err = 0;

	if (valid & WEFT_RENEW_CRASHED)
		weft_fsync_crashed(rack, blade);

	if (late) {
		pr_warn("weft: memory blade %u went on without this node: dropping all blocks of it\n",
			blade - WEFT_BLADE_MIN + 1);
		lose_locks(&scope);
		lose_blocks(&scope);
	} else {
		pr_info("weft: memory blade %u begins anew: all blocks of it go home\n",
			blade - WEFT_BLADE_MIN + 1);
		err = claim_locks(&scope, life);
		if (!err)
			err = return_blocks(&scope);
	}
	if (!err && blade == WEFT_BLADE_MIN)
		err = weft_recover_opens(rack);
	return err;
}

/* Claim each lock of the region at its new home. */
static int claim_of_region(const struct scope *s, u32 life)
{
	u32 homes = weft_place_homes(&s->rack->node.places, s->region);
	struct scope at = *s;
	int err = 0;

	for (at.blade = WEFT_BLADE_MIN; homes && !err; at.blade++, homes >>= 1)
		if (homes & 1)
			err = claim_locks(&at, life);
	return err;
}

int weft_recover_move(struct weft_rack *rack, const struct weft_call *move, bool leaving)
{
	const struct scope scope = {
		.rack = rack, .blade = ALL_BLADES, .region = move->region,
	};
	int err = weft_homes_move(rack, move);

	if (!err)
		err = claim_of_region(&scope, move->life);
	if (!err)
		err = leaving ? wait_evicted(&scope) : return_blocks(&scope);
	if (leaving)
		mark_inodes(&scope, UNMARKED);
	else if (!err)
		weft_stat_inc(&rack->node.counters, WEFT_STAT_REGIONS_MOVED);
	return err;
}

int weft_recover_leaving(struct weft_rack *rack, u8 blade)
{
	const struct scope scope = { .rack = rack, .blade = blade, .region = ALL_REGIONS };

	return wait_evicted(&scope);
}

int weft_recover_all_lost(struct weft_rack *rack)
{
	const struct scope scope = { .rack = rack, .blade = ALL_BLADES, .region = ALL_REGIONS };

	pr_warn("weft: the rack does not know this node any more: dropping all blocks\n");
	lose_locks(&scope);
	lose_blocks(&scope);
	return 0;
}
