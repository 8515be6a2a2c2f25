// SPDX-License-Identifier: GPL-2.0-only
/*
 * Carry out what follows from an event of a lock: serve waiters, ask, hand over, give back; and
 * its timer.  Called by arrive.c, wait.c, reclaim.c, release.c, observe.c.  Any context; sleeps
 * nowhere, and sends no message before the spinlock is dropped (outbox).
 */
#include <linux/jiffies.h>
#include <linux/sched/signal.h>

#include "base/compat.h"
#include "base/event.h"
#include "base/stats.h"
#include "base/trace.h"
#include "blocks/block.h"
#include "locks/guard.h"
#include "locks/learn.h"
#include "locks/release.h"
#include "locks/step.h"
#include "locks/word.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/rtt.h"

static enum hrtimer_restart timer_fire(struct hrtimer *timer);

static void arm(struct weft_klock *kl, u64 due)
{
	lockdep_assert_held(&kl->lock);
	kl->due = due;
	if (kl->armed && ktime_to_ns(hrtimer_get_expires(&kl->timer)) <= due)
		return; /* the timer looks at @due when it fires */
	if (!kl->timed)
		weft_hrtimer_setup(&kl->timer, timer_fire, CLOCK_MONOTONIC,
				   HRTIMER_MODE_ABS_SOFT);
	kl->timed = true;
	if (!kl->armed) {
		kl->armed = true;
		refcount_inc(&kl->ref);
	}
	hrtimer_start(&kl->timer, ns_to_ktime(due), HRTIMER_MODE_ABS_SOFT);
}

/*
 * When to repeat a request, ns from now.  A lock that another node holds is granted when it is
 * this node's turn: wait for twice the usual time of that, too.
 */
static u64 patience_ns(const struct weft_klock *kl)
{
	unsigned long t = weft_rtt_timeout(&kl->locks->node->rtts, WEFT_RTT_ASK, kl->losses);

	if (kl->core.want && !kl->core.handing && !kl->core.query)
		t = max(t, min_t(unsigned long, HZ,
				 usecs_to_jiffies(2 * kl->usual_us) <<
				 min_t(u8, kl->losses, 10)));
	return jiffies_to_nsecs(t);
}

static void set_timer(struct weft_klock *kl, u32 effects)
{
	kl->refused = effects & WEFT_DO_BACKOFF;
	arm(kl, ktime_get_ns() +
	    (kl->refused ? weft_rtt_backoff(&kl->locks->node->rtts, kl->core.nacks) :
			   patience_ns(kl)));
}

void weft_klock_ask_again(struct weft_klock *kl)
{
	if (kl->armed && kl->losses)
		arm(kl, ktime_get_ns());
}

static void count_sent(struct weft_klock *kl, const struct weft_msg *msg)
{
	if (msg->type != WEFT_MSG_ACQUIRE || msg->flags & WEFT_F_RELAY)
		return;
	if (msg->txn == kl->asked_txn) {
		kl->repeated = true;
		return;
	}
	kl->asked_txn = msg->txn;
	kl->repeated = false;
	weft_stat_inc(&kl->locks->node->counters, WEFT_STAT_LOCK_REQUESTS);
}

void weft_klock_note_hand_over(struct weft_klock *kl)
{
	if (kl->handing == kl->core.handing)
		return;
	kl->handing = kl->core.handing;
	if (!kl->handing) {
		atomic_dec(&kl->locks->hand_overs);
		weft_locks_woken(kl->locks);
		return;
	}
	atomic_inc(&kl->locks->hand_overs);
	if (kl->core.handed_to || kl->core.handed_readers) {
		weft_stat_inc(&kl->locks->node->counters, WEFT_STAT_LOCK_HANDED);
		kl->hand_overs++;
	}
	trace_weft_lock_handed(&kl->core);
}

/* Do guarded blocks, said or learnt, go along with the lock? */
static bool passes(const struct weft_klock *kl)
{
	return (kl->guard || kl->learn) && READ_ONCE(weft_lock_tuning.fetch) &&
	       READ_ONCE(weft_lock_tuning.pass);
}

/*
 * A hand-over has begun: pass guarded blocks on to the next holders.  HANDED is in the outbox
 * before what follows from this.
 */
