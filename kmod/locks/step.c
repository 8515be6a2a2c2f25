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

static void arm(struct weft_lockres *lr, u64 due)
{
	lockdep_assert_held(&lr->lock);
	lr->due = due;
	if (lr->armed && ktime_to_ns(hrtimer_get_expires(&lr->timer)) <= due)
		return; /* the timer looks at @due when it fires */
	if (!lr->timed)
		weft_hrtimer_setup(&lr->timer, timer_fire, CLOCK_MONOTONIC,
				   HRTIMER_MODE_ABS_SOFT);
	lr->timed = true;
	if (!lr->armed) {
		lr->armed = true;
		refcount_inc(&lr->ref);
	}
	hrtimer_start(&lr->timer, ns_to_ktime(due), HRTIMER_MODE_ABS_SOFT);
}

/*
 * When to repeat a request, ns from now.  A lock that another node holds is granted when it is
 * this node's turn: wait for twice the usual time of that, too.
 */
static u64 patience_ns(const struct weft_lockres *lr)
{
	unsigned long t = weft_rtt_timeout(&lr->locks->node->rtts, WEFT_RTT_ASK, lr->losses);

	if (lr->core.want && !lr->core.handing && !lr->core.query)
		t = max(t, min_t(unsigned long, HZ,
				 usecs_to_jiffies(2 * lr->usual_us) <<
				 min_t(u8, lr->losses, 10)));
	return jiffies_to_nsecs(t);
}

static void set_timer(struct weft_lockres *lr, u32 effects)
{
	lr->refused = effects & WEFT_DO_BACKOFF;
	arm(lr, ktime_get_ns() +
	    (lr->refused ? weft_rtt_backoff(&lr->locks->node->rtts, lr->core.nacks) :
			   patience_ns(lr)));
}

void weft_lockres_ask_again(struct weft_lockres *lr)
{
	if (lr->armed && lr->losses)
		arm(lr, ktime_get_ns());
}

static void count_sent(struct weft_lockres *lr, const struct weft_msg *msg)
{
	if (msg->type != WEFT_MSG_ACQUIRE || msg->flags & WEFT_F_RELAY)
		return;
	if (msg->txn == lr->asked_txn) {
		lr->repeated = true;
		return;
	}
	lr->asked_txn = msg->txn;
	lr->repeated = false;
	weft_stat_inc(&lr->locks->node->counters, WEFT_STAT_LOCK_REQUESTS);
}

void weft_lockres_note_hand_over(struct weft_lockres *lr)
{
	if (lr->handing == lr->core.handing)
		return;
	lr->handing = lr->core.handing;
	if (!lr->handing) {
		atomic_dec(&lr->locks->hand_overs);
		weft_locks_woken(lr->locks);
		return;
	}
	atomic_inc(&lr->locks->hand_overs);
	if (lr->core.handed_to || lr->core.handed_readers) {
		weft_stat_inc(&lr->locks->node->counters, WEFT_STAT_LOCK_HANDED);
		lr->hand_overs++;
	}
	trace_weft_lock_handed(&lr->core);
}

/* Do guarded blocks, said or learnt, go along with the lock? */
static bool passes(const struct weft_lockres *lr)
{
	return (lr->guard || lr->learn) && READ_ONCE(weft_lock_tuning.fetch) &&
	       READ_ONCE(weft_lock_tuning.pass);
}

/*
 * A hand-over has begun: is it certain that no guarded block goes after the lock?  What readers
 * before the next writer will leave to it nobody knows yet.
 */
static bool goes_alone(const struct weft_lockres *lr)
{
	bool any = false;
	u32 writer;

	if (weft_lock_successors(&lr->core, &writer))
		return false;
	if (!passes(lr))
		return true;
	if (!lr->guard)
		return !weft_learn_goes(lr, writer);
	weft_guard_tell(lr->guard, blk, any = any || weft_guarded_goes(blk));
	return !any;
}

/*
 * A hand-over has begun: pass guarded blocks on to the next holders.  HANDED is in the outbox
 * before what follows from this.
 */
