// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that open, take and leave locks, and wait for them; eventcounts.  Called by lockfile.c
 * for ioctls, by bind.c and mapped.c.  Process context; waits for the network with no lock held.
 */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/stats.h"
#include "blocks/access.h"
#include "blocks/flush.h"
#include "blocks/step.h"
#include "locks/guard.h"
#include "locks/step.h"
#include "locks/wait.h"
#include "locks/word.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/rtt.h"
#include "weft.h"

/* --- eventcounts -------------------------------------------------------------------------- */

int weft_eventcount_read(struct weft_lockres *lr, const struct weft_holder *h,
			 const struct weft_patience *patience, u32 *count)
{
	bool came;
	int err;

	if (!READ_ONCE(weft_lock_tuning.keep))
		return -EOPNOTSUPP;
	/* read the count first: it is outdated if the lock is lost after this */
	*count = (u32)atomic_read_acquire(weft_word_event(lr));
	if (READ_ONCE(lr->here))
		return 0;
	err = weft_lockres_acquire(lr, h, patience, &came);
	return err ? err : weft_lockres_release(lr, h);
}

void weft_eventcount_count(struct weft_lockres *lr)
{
	spin_lock_bh(&lr->lock);
	if (!lr->uncounted)
		atomic_inc(weft_word_waiting(lr));
	lr->uncounted = true;
	spin_unlock_bh(&lr->lock);
}

int weft_eventcount_await(struct weft_lockres *lr, u32 count, const struct weft_patience *p)
{
	ktime_t deadline = p->deadline;
	DEFINE_WAIT(wait);
	int err = 0;

	for (;;) {
		prepare_to_wait(&lr->awaiting, &wait, TASK_INTERRUPTIBLE);
		if ((u32)atomic_read(weft_word_event(lr)) != count)
			break;
		/* as futex(): a wait with a deadline is not restarted after a handler */
		err = p->until ? -ERESTARTNOHAND : -ERESTARTSYS;
		if (signal_pending(current))
			break;
		err = -ETIMEDOUT;
		if (!schedule_hrtimeout_range_clock(p->until ? &deadline : NULL,
						    current->timer_slack_ns, HRTIMER_MODE_ABS,
						    p->until ? p->clock : CLOCK_MONOTONIC))
			break;
		err = 0;
	}
	finish_wait(&lr->awaiting, &wait);
	return err;
}

void weft_eventcount_advance(struct weft_lockres *lr)
{
	struct weft_outbox outbox;

	weft_lockres_begin(lr, &outbox);
	lr->advance = true;
	weft_lockres_event(lr);
	weft_lockres_end(lr, &outbox);
}

/* --- taking and leaving ------------------------------------------------------------------- */

#define LOOK_MS		1000	/* so often a waiter looks whether the rack still answers */

bool weft_lockres_attach(struct weft_lockres *lr, u64 *word, u32 slot, struct weft_lists *lists)
{
	struct weft_outbox outbox;
	bool ok;

	weft_lockres_begin(lr, &outbox);
	ok = !lr->dead;
	if (ok) {
		refcount_inc(&lr->ref);
		lr->slot = slot;
		lr->lists = lists;
		lr->word = word;
		lr->leaving = false;
		weft_lockres_no_stray(lr);
	}
	weft_lockres_end(lr, &outbox);
	return ok;
}

void weft_lockres_detach(struct weft_lockres *lr)
{
	struct weft_outbox outbox;
	struct weft_learn *learn;

	weft_guard_put(weft_lockres_bind(lr, NULL));
	weft_lockres_begin(lr, &outbox);
	weft_learn_forget(lr, &outbox);
	learn = lr->learn;
	lr->learn = NULL;
	weft_word_tell_on(lr, true);
	lr->word = NULL;
	lr->lists = NULL;
	lr->unsettled = false;
	lr->uncounted = false;
	lr->binders = 0;
	weft_lockres_end(lr, &outbox);
	kfree(learn);
	weft_lockres_put(lr);
}

struct weft_guard *weft_lockres_bind(struct weft_lockres *lr, struct weft_guard *guard)
{
	struct weft_outbox outbox;
	struct weft_guard *old;

	weft_lockres_begin(lr, &outbox);
	old = lr->guard;
	if (old)
		weft_guard_tell(old, blk, weft_guarded_drop(blk, &outbox));
	/* a guard that a program has said ends the learning */
	if (guard)
		weft_learn_forget(lr, &outbox);
	lr->guard = guard;
	weft_lockres_end(lr, &outbox);
	return old;
}