static void pass(struct weft_klock *kl, struct weft_outbox *outbox)
{
	const struct weft_lock *l = &kl->core;
	struct weft_successors successors = {};
	u32 i, n;

	if (!passes(kl))
		return;
	n = weft_lock_successors(l, &successors.writer);
	for (i = 0; i < n; i++) {
		if (weft_txn_member(l->handed.txn[i]) == l->self ||
		    successors.n == WEFT_SUCCESSORS_MAX)
			successors.writer = 0; /* a reader comes first here */
		else
			successors.reader[successors.n++] = l->handed.txn[i];
	}
	if (kl->guard)
		weft_guard_tell(kl->guard, blk, weft_guarded_pass(blk, &successors, outbox));
	else
		weft_learn_pass(kl, &successors, outbox);
}

/*
 * The lock is here: ask for guarded blocks, or expect them.  Before waiters are served, so that
 * they find a request under way for what they touch first.
 */
static void come(struct weft_klock *kl, struct weft_outbox *outbox)
{
	bool wanted = READ_ONCE(weft_lock_tuning.fetch) &&
		      (!list_empty(&kl->waiters) || kl->passed);

	if (kl->guard && wanted)
		weft_guard_tell(kl->guard, blk,
				weft_guarded_come(blk, kl->core.state, kl->passed, outbox));
	else if (kl->guard)
		weft_guard_tell(kl->guard, blk, weft_guarded_drop(blk, outbox));
	else if (wanted)
		weft_learn_come(kl, kl->passed, outbox);
	else
		weft_learn_drop(kl, outbox);
	kl->passed = false;
}

static void note_granted(struct weft_klock *kl)
{
	u64 took = ktime_get_ns() - kl->asked;

	weft_stat_inc(&kl->locks->node->counters, WEFT_STAT_LOCK_GRANTED);
	weft_hist_add(&kl->locks->node->counters, WEFT_HIST_LOCK_ACQUIRE, took);
	trace_weft_lock_granted(&kl->core, took);
	kl->usual_us = (3 * kl->usual_us +
			(u32)min_t(u64, took / NSEC_PER_USEC, USEC_PER_SEC)) / 4;
	kl->hands = 0;
	kl->grants++;
}

static struct weft_waiter *first_waiter(struct weft_klock *kl)
{
	return list_first_entry_or_null(&kl->waiters, struct weft_waiter, node);
}

/* The lock is here, and its last writer died: mark the word before any program has the lock. */
static void note_death(struct weft_klock *kl)
{
	const struct weft_node *node = kl->locks->node;
	u64 key = kl->core.key;

	if (!kl->core.died || kl->core.state == WEFT_I)
		return;
	kl->core.died = false;
	weft_word_note_death(kl);
	weft_stat_inc(&kl->locks->node->counters, WEFT_STAT_LOCK_OWNERS_DIED);
	weft_event_owner_died(node, weft_line_region(key), weft_line_index(key));
}

/*
 * @w stays valid until kl->lock is dropped: the waiter takes that lock after it has seen @done.
 */
static void finish(struct weft_klock *kl, struct weft_waiter *w, int err)
{
	list_del(&w->node);
	kl->nr_waiters--;
	w->err = err;
	WRITE_ONCE(w->done, true);
	wake_up_process(w->task);
}

/* Give the lock to waiters in turn, as far as it suffices.  Return: whether one got it. */
static bool serve(struct weft_klock *kl)
{
	bool any = false;
	struct weft_waiter *w;

	lockdep_assert_held(&kl->lock);
	while ((w = first_waiter(kl)) && w->holder->perm <= kl->core.state &&
	       weft_word_take(kl, w->holder)) {
		finish(kl, w, 0);
		any = true;
	}
	return any;
}

bool weft_klock_competes(struct weft_klock *kl)
{
	struct weft_waiter *w = first_waiter(kl);

	lockdep_assert_held(&kl->lock);
	return w && w->holder->perm == WEFT_M && kl->core.state == WEFT_M &&
	       !kl->core.revoking && !kl->unsettled && READ_ONCE(weft_lock_tuning.keep) &&
	       !(READ_ONCE(*kl->word) & WEFT_WORD_LISTED) &&
	       ktime_get_ns() < w->holder->since + WEFT_STRICT_NS;
}

/*
 * Wake the first waiter if it can have the lock now: it comes and takes it (weft_klock_try()).
 */
