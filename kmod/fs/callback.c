// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callbacks, see callback.h.
 *
 * The blade repeats a callback until it has the reply.  A repetition of one that was carried out
 * is answered but not carried out again: the region may have grown, and been written to, since.
 * RENEW and MOVE may take long: meanwhile their repetitions are answered EINPROGRESS with the
 * progress, so that the blade goes on waiting.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "base/stats.h"
#include "blocks/flush.h"
#include "blocks/pages.h"
#include "core/call.h"
#include "fs/callback.h"
#include "fs/inode.h"
#include "fs/openstate.h"
#include "fs/policy.h"
#include "fs/rack.h"
#include "fs/recovery.h"
#include "locks/reclaim.h"
#include "net/rpc.h"
#include "rack/member.h"

/* --- nodes that have died ------------------------------------------------------------------ */

#define LIMIT_MS	1000	/* for a FENCE, then the blade repeats it */
#define AGAIN_FIRST_MS	10	/* until unanswered requests are repeated, doubled each time ... */
#define AGAIN_LAST_MS	640	/* ... up to this */

/*
 * With @dead: give up what those nodes have lent and what is expected of them, in all blocks of
 * region @only (0: of all).  Without: repeat the requests for these blocks.
 * Return: whether nothing of the dead nodes is left.
 */
static bool visit_blocks(struct weft_rack *rack, u32 only, u32 dead)
{
	struct weft_inode *wi;
	struct weft_block *blk;
	u32 region = 0;
	bool done = true;
	u64 index;

	while ((wi = weft_inode_grab_next(rack, only, &region))) {
		for (index = 0; (blk = weft_block_next(&wi->region, &index)); index++) {
			if (dead)
				done &= weft_block_gone(blk, dead);
			else
				weft_block_again(blk);
			weft_block_put(blk);
			cond_resched();
		}
		iput(&wi->vfs);
	}
	return done;
}

/*
 * Once all nodes have answered FENCE, the members change and the directory serves what the dead
 * nodes had.  The core's own repetitions have backed off far by then, so this repeats requests
 * sooner.
 */
static void again_work(struct work_struct *work)
{
	struct weft_rack *rack = container_of(to_delayed_work(work), struct weft_rack, again);
	u32 region = READ_ONCE(rack->again_region), ms;

	weft_member_refresh(&rack->member);
	weft_lockres_again(&rack->locks, region);
	visit_blocks(rack, region, 0);
	ms = READ_ONCE(rack->again_ms) * 2;
	WRITE_ONCE(rack->again_ms, ms);
	if (ms <= AGAIN_LAST_MS)
		queue_delayed_work(rack->home_wq, &rack->again, msecs_to_jiffies(ms));
}

/*
 * FENCE: the first blade has declared nodes dead, bits @dead.  Drop their messages from now on,
 * and give up everything that they have lent.  Process context.
 *
 * Return: 0; -EAGAIN: something of them is left, the blade has to repeat it.
 */
static int fence(struct weft_rack *rack, u32 dead)
{
	unsigned long end = jiffies + msecs_to_jiffies(LIMIT_MS);

	if (!weft_member_fence(&rack->member, dead))
		return 0;
	/* for weft_recv(), which checks for dead senders in softirq */
	synchronize_rcu();
	weft_lockres_gone(&rack->locks, dead);
	while (!visit_blocks(rack, 0, dead)) {
		if (time_after(jiffies, end))
			return -EAGAIN;
		usleep_range(500, 1000);
	}
	weft_callback_again(rack, 0);
	return 0;
}

/* --- calls of blades ----------------------------------------------------------------------- */

#define SEEN_MAX	64	/* callbacks that are remembered, to tell repetitions */
#define PENDING_MAX	64	/* callbacks in the queue */

/**
 * struct seen_call - a callback that has arrived
 * @txn: its number; 0: a free slot
 * @done: it was carried out
 */
struct seen_call {
	u32 txn;
	bool done;
};