static void pass(struct weft_lockres *lr, struct weft_outbox *outbox)
{
	const struct weft_lock *l = &lr->core;
	struct weft_successors successors = {};
	u32 i, n;

	if (!passes(lr))
		return;
	n = weft_lock_successors(l, &successors.writer);
	for (i = 0; i < n; i++) {
		if (weft_txn_member(l->handed.txn[i]) == l->self ||
		    successors.n == WEFT_SUCCESSORS_MAX)
			successors.writer = 0; /* a reader comes first here */
		else
			successors.reader[successors.n++] = l->handed.txn[i];
	}
	if (lr->guard)
		weft_guard_tell(lr->guard, blk, weft_guarded_pass(blk, &successors, outbox));
	else
		weft_learn_pass(lr, &successors, outbox);
}

/*
 * The lock is here: ask for guarded blocks, or expect them.  Before waiters are served, so that
 * they find a request under way for what they touch first.
 */
static void come(struct weft_lockres *lr, struct weft_outbox *outbox)
{
	bool wanted = READ_ONCE(weft_lock_tuning.fetch) &&
		      (!list_empty(&lr->waiters) || lr->passed);

	if (lr->guard && wanted)
		weft_guard_tell(lr->guard, blk,
				weft_guarded_come(blk, lr->core.state, lr->passed, outbox));
	else if (lr->guard)
		weft_guard_tell(lr->guard, blk, weft_guarded_drop(blk, outbox));
	else if (wanted)
		weft_learn_come(lr, lr->passed, outbox);
	else
		weft_learn_drop(lr, outbox);
	lr->passed = false;
}

static void note_granted(struct weft_lockres *lr)
{
	u64 took = ktime_get_ns() - lr->asked;

	weft_stat_inc(&lr->locks->node->counters, WEFT_STAT_LOCK_GRANTED);
	weft_hist_add(&lr->locks->node->counters, WEFT_HIST_LOCK_ACQUIRE, took);
	trace_weft_lock_granted(&lr->core, took);
	lr->usual_us = (3 * lr->usual_us +
			(u32)min_t(u64, took / NSEC_PER_USEC, USEC_PER_SEC)) / 4;
	lr->hands = 0;
	lr->grants++;
}

static struct weft_waiter *first_waiter(struct weft_lockres *lr)
{
	return list_first_entry_or_null(&lr->waiters, struct weft_waiter, node);
}

/* The lock is here, and its last writer died: mark the word before any program has the lock. */
static void note_death(struct weft_lockres *lr)
{
	const struct weft_node *node = lr->locks->node;
	u64 key = lr->core.key;

	if (!lr->core.died || lr->core.state == WEFT_I)
		return;
	lr->core.died = false;
	weft_word_note_death(lr);
	weft_stat_inc(&lr->locks->node->counters, WEFT_STAT_LOCK_OWNERS_DIED);
	weft_event_owner_died(node, weft_line_region(key), weft_line_index(key));
}

/*
 * @w stays valid until lr->lock is dropped: the waiter takes that lock after it has seen @done.
 */
static void finish(struct weft_lockres *lr, struct weft_waiter *w, int err)
{
	list_del(&w->node);
	lr->nr_waiters--;
	w->err = err;
	WRITE_ONCE(w->done, true);
	wake_up_process(w->task);
}

/* Give the lock to waiters in turn, as far as it suffices.  Return: whether one got it. */
static bool serve(struct weft_lockres *lr)
{
	bool any = false;
	struct weft_waiter *w;

	lockdep_assert_held(&lr->lock);
	while ((w = first_waiter(lr)) && w->holder->perm <= lr->core.state &&
	       weft_word_take(lr, w->holder)) {
		finish(lr, w, 0);
		any = true;
	}
	return any;
}

bool weft_lockres_competes(struct weft_lockres *lr)
{
	struct weft_waiter *w = first_waiter(lr);

	lockdep_assert_held(&lr->lock);
	return w && w->holder->perm == WEFT_M && lr->core.state == WEFT_M &&
	       !lr->core.revoking && !lr->unsettled && READ_ONCE(weft_lock_tuning.keep) &&
	       !(READ_ONCE(*lr->word) & WEFT_WORD_LISTED) &&
	       ktime_get_ns() < w->holder->since + WEFT_STRICT_NS;
}

/*
 * Wake the first waiter if it can have the lock now: it comes and takes it (weft_lockres_try()).
 */