static void tell(struct weft_klock *kl)
{
	struct weft_waiter *w = first_waiter(kl);

	if (w->told || !weft_word_fits(kl, w->holder->perm))
		return;
	WRITE_ONCE(w->told, true);
	wake_up_process(w->task);
}

void weft_klock_try(struct weft_klock *kl, struct weft_waiter *w)
{
	lockdep_assert_held(&kl->lock);
	w->told = false;
	if (!w->done && first_waiter(kl) == w && !kl->core.revoking &&
	    w->holder->perm <= kl->core.state && weft_word_take(kl, w->holder))
		finish(kl, w, 0);
}

void weft_klock_fail_all(struct weft_klock *kl, int err)
{
	struct weft_waiter *w;

	lockdep_assert_held(&kl->lock);
	kl->advance = false;
	while ((w = first_waiter(kl)))
		finish(kl, w, err);
}

void weft_klock_event(struct weft_klock *kl)
{
	lockdep_assert_held(&kl->lock);
	if (!kl->word)
		return;
	atomic_inc(weft_word_event(kl));
	wake_up_all(&kl->awaiting);
}

/* The lock is lost to another node, which may change what programs await: count an event. */
static void note_lost(struct weft_klock *kl)
{
	if (!kl->here || kl->core.state != WEFT_I)
		return;
	kl->here = false;
	weft_klock_event(kl);
}

void weft_klock_act(struct weft_klock *kl, struct weft_lock_out *out,
		    struct weft_outbox *outbox)
{
	struct weft_node *node = kl->locks->node;
	u32 i;

	lockdep_assert_held(&kl->lock);
	note_death(kl);
	if (out->effects & WEFT_DO_REVOKE && !kl->heard)
		kl->heard = ktime_get_ns();
	for (i = 0; i < out->n; i++) {
		struct weft_send *s = &out->send[i];

		count_sent(kl, &s->msg);
		weft_outbox_put(outbox, s->to ? s->to : weft_node_home(node, kl->core.key),
				&s->msg);
	}
	if (kl->core.handing && !kl->handing)
		pass(kl, outbox);
	weft_klock_note_hand_over(kl);
	if (out->effects & WEFT_DO_FAIL) {
		weft_klock_fail_all(kl, -EIO);
		if (kl->guard)
			weft_guard_tell(kl->guard, blk, weft_guarded_drop(blk, outbox));
	} else if (out->effects & WEFT_DO_WAKE) {
		note_granted(kl);
		come(kl, outbox);
		/* before another node can take the lock away again */
		serve(kl);
	}
	if (out->effects & WEFT_DO_TIMER)
		set_timer(kl, out->effects);
}

static void want(struct weft_klock *kl, u8 perm, struct weft_outbox *outbox)
{
	struct weft_lock_out out;

	WRITE_ONCE(kl->asked, ktime_get_ns());
	WRITE_ONCE(kl->wants, kl->wants + 1);
	kl->losses = 0;
	weft_lock_want(&kl->core, perm, weft_node_seq(kl->locks->node), &out);
	kl->passed = false;
	/* before another node knows the transaction */
	if (passes(kl) && kl->guard)
		weft_guard_tell(kl->guard, blk,
				weft_guarded_expect(blk, perm, kl->core.txn, outbox));
	else if (passes(kl))
		weft_learn_expect(kl, perm, kl->core.txn, outbox);
	weft_klock_act(kl, &out, outbox);
}

static void revoked(struct weft_klock *kl, struct weft_outbox *outbox)
{
	enum weft_hist hist = kl->core.state == WEFT_M ? WEFT_HIST_LOCK_HAND_OVER :
							 WEFT_HIST_LOCK_YIELD;
	bool waited_for = kl->core.queue.n || kl->core.yielding;
	u32 writer = weft_lock_next_writer(&kl->core);
	struct weft_lock_out out;
	u64 heard = kl->heard;

	kl->hands = 0;
	if (kl->guard)
		weft_guard_tell(kl->guard, blk, weft_guarded_leave(blk, outbox));
	else
		weft_learn_leave(kl, passes(kl) ? writer : 0, outbox);
	if (writer && kl->guard && passes(kl))
		weft_guard_tell(kl->guard, blk, weft_guarded_yield(blk, writer, outbox));
	kl->heard = 0; /* the next holder may want it back at once */
	weft_word_tell_on(kl, true);
	weft_lock_revoked(&kl->core, &out);
	weft_klock_act(kl, &out, outbox);
	if (waited_for)
		weft_hist_add(&kl->locks->node->counters, hist, ktime_get_ns() - heard);
}