/**
 * struct callback - a callback in the queue
 * @work: in weft_callback.wq
 * @rack: whose
 * @from: blade that calls
 * @txn: its number, for the reply
 * @nonce: of its message, for the reply
 * @again: only reply: it was carried out before, or no file system is mounted
 * @leaving: RENEW or MOVE while no file system is mounted, or while it is being unmounted
 * @call: the call, then the reply
 */
struct callback {
	struct work_struct work;
	struct weft_rack *rack;
	u8 from;
	u32 txn;
	u32 nonce;
	bool again;
	bool leaving;
	struct weft_call call;
};

/**
 * struct weft_callback - callbacks of a rack
 * @lock: @seen, @next, @mounted
 * @seen: the last callbacks that have arrived
 * @next: the oldest of @seen
 * @mounted: a file system is mounted
 * @pending: callbacks in the queue
 * @renewals: RENEW and MOVE in the queue that are not being carried out yet
 * @wq: carries them out, one after the other
 */
struct weft_callback {
	spinlock_t lock;
	struct seen_call seen[SEEN_MAX];
	unsigned int next;
	bool mounted;
	atomic_t pending;
	atomic_t renewals;
	struct workqueue_struct *wq;
};

/*
 * The new size is set, so no page behind it is mapped any more.  Wait for faults that have looked
 * at the old size, in the block that the new end is in: its pages stay, while weft_region_drop()
 * takes the pages of whole blocks behind it.
 */
static void fence_last(struct weft_inode *wi, u64 size)
{
	struct weft_block *blk;

	if (!(size & (weft_region_block(&wi->region) - 1)))
		return;
	blk = weft_block_find(&wi->region, size >> wi->region.block_shift);
	if (!blk)
		return;
	/* lock_page_of() looks with the page locked, weft_map_pages() under RCU */
	if (READ_ONCE(blk->phase) == WEFT_BLOCK_LIVE) {
		weft_pages_lock(blk);
		weft_pages_unlock(blk);
	}
	if (weft_region_block_pages(&wi->region) > 1)
		synchronize_rcu();
	weft_block_put(blk);
}

/* Another node has truncated the region to @size bytes: unmap and drop what is behind them. */
static void shrink(struct weft_rack *rack, u32 region, u64 size)
{
	struct weft_inode *wi = weft_inode_grab(rack, region);
	struct inode *inode;

	if (!wi)
		return;
	inode = &wi->vfs;
	spin_lock(&wi->lock);
	if (size < i_size_read(inode))
		i_size_write(inode, (loff_t)size);
	spin_unlock(&wi->lock);
	fence_last(wi, size);
	/* even_cows: private copies behind the end must go as well */
	unmap_mapping_range(inode->i_mapping, round_up(size, PAGE_SIZE), 0, 1);
	weft_region_drop(&wi->region, DIV_ROUND_UP_ULL(size, weft_region_block(&wi->region)));
	/* locks from the next whole block on, as at the home */
	weft_lockres_forget(&rack->locks, region, round_up(size, weft_region_block(&wi->region)));
	iput(inode);
}

/* CHANGED: set policy, access list and homes.  Other attributes in the call may be old. */
static int change(struct weft_rack *rack, const struct weft_call *attr)
{
	int err = weft_openstate_nodes(rack, attr);
	struct weft_inode *wi;

	if (err)
		return err;
	wi = weft_inode_grab(rack, attr->region);
	if (!wi)
		return 0;
	weft_homes_take(&rack->node, &wi->region, attr);
	weft_policy_take(wi, attr);
	iput(&wi->vfs);
	return 0;
}

/* Note that a callback was carried out; forget one that failed, so that its repetition is. */
static void note_end(struct weft_callback *callback, u32 txn, bool done)
{
	unsigned int i;

	spin_lock_bh(&callback->lock);
	for (i = 0; i < SEEN_MAX; i++) {
		if (callback->seen[i].txn != txn)
			continue;
		callback->seen[i].done = done;
		if (!done)
			callback->seen[i].txn = 0;
	}
	spin_unlock_bh(&callback->lock);
}