static void tell(struct weft_lockres *lr)
{
	struct weft_waiter *w = first_waiter(lr);

	if (w->told || !weft_word_fits(lr, w->holder->perm))
		return;
	WRITE_ONCE(w->told, true);
	wake_up_process(w->task);
}

void weft_lockres_try(struct weft_lockres *lr, struct weft_waiter *w)
{
	lockdep_assert_held(&lr->lock);
	w->told = false;
	if (!w->done && first_waiter(lr) == w && !lr->core.revoking &&
	    w->holder->perm <= lr->core.state && weft_word_take(lr, w->holder))
		finish(lr, w, 0);
}

void weft_lockres_fail_all(struct weft_lockres *lr, int err)
{
	struct weft_waiter *w;

	lockdep_assert_held(&lr->lock);
	lr->advance = false;
	while ((w = first_waiter(lr)))
		finish(lr, w, err);
}

void weft_lockres_event(struct weft_lockres *lr)
{
	lockdep_assert_held(&lr->lock);
	if (!lr->word)
		return;
	atomic_inc(weft_word_event(lr));
	wake_up_all(&lr->awaiting);
}

/* The lock is lost to another node, which may change what programs await: count an event. */
static void note_lost(struct weft_lockres *lr)
{
	if (!lr->here || lr->core.state != WEFT_I)
		return;
	lr->here = false;
	weft_lockres_event(lr);
}

void weft_lockres_act(struct weft_lockres *lr, struct weft_lock_out *out,
		      struct weft_outbox *outbox)
{
	struct weft_node *node = lr->locks->node;
	bool begins = lr->core.handing && !lr->handing;
	u8 alone = begins && goes_alone(lr) ? WEFT_F_ALONE : 0;
	u32 i;

	lockdep_assert_held(&lr->lock);
	note_death(lr);
	if (out->effects & WEFT_DO_REVOKE && !lr->heard)
		lr->heard = ktime_get_ns();
	for (i = 0; i < out->n; i++) {
		struct weft_send *s = &out->send[i];

		if (s->msg.type == WEFT_MSG_HAND)
			s->msg.flags |= alone;
		else if (s->msg.type == WEFT_MSG_INV_ACK && !passes(lr))
			s->msg.flags |= WEFT_F_ALONE;
		count_sent(lr, &s->msg);
		weft_outbox_put(outbox, s->to ? s->to : weft_node_home(node, lr->core.key),
				&s->msg);
	}
	if (begins)
		pass(lr, outbox);
	weft_lockres_note_hand_over(lr);
	if (out->effects & WEFT_DO_FAIL) {
		weft_lockres_fail_all(lr, -EIO);
		if (lr->guard)
			weft_guard_tell(lr->guard, blk, weft_guarded_drop(blk, outbox));
	} else if (out->effects & WEFT_DO_WAKE) {
		note_granted(lr);
		come(lr, outbox);
		/* before another node can take the lock away again */
		serve(lr);
	}
	if (out->effects & WEFT_DO_TIMER)
		set_timer(lr, out->effects);
}

static void want(struct weft_lockres *lr, u8 perm, struct weft_outbox *outbox)
{
	struct weft_lock_out out;

	WRITE_ONCE(lr->asked, ktime_get_ns());
	WRITE_ONCE(lr->wants, lr->wants + 1);
	lr->losses = 0;
	weft_lock_want(&lr->core, perm, weft_node_seq(lr->locks->node), &out);
	lr->passed = false;
	/* before another node knows the transaction */
	if (passes(lr) && lr->guard)
		weft_guard_tell(lr->guard, blk,
				weft_guarded_expect(blk, perm, lr->core.txn, outbox));
	else if (passes(lr))
		weft_learn_expect(lr, perm, lr->core.txn, outbox);
	weft_lockres_act(lr, &out, outbox);
}