/*
 * Share the lock with nodes that wait to read, as long as holders here only read too.  With SLOW
 * set no writer of this node takes it without the kernel.  Return: whether it is shared now.
 */
static bool share(struct weft_klock *kl, struct weft_outbox *outbox)
{
	struct weft_waiter *w = first_waiter(kl);
	struct weft_lock_out out;

	if ((w && w->holder->perm == WEFT_M) ||
	    READ_ONCE(*kl->word) & WEFT_WORD_OWNER || !kl->core.queue.n ||
	    kl->core.queue.writers || !weft_release_ready(kl))
		return false;
	weft_word_tell_on(kl, false);
	if (!weft_lock_share(&kl->core, &out)) {
		/*
		 * not shared: the word keeps saying that the owner died, until a program mends
		 * it
		 */
		kl->core.unmended = false;
		return false;
	}
	kl->hands = 0;
	weft_klock_act(kl, &out, outbox);
	return true;
}

bool weft_klock_unused(const struct weft_klock *kl)
{
	return !kl->word && list_empty(&kl->waiters);
}

/* Should the lock be given back: no program needs it, or the node keeps no locks? */
static bool is_due(struct weft_klock *kl)
{
	if (weft_klock_unused(kl))
		return kl->leaving ||
		       READ_ONCE(kl->locks->mode) == WEFT_KLOCKS_STOPPING ||
		       !READ_ONCE(weft_lock_tuning.keep);
	return !READ_ONCE(weft_lock_tuning.keep) && list_empty(&kl->waiters) &&
	       !weft_word_mirror(kl, WEFT_WORD_SLOW);
}

/* Give the lock back if it should and can be.  Return: whether that begins. */
static bool leave(struct weft_klock *kl, struct weft_outbox *outbox)
{
	struct weft_lock_out out;

	if (!is_due(kl) || !weft_lock_evict(&kl->core, &out))
		return false;
	weft_klock_act(kl, &out, outbox);
	return true;
}

/*
 * Make one step for the lock.  Return: false: there is none, it is at rest or waits for a
 * program or a message.
 */
static bool step(struct weft_klock *kl, struct weft_outbox *outbox)
{
	struct weft_waiter *w = first_waiter(kl);
	u8 need = w ? w->holder->perm : WEFT_I;

	if (kl->core.state == WEFT_M)
		kl->advance = false;
	else if (kl->advance && READ_ONCE(kl->locks->mode) == WEFT_KLOCKS_RUNNING)
		need = WEFT_M;
	if (need > kl->core.state && !kl->core.want) {
		want(kl, need, outbox);
		return true;
	}
	if (!kl->core.revoking && weft_klock_competes(kl)) {
		tell(kl);
		return false;
	}
	if (!kl->core.revoking)
		return serve(kl) || leave(kl, outbox);
	if (weft_word_mirror(kl, WEFT_WORD_SLOW))
		/* the last program to leave it calls the kernel */
		return share(kl, outbox);
	if (kl->hands < READ_ONCE(weft_lock_tuning.local_hands) && serve(kl)) {
		kl->hands++;
		return true;
	}
	if (!weft_release_ready(kl))
		return false;
	/* ask before the lock goes: the node queues behind those that wait already */
	if (need && !kl->core.want)
		want(kl, need, outbox);
	revoked(kl, outbox);
	return true;
}

/*
 * Bits of the word by which the kernel tells programs what to do: SLOW, TELL or none
 * (uapi/weft.h).
 */
static u64 word_bits(struct weft_klock *kl)
{
	struct weft_waiter *w = first_waiter(kl);

	if (kl->core.revoking || kl->unsettled || !READ_ONCE(weft_lock_tuning.keep))
		return WEFT_WORD_SLOW;
	if (!w)
		return 0;
	if (!weft_klock_competes(kl))
		return WEFT_WORD_SLOW;
	/* the waiter was told and will come: no other program need call */
	return w->told ? 0 : WEFT_WORD_TELL;
}