bool weft_callback_renewal_waits(const struct weft_rack *rack)
{
	return atomic_read(&rack->callback->renewals) > 0;
}

/* Is this a callback that has everything of a blade, or of a region, given back? */
static bool is_renewal(u16 op)
{
	return op == WEFT_CALL_RENEW || op == WEFT_CALL_MOVE;
}

static int carry_out(const struct callback *r)
{
	if (r->call.op == WEFT_CALL_MOVE)
		return weft_recover_move(r->rack, &r->call, r->leaving);
	if (r->leaving)
		return weft_recover_leaving(r->rack, r->from);
	if (r->call.op == WEFT_CALL_RENEW)
		return weft_recover(r->rack, r->from, r->call.life, r->call.valid);
	if (r->call.op == WEFT_CALL_CHANGED)
		return change(r->rack, &r->call);
	if (r->call.op == WEFT_CALL_FENCE)
		return fence(r->rack, r->call.members);
	weft_stat_inc(&r->rack->node.counters, WEFT_STAT_RECALLS);
	shrink(r->rack, r->call.region, r->call.size);
	return 0;
}

void weft_callback_again(struct weft_rack *rack, u32 region)
{
	struct weft_callback *callback = rack->callback;

	/* under the lock: weft_callback_stop() clears @mounted before it cancels the work */
	spin_lock_bh(&callback->lock);
	/* if another region waits, repeat all */
	if (delayed_work_pending(&rack->again) && READ_ONCE(rack->again_region) != region)
		region = 0;
	if (callback->mounted) {
		WRITE_ONCE(rack->again_region, region);
		WRITE_ONCE(rack->again_ms, AGAIN_FIRST_MS);
		mod_delayed_work(rack->home_wq, &rack->again, msecs_to_jiffies(AGAIN_FIRST_MS));
	}
	spin_unlock_bh(&callback->lock);
}

static void callback_work(struct work_struct *work)
{
	struct callback *r = container_of(work, struct callback, work);
	struct weft_callback *callback = r->rack->callback;
	int err = 0;

	if (is_renewal(r->call.op) && !r->again)
		atomic_dec(&callback->renewals);
	if (!r->again) {
		err = carry_out(r);
		note_end(callback, r->txn, !err);
	}
	/*
	 * the blade serves requests again once it has this reply; or already does, if it repeats
	 */
	if (!err && is_renewal(r->call.op))
		weft_callback_again(r->rack, r->call.op == WEFT_CALL_MOVE ? r->call.region : 0);
	/*
	 * -EBUSY, the region is in use, is a reply; after other errors the blade repeats the call
	 */
	if (!err || err == -EBUSY) {
		r->call.err = (u16)-err;
		weft_rpc_reply(&r->rack->node, r->from, r->txn, r->nonce, &r->call, GFP_KERNEL);
	}
	kfree(r);
	atomic_dec(&callback->pending);
}

/*
 * Return: 0: a new callback, noted in @seen; 1: it was carried out before, or no file system is
 * mounted: only reply; -EBUSY: it is in the queue.
 */
static int note(struct weft_callback *callback, u32 txn, bool renew, bool *leaving)
{
	unsigned int i;
	int ret = 0;

	spin_lock(&callback->lock);
	for (i = 0; i < SEEN_MAX; i++) {
		if (callback->seen[i].txn != txn)
			continue;
		ret = callback->seen[i].done ? 1 : -EBUSY;
		break;
	}
	*leaving = renew && !callback->mounted;
	if (!callback->mounted && !renew) {
		ret = 1;
	} else if (i == SEEN_MAX) {
		callback->seen[callback->next].txn = txn;
		callback->seen[callback->next].done = false;
		callback->next = (callback->next + 1) % SEEN_MAX;
	}
	spin_unlock(&callback->lock);
	return ret;
}