void weft_lockres_blocks(struct weft_lockres *lr, struct weft_guarded_blocks *b)
{
	b->guard = NULL;
	b->n = 0;
	if (!READ_ONCE(lr->guard) && !READ_ONCE(lr->learn))
		return;
	spin_lock_bh(&lr->lock);
	if (lr->guard) {
		b->guard = lr->guard;
		refcount_inc(&b->guard->ref);
		b->region = b->guard->region;
		b->block = b->guard->block;
		b->n = b->guard->n;
	} else if (lr->learn) {
		b->region = lr->learn->region;
		b->block = b->learnt;
		b->n = weft_learn_list(lr, b->learnt);
	}
	spin_unlock_bh(&lr->lock);
}

/*
 * Make memory for the blocks that come with the lock, as far as the cache has room.  Before the
 * lock is asked for: from then on it may come at any time.
 */
static void prepare(struct weft_lockres *lr, u8 perm)
{
	struct weft_guarded_blocks b;
	struct weft_block *blk;
	u32 i;

	if (READ_ONCE(lr->core.state) >= perm || !READ_ONCE(weft_lock_tuning.fetch))
		return;
	weft_lockres_blocks(lr, &b);
	for (i = 0; i < b.n; i++) {
		blk = weft_block_get(b.region, b.block[i], false, 0);
		if (IS_ERR(blk))
			break;
		weft_block_put(blk);
	}
	weft_guard_put(b.guard);
}

/*
 * A program has left the lock.  If the node hands the lock on, or has given it up, the guarded
 * blocks follow at once, without the work queue; a node that keeps no locks evicts them as well.
 */
static void left(struct weft_lockres *lr)
{
	bool gone = READ_ONCE(lr->core.state) == WEFT_I;
	struct weft_guarded_blocks b;
	struct weft_block *blk;
	u32 i;

	if (!gone && !READ_ONCE(lr->handing))
		return;
	weft_lockres_blocks(lr, &b);
	for (i = 0; i < b.n; i++) {
		blk = weft_block_find(b.region, b.block[i]);
		if (!blk)
			continue;
		weft_block_take_now(blk);
		if (gone && b.guard && !READ_ONCE(weft_lock_tuning.keep))
			weft_block_evict(blk);
		weft_block_put(blk);
	}
	weft_guard_put(b.guard);
}

void weft_lockres_kick(struct weft_lockres *lr)
{
	struct weft_outbox outbox;

	weft_lockres_begin(lr, &outbox);
	weft_lockres_end(lr, &outbox);
	left(lr);
}

void weft_lockres_mend(struct weft_lockres *lr)
{
	spin_lock_bh(&lr->lock);
	weft_word_mend(lr);
	spin_unlock_bh(&lr->lock);
}

int weft_lockres_release(struct weft_lockres *lr, const struct weft_holder *h)
{
	struct weft_outbox outbox;
	bool ok;

	weft_lockres_begin(lr, &outbox);
	ok = weft_word_leave(lr, h);
	weft_lockres_end(lr, &outbox);
	left(lr);
	return ok ? 0 : -EPERM;
}

/*
 * How long TRY waits for an answer, ns: three time-outs.  A holder elsewhere gives none, so no
 * answer means that the lock is held, or the request lost.
 */
static u64 answer_limit(const struct weft_locks *locks)
{
	const struct weft_rtts *rtts = &locks->node->rtts;

	return jiffies_to_nsecs(weft_rtt_timeout(rtts, WEFT_RTT_ASK, 0) +
				weft_rtt_timeout(rtts, WEFT_RTT_ASK, 1) +
				weft_rtt_timeout(rtts, WEFT_RTT_ASK, 2));
}

/* TRY has waited long enough for an answer. */
static bool tried(const struct weft_lockres *lr, u64 began)
{
	u64 now = ktime_get_ns(), limit = answer_limit(lr->locks);

	return now >= READ_ONCE(lr->asked) + limit || now >= began + 2 * limit;
}

/* Can TRY be refused at once?  The lock is held, or others wait for it. */
static bool busy(struct weft_lockres *lr, u8 perm)
{
	lockdep_assert_held(&lr->lock);
	return lr->core.revoking || !list_empty(&lr->waiters) ||
	       !weft_word_fits(lr, perm) ||
	       (lr->core.want && tried(lr, ktime_get_ns()));
}

static ktime_t now_on(clockid_t clock)
{
	return clock == CLOCK_REALTIME ? ktime_get_real() : ktime_get();
}

