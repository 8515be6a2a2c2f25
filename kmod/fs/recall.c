// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of memory blades to this node, see recall.h.
 *
 * The blade repeats a call until it has the reply.  A call that was done before
 * is answered but not done again: the region may have grown and been written to
 * since.  RENEW may take long: while it is at work its repetitions are answered, too,
 * with how much has been done, so that the blade goes on waiting.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "base/stats.h"
#include "blocks/giveback.h"
#include "core/call.h"
#include "fs/inode.h"
#include "fs/rack.h"
#include "fs/recall.h"
#include "fs/renew.h"
#include "locks/giveback.h"
#include "net/rpc.h"

#define SEEN_MAX	64	/* calls that are remembered */
#define PENDING_MAX	64	/* calls that wait to be done */

/**
 * struct seen_call - a call that came
 * @txn: its number, 0 for a free slot
 * @done: it was carried out
 */
struct seen_call {
	u32 txn;
	bool done;
};

/**
 * struct recall - a call to be carried out
 * @work: in recall_wq
 * @from: blade that calls
 * @txn: its number
 * @nonce: what else the reply repeats
 * @again: it was done before, or there is nothing to do
 * @leaving: RENEW while no file system is mounted, or is being unmounted
 * @call: the call
 */
struct recall {
	struct work_struct work;
	u8 from;
	u32 txn;
	u32 nonce;
	bool again;
	bool leaving;
	struct weft_call call;
};

static struct seen_call seen[SEEN_MAX];
static unsigned int seen_next;
static bool mounted;
static DEFINE_SPINLOCK(seen_lock); /* seen, seen_next, mounted */
static atomic_t pending;
static atomic_t renewals;	/* of these, RENEW calls that are not being done yet */
static struct workqueue_struct *recall_wq;

/* The region is @size bytes now: what lies beyond goes, for everybody. */
static void shrink(u32 region, u64 size)
{
	struct weft_inode *wi = weft_inode_grab(region);
	struct inode *inode;

	if (!wi)
		return;
	inode = &wi->vfs;
	spin_lock(&wi->lock);
	if (size < i_size_read(inode))
		i_size_write(inode, (loff_t)size);
	spin_unlock(&wi->lock);
	/* copies of private mappings, too */
	unmap_mapping_range(inode->i_mapping, round_up(size, PAGE_SIZE), 0, 1);
	weft_region_drop(&wi->region, DIV_ROUND_UP_ULL(size, weft_region_block(&wi->region)));
	/* the home forgets them by whole blocks, too */
	weft_klock_forget(&weft_rack.locks, region, round_up(size, weft_region_block(&wi->region)));
	iput(inode);
}

/* What failed is as if it had not come: its repetition is done again. */
static void note_end(u32 txn, bool done)
{
	unsigned int i;

	spin_lock_bh(&seen_lock);
	for (i = 0; i < SEEN_MAX; i++) {
		if (seen[i].txn != txn)
			continue;
		seen[i].done = done;
		if (!done)
			seen[i].txn = 0;
	}
	spin_unlock_bh(&seen_lock);
}

bool weft_recall_renewal_waits(void)
{
	return atomic_read(&renewals) > 0;
}

static bool is_renewal(const struct recall *r)
{
	return r->call.op == WEFT_CALL_RENEW && !r->again;
}

static int carry_out(const struct recall *r)
{
	if (r->leaving)
		return weft_renew_leaving(r->from);
	if (r->call.op == WEFT_CALL_RENEW)
		return weft_renew(r->from, r->call.life,
				  r->call.valid & WEFT_RENEW_LATE);
	weft_stat_inc(&weft_rack.node.counters, WEFT_STAT_RECALLS);
	shrink(r->call.region, r->call.size);
	return 0;
}

static void recall_work(struct work_struct *work)
{
	struct recall *r = container_of(work, struct recall, work);
	int err = 0;

	if (is_renewal(r))
		atomic_dec(&renewals);
	if (!r->again) {
		err = carry_out(r);
		note_end(r->txn, !err);
	}
	if (!err) {
		r->call.err = 0;
		weft_rpc_reply(&weft_rack.node, r->from, r->txn, r->nonce, &r->call, GFP_KERNEL);
	}
	kfree(r);
	atomic_dec(&pending);
}

