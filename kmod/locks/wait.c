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

int weft_eventcount_read(struct weft_klock *kl, const struct weft_holder *h,
			 const struct weft_patience *patience, u32 *count)
{
	bool came;
	int err;

	if (!READ_ONCE(weft_lock_tuning.keep))
		return -EOPNOTSUPP;
	/* read the count first: it is outdated if the lock is lost after this */
	*count = (u32)atomic_read_acquire(weft_word_event(kl));
	if (READ_ONCE(kl->here))
		return 0;
	err = weft_klock_acquire(kl, h, patience, &came);
	return err ? err : weft_klock_release(kl, h);
}

void weft_eventcount_count(struct weft_klock *kl)
{
	spin_lock_bh(&kl->lock);
	if (!kl->uncounted)
		atomic_inc(weft_word_waiting(kl));
	kl->uncounted = true;
	spin_unlock_bh(&kl->lock);
}

int weft_eventcount_await(struct weft_klock *kl, u32 count, const struct weft_patience *p)
{
	ktime_t deadline = p->deadline;
	DEFINE_WAIT(wait);
	int err = 0;

	for (;;) {
		prepare_to_wait(&kl->awaiting, &wait, TASK_INTERRUPTIBLE);
		if ((u32)atomic_read(weft_word_event(kl)) != count)
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
	finish_wait(&kl->awaiting, &wait);
	return err;
}

void weft_eventcount_advance(struct weft_klock *kl)
{
	struct weft_outbox outbox;

	weft_klock_begin(kl, &outbox);
	kl->advance = true;
	weft_klock_event(kl);
	weft_klock_end(kl, &outbox);
}

/* --- taking and leaving ------------------------------------------------------------------- */

#define LOOK_MS		1000	/* so often a waiter looks whether the rack still answers */

bool weft_klock_attach(struct weft_klock *kl, u64 *word, u32 slot, struct weft_lists *lists)
{
	struct weft_outbox outbox;
	bool ok;

	weft_klock_begin(kl, &outbox);
	ok = !kl->dead;
	if (ok) {
		refcount_inc(&kl->ref);
		kl->slot = slot;
		kl->lists = lists;
		kl->word = word;
		kl->leaving = false;
		weft_klock_no_stray(kl);
	}
	weft_klock_end(kl, &outbox);
	return ok;
}

void weft_klock_detach(struct weft_klock *kl)
{
	struct weft_outbox outbox;
	struct weft_learn *learn;

	weft_guard_put(weft_klock_bind(kl, NULL));
	weft_klock_begin(kl, &outbox);
	weft_learn_forget(kl, &outbox);
	learn = kl->learn;
	kl->learn = NULL;
	weft_word_tell_on(kl, true);
	kl->word = NULL;
	kl->lists = NULL;
	kl->unsettled = false;
	kl->uncounted = false;
	kl->binders = 0;
	weft_klock_end(kl, &outbox);
	kfree(learn);
	weft_klock_put(kl);
}

struct weft_guard *weft_klock_bind(struct weft_klock *kl, struct weft_guard *guard)
{
	struct weft_outbox outbox;
	struct weft_guard *old;

	weft_klock_begin(kl, &outbox);
	old = kl->guard;
	if (old)
		weft_guard_tell(old, blk, weft_guarded_drop(blk, &outbox));
	/* a guard that a program has said ends the learning */
	if (guard)
		weft_learn_forget(kl, &outbox);
	kl->guard = guard;
	weft_klock_end(kl, &outbox);
	return old;
}

void weft_klock_blocks(struct weft_klock *kl, struct weft_guarded_blocks *b)
{
	b->guard = NULL;
	b->n = 0;
	if (!READ_ONCE(kl->guard) && !READ_ONCE(kl->learn))
		return;
	spin_lock_bh(&kl->lock);
	if (kl->guard) {
		b->guard = kl->guard;
		refcount_inc(&b->guard->ref);
		b->region = b->guard->region;
		b->block = b->guard->block;
		b->n = b->guard->n;
	} else if (kl->learn) {
		b->region = kl->learn->region;
		b->block = b->learnt;
		b->n = weft_learn_list(kl, b->learnt);
	}
	spin_unlock_bh(&kl->lock);
}

/*
 * Make memory for the blocks that come with the lock, as far as the cache has room.  Before the
 * lock is asked for: from then on it may come at any time.
 */
static void prepare(struct weft_klock *kl, u8 perm)
{
	struct weft_guarded_blocks b;
	struct weft_block *blk;
	u32 i;

	if (READ_ONCE(kl->core.state) >= perm || !READ_ONCE(weft_lock_tuning.fetch))
		return;
	weft_klock_blocks(kl, &b);
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
static void left(struct weft_klock *kl)
{
	bool gone = READ_ONCE(kl->core.state) == WEFT_I;
	struct weft_guarded_blocks b;
	struct weft_block *blk;
	u32 i;

	if (!gone && !READ_ONCE(kl->handing))
		return;
	weft_klock_blocks(kl, &b);
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

void weft_klock_kick(struct weft_klock *kl)
{
	struct weft_outbox outbox;

	weft_klock_begin(kl, &outbox);
	weft_klock_end(kl, &outbox);
	left(kl);
}

void weft_klock_mend(struct weft_klock *kl)
{
	spin_lock_bh(&kl->lock);
	weft_word_mend(kl);
	spin_unlock_bh(&kl->lock);
}

int weft_klock_release(struct weft_klock *kl, const struct weft_holder *h)
{
	struct weft_outbox outbox;
	bool ok;

	weft_klock_begin(kl, &outbox);
	ok = weft_word_leave(kl, h);
	weft_klock_end(kl, &outbox);
	left(kl);
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
static bool tried(const struct weft_klock *kl, u64 began)
{
	u64 now = ktime_get_ns(), limit = answer_limit(kl->locks);

	return now >= READ_ONCE(kl->asked) + limit || now >= began + 2 * limit;
}

/* Can TRY be refused at once?  The lock is held, or others wait for it. */
static bool busy(struct weft_klock *kl, u8 perm)
{
	lockdep_assert_held(&kl->lock);
	return kl->core.revoking || !list_empty(&kl->waiters) ||
	       !weft_word_fits(kl, perm) ||
	       (kl->core.want && tried(kl, ktime_get_ns()));
}

static ktime_t now_on(clockid_t clock)
{
	return clock == CLOCK_REALTIME ? ktime_get_real() : ktime_get();
}

/* Should a waiter give up?  Return: the errno for that, or 0. */
static int gives_up(const struct weft_klock *kl, const struct weft_waiter *w,
		    const struct weft_patience *p, u64 began)
{
	u64 limit = (u64)READ_ONCE(kl->locks->node->timeout_ms) * NSEC_PER_MSEC;

	if (signal_pending(current))
		return -ERESTARTSYS;
	if (p->until && ktime_compare(now_on(p->clock), p->deadline) >= 0)
		return -ETIMEDOUT;
	if (p->try && tried(kl, began))
		return -EBUSY;
	if (READ_ONCE(kl->core.state) < w->holder->perm &&
	    ktime_get_ns() >= began + limit && weft_node_cut_off(kl->locks->node))
		return -EIO;
	return 0;
}

static void sleep_some(const struct weft_klock *kl, const struct weft_patience *p)
{
	clockid_t clock = p->until ? p->clock : CLOCK_MONOTONIC;
	ktime_t till = ktime_add_ms(now_on(clock), LOOK_MS);

	if (p->until && ktime_before(p->deadline, till))
		till = p->deadline;
	else if (p->try)
		till = ns_to_ktime(READ_ONCE(kl->asked) + answer_limit(kl->locks));
	schedule_hrtimeout_range_clock(&till, current->timer_slack_ns, HRTIMER_MODE_ABS, clock);
}

static void compete(struct weft_klock *kl, struct weft_waiter *w)
{
	struct weft_outbox outbox;

	weft_klock_begin(kl, &outbox);
	weft_klock_try(kl, w);
	weft_klock_end(kl, &outbox);
}

/* Wait until @w is done or gives up.  Return: 0 or a negative errno; @w is out of the queue. */
static int wait_for(struct weft_klock *kl, struct weft_waiter *w, const struct weft_patience *p)
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
			compete(kl, w);
			continue;
		}
		err = gives_up(kl, w, p, began);
		if (err)
			break;
		sleep_some(kl, p);
	}
	__set_current_state(TASK_RUNNING);
	weft_stat_add(&kl->locks->node->counters, WEFT_STAT_LOCK_WAITS_NSEC,
		      ktime_get_ns() - began);
	/* with the spinlock: whoever has set @done is through with @w */
	weft_klock_begin(kl, &outbox);
	if (w->done) {
		err = w->err;
	} else {
		list_del(&w->node);
		kl->nr_waiters--;
	}
	weft_klock_end(kl, &outbox);
	return err;
}

/*
 * Queue @w behind those that asked before it: a thread that a signal interrupted keeps its
 * place.
 */
static void enqueue(struct weft_klock *kl, struct weft_waiter *w)
{
	struct weft_waiter *before;

	lockdep_assert_held(&kl->lock);
	list_for_each_entry_reverse(before, &kl->waiters, node)
		if (before->holder->since <= w->holder->since)
			break;
	list_add(&w->node, &before->node);
	kl->nr_waiters++;
}

int weft_klock_acquire(struct weft_klock *kl, const struct weft_holder *h,
		       const struct weft_patience *patience, bool *came)
{
	struct weft_waiter w = { .task = current, .holder = h };
	struct weft_outbox outbox;
	bool waits = false;
	u32 wants;
	int err = 0;

	weft_stat_inc(&kl->locks->node->counters, WEFT_STAT_LOCK_ACQUIRES);
	prepare(kl, h->perm);
	weft_klock_begin(kl, &outbox);
	wants = kl->wants;
	if ((list_empty(&kl->waiters) ||
	     (h->perm == WEFT_M && weft_klock_competes(kl))) &&
	    weft_lock_perm(&kl->core) >= h->perm && weft_word_take(kl, h)) {
		/* taken at once */
	} else if (patience->try && busy(kl, h->perm)) {
		err = -EBUSY;
	} else {
		enqueue(kl, &w);
		waits = true;
	}
	weft_klock_end(kl, &outbox);
	if (waits)
		err = wait_for(kl, &w, patience);
	*came = READ_ONCE(kl->wants) != wants;
	if (!err && !*came)
		weft_stat_inc(&kl->locks->node->counters, WEFT_STAT_LOCK_CACHED);
	return err;
}