/* Should a waiter give up?  Return: the errno for that, or 0. */
static int gives_up(const struct weft_lockres *lr, const struct weft_waiter *w,
		    const struct weft_patience *p, u64 began)
{
	u64 limit = (u64)READ_ONCE(lr->locks->node->timeout_ms) * NSEC_PER_MSEC;

	if (signal_pending(current))
		return -ERESTARTSYS;
	if (p->until && ktime_compare(now_on(p->clock), p->deadline) >= 0)
		return -ETIMEDOUT;
	if (p->try && tried(lr, began))
		return -EBUSY;
	if (READ_ONCE(lr->core.state) < w->holder->perm &&
	    ktime_get_ns() >= began + limit && weft_node_cut_off(lr->locks->node))
		return -EIO;
	return 0;
}

static void sleep_some(const struct weft_lockres *lr, const struct weft_patience *p)
{
	clockid_t clock = p->until ? p->clock : CLOCK_MONOTONIC;
	ktime_t till = ktime_add_ms(now_on(clock), LOOK_MS);

	if (p->until && ktime_before(p->deadline, till))
		till = p->deadline;
	else if (p->try)
		till = ns_to_ktime(READ_ONCE(lr->asked) + answer_limit(lr->locks));
	schedule_hrtimeout_range_clock(&till, current->timer_slack_ns, HRTIMER_MODE_ABS, clock);
}

static void compete(struct weft_lockres *lr, struct weft_waiter *w)
{
	struct weft_outbox outbox;

	weft_lockres_begin(lr, &outbox);
	weft_lockres_try(lr, w);
	weft_lockres_end(lr, &outbox);
}

/* Wait until @w is done or gives up.  Return: 0 or a negative errno; @w is out of the queue. */
static int wait_for(struct weft_lockres *lr, struct weft_waiter *w, const struct weft_patience *p)
{
	u64 began = ktime_get_ns();
	struct weft_outbox outbox;
	int err = 0;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (READ_ONCE(w->done))
			break;
		if (READ_ONCE(w->told)) {
			__set_current_state(TASK_RUNNING);
			compete(lr, w);
			continue;
		}
		err = gives_up(lr, w, p, began);
		if (err)
			break;
		sleep_some(lr, p);
	}
	__set_current_state(TASK_RUNNING);
	weft_stat_add(&lr->locks->node->counters, WEFT_STAT_LOCK_WAITS_NSEC,
		      ktime_get_ns() - began);
	/* with the spinlock: whoever has set @done is through with @w */
	weft_lockres_begin(lr, &outbox);
	if (w->done) {
		err = w->err;
	} else {
		list_del(&w->node);
		lr->nr_waiters--;
	}
	weft_lockres_end(lr, &outbox);
	return err;
}

/*
 * Queue @w behind those that asked before it: a thread that a signal interrupted keeps its
 * place.
 */
static void enqueue(struct weft_lockres *lr, struct weft_waiter *w)
{
	struct weft_waiter *before;

	lockdep_assert_held(&lr->lock);
	list_for_each_entry_reverse(before, &lr->waiters, node)
		if (before->holder->since <= w->holder->since)
			break;
	list_add(&w->node, &before->node);
	lr->nr_waiters++;
}

int weft_lockres_acquire(struct weft_lockres *lr, const struct weft_holder *h,
			 const struct weft_patience *patience, bool *came)
{
	struct weft_waiter w = { .task = current, .holder = h };
	struct weft_outbox outbox;
	bool waits = false;
	u32 wants;
	int err = 0;

	weft_stat_inc(&lr->locks->node->counters, WEFT_STAT_LOCK_ACQUIRES);
	prepare(lr, h->perm);
	weft_lockres_begin(lr, &outbox);
	wants = lr->wants;
	if ((list_empty(&lr->waiters) ||
	     (h->perm == WEFT_M && weft_lockres_competes(lr))) &&
	    weft_lock_perm(&lr->core) >= h->perm && weft_word_take(lr, h)) {
		/* taken at once */
	} else if (patience->try && busy(lr, h->perm)) {
		err = -EBUSY;
	} else {
		enqueue(lr, &w);
		waits = true;
	}
	weft_lockres_end(lr, &outbox);
	if (waits)
		err = wait_for(lr, &w, patience);
	*came = READ_ONCE(lr->wants) != wants;
	if (!err && !*came)
		weft_stat_inc(&lr->locks->node->counters, WEFT_STAT_LOCK_CACHED);
	return err;
}