/* Reply EINPROGRESS and the progress, while the callback is in the queue.  Softirq. */
static void say_busy(struct weft_rack *rack, const struct weft_msg *msg, struct weft_call *call)
{
	call->err = EINPROGRESS;
	call->used = weft_recover_done(rack);
	weft_rpc_reply(&rack->node, msg->src, msg->txn, msg->nonce, call, GFP_ATOMIC);
}

void weft_callback_recv(struct weft_rack *rack, const struct weft_msg *msg)
{
	struct weft_callback *callback = rack->callback;
	struct callback *r;
	int ret;

	if (!weft_is_blade(msg->src) || weft_txn_member(msg->txn) != msg->src)
		return;
	if (atomic_inc_return(&callback->pending) > PENDING_MAX)
		goto drop; /* the blade repeats it */
	r = kzalloc(sizeof(*r), GFP_ATOMIC);
	if (!r)
		goto drop;
	if (weft_call_read(&r->call, msg)) {
		weft_stat_inc(&rack->node.counters, WEFT_STAT_MSG_BAD);
		goto drop_free;
	}
	if (r->call.op == WEFT_CALL_TWIN) {
		weft_moved_recv(&rack->member, msg, &r->call);
		goto drop_free;
	}
	/* round-trip times of before the recovery mean nothing; also for each repetition */
	if (is_renewal(r->call.op))
		weft_rtt_void(&rack->node.rtts);
	ret = note(callback, msg->txn, is_renewal(r->call.op), &r->leaving);
	if (ret < 0) {
		if (is_renewal(r->call.op))
			say_busy(rack, msg, &r->call);
		goto drop_free;
	}
	r->again = ret;
	r->rack = rack;
	r->from = msg->src;
	r->txn = msg->txn;
	r->nonce = msg->nonce;
	INIT_WORK(&r->work, callback_work);
	if (is_renewal(r->call.op) && !ret)
		atomic_inc(&callback->renewals);
	queue_work(callback->wq, &r->work);
	return;

drop_free:
	kfree(r);
drop:
	atomic_dec(&callback->pending);
}

struct callback_run {
	struct work_struct work;
	struct weft_rack *rack;
	int (*fn)(struct weft_rack *rack);
	int ret;
};

static void run_work(struct work_struct *work)
{
	struct callback_run *run = container_of(work, struct callback_run, work);

	run->ret = run->fn(run->rack);
}

int weft_callback_run(struct weft_rack *rack, int (*fn)(struct weft_rack *rack))
{
	struct callback_run run = { .rack = rack, .fn = fn };
	struct weft_callback *callback = rack->callback;
	bool queued;

	INIT_WORK_ONSTACK(&run.work, run_work);
	spin_lock_bh(&callback->lock);
	queued = callback->mounted && queue_work(callback->wq, &run.work);
	spin_unlock_bh(&callback->lock);
	if (queued)
		flush_work(&run.work);
	destroy_work_on_stack(&run.work);
	return run.ret;
}

static void set_mounted(struct weft_callback *callback, bool on)
{
	spin_lock_bh(&callback->lock);
	callback->mounted = on;
	spin_unlock_bh(&callback->lock);
}

void weft_callback_start(struct weft_rack *rack)
{
	set_mounted(rack->callback, true);
}

void weft_callback_stop(struct weft_rack *rack)
{
	set_mounted(rack->callback, false);
	flush_workqueue(rack->callback->wq);
	cancel_delayed_work_sync(&rack->again);
}

struct weft_callback *weft_callback_new(struct weft_rack *rack)
{
	struct weft_callback *callback = kzalloc(sizeof(*callback), GFP_KERNEL);

	if (!callback)
		return NULL;
	INIT_DELAYED_WORK(&rack->again, again_work);
	spin_lock_init(&callback->lock);
	/* ordered: callbacks are carried out one by one, as they arrive */
	callback->wq = alloc_ordered_workqueue("weft-recall", WQ_MEM_RECLAIM);
	if (callback->wq)
		return callback;
	kfree(callback);
	return NULL;
}

void weft_callback_free(struct weft_callback *callback)
{
	if (!callback)
		return;
	destroy_workqueue(callback->wq);
	kfree(callback);
}