/*
 * Return: 0: a new call, which is noted; 1: it was done before, or there is
 * nothing to do; -EBUSY: it is being done.
 */
static int note(u32 txn, bool renew, bool *leaving)
{
	unsigned int i;
	int ret = 0;

	spin_lock(&seen_lock);
	for (i = 0; i < SEEN_MAX; i++) {
		if (seen[i].txn != txn)
			continue;
		ret = seen[i].done ? 1 : -EBUSY;
		break;
	}
	*leaving = renew && !mounted;
	if (!mounted && !renew) {
		ret = 1;
	} else if (i == SEEN_MAX) {
		seen[seen_next].txn = txn;
		seen[seen_next].done = false;
		seen_next = (seen_next + 1) % SEEN_MAX;
	}
	spin_unlock(&seen_lock);
	return ret;
}

/* It is at work, or waits for another blade's RENEW, which is.  Softirq. */
static void say_busy(const struct weft_msg *msg, struct weft_call *call)
{
	call->err = EINPROGRESS;
	call->used = weft_renew_done();
	weft_rpc_reply(&weft_rack.node, msg->src, msg->txn, msg->nonce, call, GFP_ATOMIC);
}

void weft_recall_recv(struct weft_node *node, const struct weft_msg *msg)
{
	struct recall *r;
	int ret;

	if (!weft_is_blade(msg->src) || weft_txn_member(msg->txn) != msg->src)
		return;
	if (atomic_inc_return(&pending) > PENDING_MAX)
		goto drop; /* it comes again */
	r = kzalloc(sizeof(*r), GFP_ATOMIC);
	if (!r)
		goto drop;
	if (weft_call_unpack(&r->call, msg->payload, msg->len) ||
	    (r->call.op != WEFT_CALL_RECALLED &&
	     r->call.op != WEFT_CALL_RENEW))
		goto drop_free;
	ret = note(msg->txn, r->call.op == WEFT_CALL_RENEW, &r->leaving);
	if (ret < 0) {
		if (r->call.op == WEFT_CALL_RENEW)
			say_busy(msg, &r->call);
		goto drop_free;
	}
	r->again = ret;
	r->from = msg->src;
	r->txn = msg->txn;
	r->nonce = msg->nonce;
	INIT_WORK(&r->work, recall_work);
	if (is_renewal(r))
		atomic_inc(&renewals);
	queue_work(recall_wq, &r->work);
	return;

drop_free:
	kfree(r);
drop:
	atomic_dec(&pending);
}

struct recall_run {
	struct work_struct work;
	void (*fn)(void);
};

static void run_work(struct work_struct *work)
{
	container_of(work, struct recall_run, work)->fn();
}

void weft_recall_run(void (*fn)(void))
{
	struct recall_run run = { .fn = fn };
	bool queued;

	INIT_WORK_ONSTACK(&run.work, run_work);
	spin_lock_bh(&seen_lock);
	queued = mounted && queue_work(recall_wq, &run.work);
	spin_unlock_bh(&seen_lock);
	if (queued)
		flush_work(&run.work);
	destroy_work_on_stack(&run.work);
}

static void set_mounted(bool on)
{
	spin_lock_bh(&seen_lock);
	mounted = on;
	spin_unlock_bh(&seen_lock);
}

void weft_recall_start(void)
{
	set_mounted(true);
}

void weft_recall_stop(void)
{
	set_mounted(false);
	flush_workqueue(recall_wq);
}

int weft_recall_init(void)
{
	/* one at a time: in the order in which they come */
	recall_wq = alloc_ordered_workqueue("weft-recall", WQ_MEM_RECLAIM);
	return recall_wq ? 0 : -ENOMEM;
}

void weft_recall_exit(void)
{
	destroy_workqueue(recall_wq);
}