/*
 * The word, together with SLOW or TELL, says that no program holds the lock: one left it after
 * the last look and before it could see those bits.  Return: whether there is something to do.
 */
static bool left_untold(struct weft_klock *kl)
{
	struct weft_waiter *w = first_waiter(kl);

	if (kl->core.revoking)
		return !kl->homing;
	return w && w->holder->perm <= kl->core.state &&
	       !(w->told && weft_klock_competes(kl));
}

void weft_klock_begin(struct weft_klock *kl, struct weft_outbox *outbox)
	__acquires(&kl->lock)
{
	weft_outbox_init(outbox, kl->locks->node);
	spin_lock_bh(&kl->lock);
}

void weft_klock_end(struct weft_klock *kl, struct weft_outbox *outbox)
	__releases(&kl->lock)
{
	if (!kl->dead) {
		do {
			while (step(kl, outbox))
				;
			if (!kl->core.revoking) {
				kl->heard = 0;
				weft_release_void(kl);
			}
		} while (!weft_word_mirror(kl, word_bits(kl)) && left_untold(kl));
		note_lost(kl);
		if (weft_klock_unused(kl) && kl->core.state == WEFT_I &&
		    !kl->core.tenured && weft_lock_idle(&kl->core))
			weft_klock_kill(kl);
	}
	spin_unlock_bh(&kl->lock);
	weft_outbox_send(outbox);
}

#define CHASE_SECONDS	30	/* look for a lost lock so long after a node has died */

/* A node has died lately: it may be the one that this node waits for. */
static bool after_death(const struct weft_locks *locks)
{
	unsigned long died = READ_ONCE(locks->died);

	return died && time_before(jiffies, died + CHASE_SECONDS * HZ);
}

/*
 * Should the home be asked to look for the lock (CHASE)?  A holder does not say when it hands
 * over, and mostly just holds it for long.  But a home that was restarted may not know that the
 * switch has the lock, and then does not free it when its holder dies; nor does it finish what
 * it began before: a lock that the switch was to give up is refused to all until its home asks
 * for it.
 */
static bool chases(const struct weft_klock *kl, bool lost)
{
	const struct weft_lock *l = &kl->core;

	if (!lost)
		return (l->handing || (l->want && !l->tenured)) && weft_chase_is_due(l->nacks);
	return l->want && !l->tenured &&
	       (kl->losses >= WEFT_CHASE_AFTER || after_death(kl->locks));
}

static void chase(const struct weft_klock *kl, struct weft_outbox *outbox)
{
	const struct weft_lock *l = &kl->core;
	struct weft_msg msg = {
		.type = WEFT_MSG_CHASE, .src = l->self, .txn = l->txn, .line = l->key,
	};

	weft_stat_inc(&kl->locks->node->counters, WEFT_STAT_CHASES);
	weft_outbox_put(outbox, weft_node_home(kl->locks->node, l->key), &msg);
}

static void send_again(struct weft_klock *kl, bool lost, struct weft_outbox *outbox)
{
	struct weft_lock_out out;

	weft_lock_timeout(&kl->core, &out);
	if (lost && out.n) {
		weft_stat_inc(&kl->locks->node->counters, WEFT_STAT_RETRANSMISSIONS);
		if (kl->losses < 255)
			kl->losses++;
	}
	if (out.n && chases(kl, lost))
		chase(kl, outbox);
	weft_klock_act(kl, &out, outbox);
}

static enum hrtimer_restart timer_fire(struct hrtimer *timer)
{
	struct weft_klock *kl = container_of(timer, struct weft_klock, timer);
	struct weft_outbox outbox;
	bool lost;

	weft_klock_begin(kl, &outbox);
	if (hrtimer_is_queued(timer)) {
		/* armed again before this callback got the spinlock: that owns the reference */
		spin_unlock_bh(&kl->lock);
		return HRTIMER_NORESTART;
	}
	kl->armed = false;
	if (kl->dead || weft_lock_idle(&kl->core)) {
		/* the answer has come */
	} else if (ktime_get_ns() < kl->due) {
		arm(kl, kl->due);
	} else {
		lost = !kl->refused;
		kl->refused = false;
		send_again(kl, lost, &outbox);
	}
	weft_klock_end(kl, &outbox);
	weft_klock_put(kl);
	return HRTIMER_NORESTART;
}