static void revoked(struct weft_lockres *lr, struct weft_outbox *outbox)
{
	enum weft_hist hist = lr->core.state == WEFT_M ? WEFT_HIST_LOCK_HAND_OVER :
							 WEFT_HIST_LOCK_YIELD;
	bool waited_for = lr->core.queue.n || lr->core.yielding;
	u32 writer = weft_lock_next_writer(&lr->core);
	struct weft_lock_out out;
	u64 heard = lr->heard;

	lr->hands = 0;
	if (lr->guard)
		weft_guard_tell(lr->guard, blk, weft_guarded_leave(blk, outbox));
	else
		weft_learn_leave(lr, passes(lr) ? writer : 0, outbox);
	if (writer && lr->guard && passes(lr))
		weft_guard_tell(lr->guard, blk, weft_guarded_yield(blk, writer, outbox));
	lr->heard = 0; /* the next holder may want it back at once */
	weft_word_tell_on(lr, true);
	weft_lock_revoked(&lr->core, &out);
	weft_lockres_act(lr, &out, outbox);
	if (waited_for)
		weft_hist_add(&lr->locks->node->counters, hist, ktime_get_ns() - heard);
}

/*
 * Share the lock with nodes that wait to read, as long as holders here only read too.  With SLOW
 * set no writer of this node takes it without the kernel.  Return: whether it is shared now.
 */
static bool share(struct weft_lockres *lr, struct weft_outbox *outbox)
{
	struct weft_waiter *w = first_waiter(lr);
	struct weft_lock_out out;

	if ((w && w->holder->perm == WEFT_M) ||
	    READ_ONCE(*lr->word) & WEFT_WORD_OWNER || !lr->core.queue.n ||
	    lr->core.queue.writers || !weft_release_ready(lr))
		return false;
	weft_word_tell_on(lr, false);
	if (!weft_lock_share(&lr->core, &out)) {
		/*
		 * not shared: the word keeps saying that the owner died, until a program mends
		 * it
		 */
		lr->core.unmended = false;
		return false;
	}
	lr->hands = 0;
	weft_lockres_act(lr, &out, outbox);
	return true;
}

bool weft_lockres_unused(const struct weft_lockres *lr)
{
	return !lr->word && list_empty(&lr->waiters);
}

/* Should the lock be given back: no program needs it, or the node keeps no locks? */
static bool is_due(struct weft_lockres *lr)
{
	if (weft_lockres_unused(lr))
		return lr->leaving ||
		       READ_ONCE(lr->locks->mode) == WEFT_LOCKS_STOPPING ||
		       !READ_ONCE(weft_lock_tuning.keep);
	return !READ_ONCE(weft_lock_tuning.keep) && list_empty(&lr->waiters) &&
	       !weft_word_mirror(lr, WEFT_WORD_SLOW);
}

/* Give the lock back if it should and can be.  Return: whether that begins. */
static bool leave(struct weft_lockres *lr, struct weft_outbox *outbox)
{
	struct weft_lock_out out;

	if (!is_due(lr) || !weft_lock_evict(&lr->core, &out))
		return false;
	weft_lockres_act(lr, &out, outbox);
	return true;
}

/*
 * Make one step for the lock.  Return: false: there is none, it is at rest or waits for a
 * program or a message.
 */
static bool step(struct weft_lockres *lr, struct weft_outbox *outbox)
{
	struct weft_waiter *w = first_waiter(lr);
	u8 need = w ? w->holder->perm : WEFT_I;

	if (lr->core.state == WEFT_M)
		lr->advance = false;
	else if (lr->advance && READ_ONCE(lr->locks->mode) == WEFT_LOCKS_RUNNING)
		need = WEFT_M;
	if (need > lr->core.state && !lr->core.want) {
		want(lr, need, outbox);
		return true;
	}
	if (!lr->core.revoking && weft_lockres_competes(lr)) {
		tell(lr);
		return false;
	}
	if (!lr->core.revoking)
		return serve(lr) || leave(lr, outbox);
	if (weft_word_mirror(lr, WEFT_WORD_SLOW))
		/* the last program to leave it calls the kernel */
		return share(lr, outbox);
	if (lr->hands < READ_ONCE(weft_lock_tuning.local_hands) && serve(lr)) {
		lr->hands++;
		return true;
	}
	if (!weft_release_ready(lr))
		return false;
	/* ask before the lock goes: the node queues behind those that wait already */
	if (need && !lr->core.want)
		want(lr, need, outbox);
	revoked(lr, outbox);
	return true;
}

/*
 * Bits of the word by which the kernel tells programs what to do: SLOW, TELL or none
 * (uapi/weft.h).
 */
static u64 word_bits(struct weft_lockres *lr)
{
	struct weft_waiter *w = first_waiter(lr);

	if (lr->core.revoking || lr->unsettled || !READ_ONCE(weft_lock_tuning.keep))
		return WEFT_WORD_SLOW;
	if (!w)
		return 0;
	if (!weft_lockres_competes(lr))
		return WEFT_WORD_SLOW;
	/* the waiter was told and will come: no other program need call */
	return w->told ? 0 : WEFT_WORD_TELL;
}

/*
 * The word, together with SLOW or TELL, says that no program holds the lock: one left it after
 * the last look and before it could see those bits.  Return: whether there is something to do.
 */
static bool left_untold(struct weft_lockres *lr)
{
	struct weft_waiter *w = first_waiter(lr);

	if (lr->core.revoking)
		return !lr->homing;
	return w && w->holder->perm <= lr->core.state &&
	       !(w->told && weft_lockres_competes(lr));
}

void weft_lockres_begin(struct weft_lockres *lr, struct weft_outbox *outbox)
	__acquires(&lr->lock)
{
	weft_outbox_init(outbox, lr->locks->node);
	spin_lock_bh(&lr->lock);
}

void weft_lockres_end(struct weft_lockres *lr, struct weft_outbox *outbox)
	__releases(&lr->lock)
{
	if (!lr->dead) {
		do {
			while (step(lr, outbox))
				;
			if (!lr->core.revoking) {
				lr->heard = 0;
				weft_release_void(lr);
			}
		} while (!weft_word_mirror(lr, word_bits(lr)) && left_untold(lr));
		note_lost(lr);
		if (weft_lockres_unused(lr) && lr->core.state == WEFT_I &&
		    !lr->core.tenured && weft_lock_idle(&lr->core))
			weft_lockres_kill(lr);
	}
	spin_unlock_bh(&lr->lock);
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
static bool chases(const struct weft_lockres *lr, bool lost)
{
	const struct weft_lock *l = &lr->core;

	if (!lost)
		return (l->handing || (l->want && !l->tenured)) && weft_chase_is_due(l->nacks);
	return l->want && !l->tenured &&
	       (lr->losses >= WEFT_CHASE_AFTER || after_death(lr->locks));
}

static void chase(const struct weft_lockres *lr, struct weft_outbox *outbox)
{
	const struct weft_lock *l = &lr->core;
	struct weft_msg msg = {
		.type = WEFT_MSG_CHASE, .src = l->self, .txn = l->txn, .line = l->key,
	};

	weft_stat_inc(&lr->locks->node->counters, WEFT_STAT_CHASES);
	weft_outbox_put(outbox, weft_node_home(lr->locks->node, l->key), &msg);
}

static void send_again(struct weft_lockres *lr, bool lost, struct weft_outbox *outbox)
{
	struct weft_lock_out out;

	weft_lock_timeout(&lr->core, &out);
	if (lost && out.n) {
		weft_stat_inc(&lr->locks->node->counters, WEFT_STAT_RETRANSMISSIONS);
		if (lr->losses < 255)
			lr->losses++;
	}
	if (out.n && chases(lr, lost))
		chase(lr, outbox);
	weft_lockres_act(lr, &out, outbox);
}

static enum hrtimer_restart timer_fire(struct hrtimer *timer)
{
	struct weft_lockres *lr = container_of(timer, struct weft_lockres, timer);
	struct weft_outbox outbox;
	bool lost;

	weft_lockres_begin(lr, &outbox);
	if (hrtimer_is_queued(timer)) {
		/* armed again before this callback got the spinlock: that owns the reference */
		spin_unlock_bh(&lr->lock);
		return HRTIMER_NORESTART;
	}
	lr->armed = false;
	if (lr->dead || weft_lock_idle(&lr->core)) {
		/* the answer has come */
	} else if (ktime_get_ns() < lr->due) {
		arm(lr, lr->due);
	} else {
		lost = !lr->refused;
		lr->refused = false;
		send_again(lr, lost, &outbox);
	}
	weft_lockres_end(lr, &outbox);
	weft_lockres_put(lr);
	return HRTIMER_NORESTART;
}
