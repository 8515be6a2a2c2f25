// SPDX-License-Identifier: GPL-2.0-only
/* Locks at this node, see klock.h. */
#include <linux/build_bug.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "klock.h"
#include "node.h"
#include "rtt.h"
#include "send.h"
#include "stats.h"
#include "trace.h"
#include "udp.h"
#include "weft.h"

#define LOOK_MS		1000	/* waiters look whether the rack is there */
#define STRAYS_MAX	4096	/* locks that only messages told us of */
#define HANDING_MAX	64	/* hand-overs at a time when many are given back */
#define STALE_MS	2000	/* see weft_klock_stop() */

/**
 * struct waiter - somebody who waits in the kernel
 * @node: in weft_klock.waiters until @done
 * @task: who
 * @holder: what for
 * @done: has it, or @err says why not.  The lock's @lock to write
 * @err: 0 or -EIO
 */
struct waiter {
	struct list_head node;
	struct task_struct *task;
	const struct weft_holder *holder;
	bool done;
	int err;
};

enum mode { OFF, RUNNING, STOPPING };

/* By the name of the line.  Looked up under RCU. */
static DEFINE_XARRAY_FLAGS(locks, XA_FLAGS_LOCK_BH);
static enum mode mode;
static atomic_t alive;		/* structures, also those out of the table */
static atomic_t strays;
static atomic_t hand_overs;
/* For a hand-over less, a structure less, an empty table. */
static DECLARE_WAIT_QUEUE_HEAD(gone);

static_assert(sizeof(long) >= sizeof(u64), "names of lines are indices");

static void woken(void)
{
	if (wq_has_sleeper(&gone))
		wake_up_all(&gone);
}

/* --- life --------------------------------------------------------------------- */

static enum hrtimer_restart timer_fire(struct hrtimer *timer);

static void klock_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct weft_klock, rcu));
}

void weft_klock_put(struct weft_klock *kl)
{
	if (!refcount_dec_and_test(&kl->ref))
		return;
	/* a lookup in softirq may still read @ref */
	call_rcu(&kl->rcu, klock_free);
	atomic_dec(&alive);
	woken();
}

static struct weft_klock *klock_alloc(u64 key, gfp_t gfp)
{
	struct weft_klock *kl = kzalloc(sizeof(*kl), gfp);

	if (!kl)
		return NULL;
	atomic_inc(&alive);
	weft_lock_init(&kl->core, key, weft_node.id);
	spin_lock_init(&kl->lock);
	refcount_set(&kl->ref, 2); /* the table's and the caller's */
	INIT_LIST_HEAD(&kl->waiters);
	hrtimer_init(&kl->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	kl->timer.function = timer_fire;
	return kl;
}

/* Never was in the table. */
static void klock_discard(struct weft_klock *kl)
{
	atomic_dec(&alive);
	kfree(kl);
}

static struct weft_klock *find(u64 key)
{
	struct weft_klock *kl;

	rcu_read_lock();
	kl = xa_load(&locks, key);
	if (kl && !refcount_inc_not_zero(&kl->ref))
		kl = NULL;
	rcu_read_unlock();
	return kl;
}

/* The first one from *key to @last, with a reference; *key is set to it. */
static struct weft_klock *next(u64 *key, u64 last)
{
	unsigned long at = *key;
	struct weft_klock *kl;

	rcu_read_lock();
	kl = xa_find(&locks, &at, last, XA_PRESENT);
	while (kl && !refcount_inc_not_zero(&kl->ref))
		kl = xa_find_after(&locks, &at, last, XA_PRESENT);
	rcu_read_unlock();
	*key = at;
	return kl;
}

struct weft_klock *weft_klock_get(u64 key)
{
	struct weft_klock *kl;
	int err;

	do {
		kl = find(key);
		if (kl)
			return kl;
		kl = klock_alloc(key, GFP_KERNEL_ACCOUNT);
		if (!kl)
			return ERR_PTR(-ENOMEM);
		err = xa_insert_bh(&locks, key, kl, GFP_KERNEL_ACCOUNT);
		if (!err)
			return kl;
		klock_discard(kl);
	} while (err == -EBUSY); /* somebody was faster */
	return ERR_PTR(err);
}

static void no_stray(struct weft_klock *kl)
{
	lockdep_assert_held(&kl->lock);
	if (kl->stray)
		atomic_dec(&strays);
	kl->stray = false;
}

/* Out of the table.  The caller has a reference. */
static void kill(struct weft_klock *kl)
{
	lockdep_assert_held(&kl->lock);
	kl->dead = true;
	no_stray(kl);
	if (kl->handing)
		atomic_dec(&hand_overs);
	kl->handing = false;
	/* if it is running, it sees @dead and gives its reference back */
	if (kl->armed && hrtimer_try_to_cancel(&kl->timer) == 1) {
		kl->armed = false;
		weft_klock_put(kl);
	}
	xa_erase_bh(&locks, kl->core.key);
	weft_klock_put(kl);
	woken();
}

/* --- what follows from an event ---------------------------------------------------- */

static void arm(struct weft_klock *kl, u64 due)
{
	lockdep_assert_held(&kl->lock);
	kl->due = due;
	if (kl->armed && ktime_to_ns(hrtimer_get_expires(&kl->timer)) <= due)
		return; /* it looks at @due then */
	if (!kl->armed) {
		kl->armed = true;
		refcount_inc(&kl->ref);
	}
	hrtimer_start(&kl->timer, ns_to_ktime(due), HRTIMER_MODE_ABS_SOFT);
}

/*
 * When to send again, ns from now.  Who asks for a lock that another node has gets
 * no answer until it is its turn: that may take as long as it did lately.
 */
static u64 patience_ns(const struct weft_klock *kl)
{
	unsigned long t = weft_rtt_timeout(WEFT_RTT_ASK, kl->losses);

	if (kl->core.want && !kl->core.handing && !kl->core.query)
		t = max(t, min_t(unsigned long, HZ,
				 usecs_to_jiffies(2 * kl->usual_us) <<
				 min_t(u8, kl->losses, 10)));
	return jiffies_to_nsecs(t);
}

static void set_timer(struct weft_klock *kl, u32 effects)
{
	u64 now = ktime_get_ns();

	kl->refused = effects & WEFT_DO_BACKOFF;
	if (kl->refused)
		arm(kl, now + weft_rtt_backoff(kl->core.nacks));
	else
		arm(kl, now + patience_ns(kl));
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
	weft_stat_inc(WEFT_STAT_LOCK_REQUESTS);
}

static void note_hand_over(struct weft_klock *kl)
{
	if (kl->handing == kl->core.handing)
		return;
	kl->handing = kl->core.handing;
	if (!kl->handing) {
		atomic_dec(&hand_overs);
		woken();
		return;
	}
	atomic_inc(&hand_overs);
	if (kl->core.handed_to || kl->core.handed_readers)
		weft_stat_inc(WEFT_STAT_LOCK_HANDED);
	trace_weft_lock_handed(&kl->core);
}

static void note_granted(struct weft_klock *kl)
{
	u64 took = ktime_get_ns() - kl->asked;

	weft_stat_inc(WEFT_STAT_LOCK_GRANTED);
	trace_weft_lock_granted(&kl->core, took);
	kl->usual_us = (3 * kl->usual_us +
			(u32)min_t(u64, took / NSEC_PER_USEC, USEC_PER_SEC)) / 4;
	kl->hands = 0;
}

static struct waiter *first_waiter(struct weft_klock *kl)
{
	return list_first_entry_or_null(&kl->waiters, struct waiter, node);
}

/* Until @lock is let go of, @w stays: the waiter takes the lock to see @done. */
static void finish(struct waiter *w, int err)
{
	list_del(&w->node);
	w->err = err;
	WRITE_ONCE(w->done, true);
	wake_up_process(w->task);
}

/* Whoever's turn it is gets the lock.  Return: whether somebody did. */
static bool serve(struct weft_klock *kl)
{
	bool any = false;
	struct waiter *w;

	lockdep_assert_held(&kl->lock);
	while ((w = first_waiter(kl)) && w->holder->perm <= kl->core.state &&
	       weft_word_take(kl, w->holder)) {
		finish(w, 0);
		any = true;
	}
	return any;
}

static void fail_all(struct weft_klock *kl)
{
	struct waiter *w;

	lockdep_assert_held(&kl->lock);
	while ((w = first_waiter(kl)))
		finish(w, -EIO);
}

/* Carry out what the core decided; what it wants revoked is for run(). */
static void act(struct weft_klock *kl, struct weft_lock_out *out,
		struct sk_buff_head *queue)
{
	u32 i;

	lockdep_assert_held(&kl->lock);
	for (i = 0; i < out->n; i++) {
		struct weft_send *s = &out->send[i];

		count_sent(kl, &s->msg);
		weft_send(queue, s->to ? s->to : weft_node_home(kl->core.key),
			  &s->msg);
	}
	note_hand_over(kl);
	if (out->effects & WEFT_DO_FAIL) {
		fail_all(kl);
	} else if (out->effects & WEFT_DO_WAKE) {
		note_granted(kl);
		/* before it can be taken away again */
		serve(kl);
	}
	if (out->effects & WEFT_DO_TIMER)
		set_timer(kl, out->effects);
}

static void want(struct weft_klock *kl, u8 perm, struct sk_buff_head *queue)
{
	struct weft_lock_out out;

	WRITE_ONCE(kl->asked, ktime_get_ns());
	WRITE_ONCE(kl->wants, kl->wants + 1);
	kl->losses = 0;
	weft_lock_want(&kl->core, perm, weft_node_seq(), &out);
	act(kl, &out, queue);
}

static void revoked(struct weft_klock *kl, struct sk_buff_head *queue)
{
	struct weft_lock_out out;

	kl->hands = 0;
	weft_lock_revoked(&kl->core, &out);
	act(kl, &out, queue);
}

/*
 * Those who hold it read, and others only wait to read: they need not wait for each
 * other.  With SLOW set no writer gets in without us.
 */
static bool share(struct weft_klock *kl, struct sk_buff_head *queue)
{
	struct waiter *w = first_waiter(kl);
	struct weft_lock_out out;

	if ((w && w->holder->perm == WEFT_M) ||
	    READ_ONCE(*kl->word) & WEFT_WORD_OWNER ||
	    !weft_lock_share(&kl->core, &out))
		return false;
	kl->hands = 0;
	act(kl, &out, queue);
	return true;
}

static bool unused(const struct weft_klock *kl)
{
	return !kl->word && list_empty(&kl->waiters);
}

/* Give it back if that is due and can be.  Return: whether it begins. */
static bool leave(struct weft_klock *kl, struct sk_buff_head *queue)
{
	struct weft_lock_out out;

	if (!unused(kl) ||
	    !(kl->leaving || READ_ONCE(mode) == STOPPING) ||
	    !weft_lock_evict(&kl->core, &out))
		return false;
	act(kl, &out, queue);
	return true;
}

/*
 * One step towards rest.  Return: false if there is none, because the lock is at
 * rest or waits for a program or a message.
 */
static bool step(struct weft_klock *kl, struct sk_buff_head *queue)
{
	struct waiter *w = first_waiter(kl);
	u8 need = w ? w->holder->perm : WEFT_I;

	/* more than others could leave us with */
	if (need > kl->core.state && !kl->core.want) {
		want(kl, need, queue);
		return true;
	}
	if (!kl->core.revoking)
		return serve(kl) || leave(kl, queue);
	if (weft_word_mirror(kl, true))
		/* who holds it tells us when it is left */
		return share(kl, queue);
	if (kl->hands < WEFT_LOCAL_HANDS && serve(kl)) {
		kl->hands++;
		return true;
	}
	/* our own place in the queue is behind those who wait already */
	if (need && !kl->core.want)
		want(kl, need, queue);
	revoked(kl, queue);
	return true;
}

static void begin(struct weft_klock *kl, struct sk_buff_head *queue)
	__acquires(&kl->lock)
{
	__skb_queue_head_init(queue);
	spin_lock_bh(&kl->lock);
}

/* After any event: until nothing is left to do. */
static void end(struct weft_klock *kl, struct sk_buff_head *queue)
	__releases(&kl->lock)
{
	if (!kl->dead) {
		while (step(kl, queue))
			;
		weft_word_mirror(kl, kl->core.revoking || kl->unsettled ||
				     !list_empty(&kl->waiters));
		if (unused(kl) && kl->core.state == WEFT_I &&
		    !kl->core.tenured && weft_lock_idle(&kl->core))
			kill(kl);
	}
	spin_unlock_bh(&kl->lock);
	weft_udp_send(queue);
}

static void send_again(struct weft_klock *kl, bool lost,
		       struct sk_buff_head *queue)
{
	struct weft_lock_out out;

	weft_lock_timeout(&kl->core, &out);
	if (lost && out.n) {
		weft_stat_inc(WEFT_STAT_RETRANSMISSIONS);
		if (kl->losses < 255)
			kl->losses++;
	}
	act(kl, &out, queue);
}

static enum hrtimer_restart timer_fire(struct hrtimer *timer)
{
	struct weft_klock *kl = container_of(timer, struct weft_klock, timer);
	struct sk_buff_head queue;
	bool lost;

	begin(kl, &queue);
	if (hrtimer_is_queued(timer)) {
		/* armed again before we came here: the reference is its */
		spin_unlock_bh(&kl->lock);
		return HRTIMER_NORESTART;
	}
	kl->armed = false;
	if (kl->dead || weft_lock_idle(&kl->core)) {
		/* answered meanwhile */
	} else if (ktime_get_ns() < kl->due) {
		arm(kl, kl->due);
	} else {
		lost = !kl->refused;
		kl->refused = false;
		send_again(kl, lost, &queue);
	}
	end(kl, &queue);
	weft_klock_put(kl);
	return HRTIMER_NORESTART;
}

/* --- programs ------------------------------------------------------------------- */

bool weft_klock_attach(struct weft_klock *kl, u64 *word, u32 slot)
{
	struct sk_buff_head queue;
	bool ok;

	begin(kl, &queue);
	ok = !kl->dead;
	if (ok) {
		refcount_inc(&kl->ref);
		kl->slot = slot;
		kl->word = word;
		kl->leaving = false;
		no_stray(kl);
	}
	end(kl, &queue);
	return ok;
}

void weft_klock_detach(struct weft_klock *kl)
{
	struct sk_buff_head queue;

	begin(kl, &queue);
	kl->word = NULL;
	kl->unsettled = false;
	end(kl, &queue);
	weft_klock_put(kl);
}

void weft_klock_kick(struct weft_klock *kl)
{
	struct sk_buff_head queue;

	begin(kl, &queue);
	end(kl, &queue);
}

int weft_klock_release(struct weft_klock *kl, const struct weft_holder *h)
{
	struct sk_buff_head queue;
	bool ok;

	begin(kl, &queue);
	ok = weft_word_leave(kl, h);
	end(kl, &queue);
	return ok ? 0 : -EPERM;
}

/*
 * How long TRY waits for an answer, ns.  Who has the lock elsewhere gives none,
 * so that this is all that is known.
 */
static u64 answer_limit(void)
{
	return jiffies_to_nsecs(weft_rtt_timeout(WEFT_RTT_ASK, 0) +
				weft_rtt_timeout(WEFT_RTT_ASK, 1) +
				weft_rtt_timeout(WEFT_RTT_ASK, 2));
}

/* The answer that TRY waits for should have come. */
static bool tried(const struct weft_klock *kl, u64 began)
{
	u64 now = ktime_get_ns(), limit = answer_limit();

	return now >= READ_ONCE(kl->asked) + limit || now >= began + 2 * limit;
}

/* Whether TRY can be answered at once: somebody has it. */
static bool busy(const struct weft_klock *kl, u8 perm)
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

/* Why a waiter should give up, or 0. */
static int gives_up(const struct weft_klock *kl, const struct waiter *w,
		    const struct weft_patience *p, u64 began)
{
	u64 limit = (u64)READ_ONCE(weft_node.timeout_ms) * NSEC_PER_MSEC;

	if (signal_pending(current))
		return -ERESTARTSYS;
	if (p->until && ktime_compare(now_on(p->clock), p->deadline) >= 0)
		return -ETIMEDOUT;
	if (p->try && tried(kl, began))
		return -EBUSY;
	if (READ_ONCE(kl->core.state) < w->holder->perm &&
	    ktime_get_ns() >= began + limit && weft_node_cut_off())
		return -EIO;
	return 0;
}

static void sleep_some(const struct weft_klock *kl,
		       const struct weft_patience *p)
{
	clockid_t clock = p->until ? p->clock : CLOCK_MONOTONIC;
	ktime_t till = ktime_add_ms(now_on(clock), LOOK_MS);

	if (p->until && ktime_before(p->deadline, till))
		till = p->deadline;
	else if (p->try)
		till = ns_to_ktime(READ_ONCE(kl->asked) + answer_limit());
	schedule_hrtimeout_range_clock(&till, current->timer_slack_ns,
				       HRTIMER_MODE_ABS, clock);
}

/* Until @w is done, or gives up; then it is out of the queue. */
static int wait_for(struct weft_klock *kl, struct waiter *w,
		    const struct weft_patience *p)
{
	u64 began = ktime_get_ns();
	struct sk_buff_head queue;
	int err = 0;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (READ_ONCE(w->done))
			break;
		err = gives_up(kl, w, p, began);
		if (err)
			break;
		sleep_some(kl, p);
	}
	__set_current_state(TASK_RUNNING);
	weft_stat_add(WEFT_STAT_LOCK_WAITS_NSEC, ktime_get_ns() - began);
	/* also so that whoever finished it has let go of it */
	begin(kl, &queue);
	if (w->done)
		err = w->err;
	else
		list_del(&w->node);
	end(kl, &queue);
	return err;
}

int weft_klock_acquire(struct weft_klock *kl, const struct weft_holder *h,
		       const struct weft_patience *patience)
{
	struct waiter w = { .task = current, .holder = h };
	struct sk_buff_head queue;
	bool waits = false;
	u32 wants;
	int err = 0;

	weft_stat_inc(WEFT_STAT_LOCK_ACQUIRES);
	begin(kl, &queue);
	wants = kl->wants;
	if (list_empty(&kl->waiters) &&
	    weft_lock_perm(&kl->core) >= h->perm && weft_word_take(kl, h)) {
		/* nobody was in the way */
	} else if (patience->try && busy(kl, h->perm)) {
		err = -EBUSY;
	} else {
		list_add_tail(&w.node, &kl->waiters);
		waits = true;
	}
	end(kl, &queue);
	if (waits)
		err = wait_for(kl, &w, patience);
	if (!err && READ_ONCE(kl->wants) == wants)
		weft_stat_inc(WEFT_STAT_LOCK_CACHED);
	return err;
}

/* --- the dead ---------------------------------------------------------------------- */

bool weft_klock_concerns(const struct weft_klock *kl, u16 owner)
{
	u64 word = READ_ONCE(*kl->word);

	/* it may have left the lock and died before it told us */
	return word & WEFT_WORD_SLOW || (word & WEFT_WORD_OWNER) ==
	       (u64)owner << WEFT_WORD_OWNER_SHIFT;
}

void weft_klock_bury(struct weft_klock *kl, u16 owner, u32 readers,
		     bool pending)
{
	struct sk_buff_head queue;
	u32 n;

	begin(kl, &queue);
	kl->unsettled |= pending;
	n = weft_word_give_back(kl, owner, pending ? 0 : readers);
	weft_stat_add(WEFT_STAT_LOCK_RELEASES_DEAD, n);
	end(kl, &queue);
}

bool weft_klock_settle(struct weft_klock *kl,
		       bool (*count)(void *arg, u64 *readers), void *arg)
{
	struct sk_buff_head queue;
	u64 word, readers;
	u32 moves, n = 0;
	bool done;

	spin_lock_bh(&kl->lock);
	word = READ_ONCE(*kl->word);
	moves = kl->moves;
	spin_unlock_bh(&kl->lock);
	/*
	 * Programs change the word, then their count, and only then say that
	 * nothing is pending any more: look in the opposite order.
	 */
	smp_rmb();
	if (!count(arg, &readers))
		return false;
	begin(kl, &queue);
	/* with SLOW set only we add to it: if it is the same, nothing moved */
	done = word & WEFT_WORD_SLOW && kl->moves == moves &&
	       weft_word_settle(kl, word, readers, &n);
	if (done)
		kl->unsettled = false;
	weft_stat_add(WEFT_STAT_LOCK_RELEASES_DEAD, n);
	end(kl, &queue);
	return done;
}

/* --- messages ---------------------------------------------------------------------- */

static void recv_known(struct weft_klock *kl, const struct weft_msg *msg,
		       struct sk_buff_head *queue)
{
	u8 wanted = kl->core.want;
	struct weft_lock_out out;

	lockdep_assert_held(&kl->lock);
	weft_lock_recv(&kl->core, msg, weft_node_seq(), &out);
	/* nobody else had a say in it */
	if (msg->type == WEFT_MSG_GRANT && wanted && !kl->core.want &&
	    !kl->repeated)
		weft_rtt_sample(WEFT_RTT_ASK, ktime_get_ns() - kl->asked);
	if (out.effects & WEFT_DO_BACKOFF)
		weft_stat_inc(WEFT_STAT_NACKS);
	else if (out.effects & WEFT_DO_TIMER)
		kl->losses = 0;
	act(kl, &out, queue);
}

/*
 * A lock that we know nothing of.  Mostly the answer needs no memory; only if we
 * have to ask something ourselves the lock is made, if there is room for it: else
 * the message counts as lost.
 *
 * Return: false if somebody else has made it meanwhile.
 */
static bool recv_unknown(const struct weft_msg *msg, struct sk_buff_head *queue)
{
	struct weft_lock_out out;
	struct weft_klock *kl;
	struct weft_lock lock;
	u32 i;
	int err;

	weft_lock_init(&lock, msg->line, weft_node.id);
	weft_lock_recv(&lock, msg, weft_node_seq(), &out);
	if (lock.state == WEFT_I && !lock.tenured && weft_lock_idle(&lock)) {
		weft_stat_inc(WEFT_STAT_MSG_UNKNOWN_LINE);
		for (i = 0; i < out.n; i++)
			weft_send(queue, out.send[i].to ? out.send[i].to :
				  weft_node_home(msg->line), &out.send[i].msg);
		return true;
	}
	if (READ_ONCE(mode) == OFF)
		return true;
	if (atomic_inc_return(&strays) > STRAYS_MAX) {
		atomic_dec(&strays);
		return true;
	}
	kl = klock_alloc(msg->line, GFP_ATOMIC);
	if (!kl) {
		atomic_dec(&strays);
		weft_stat_inc(WEFT_STAT_MSG_NO_MEMORY);
		return true;
	}
	kl->stray = true;
	kl->leaving = true;
	spin_lock_bh(&kl->lock);
	err = xa_insert_bh(&locks, msg->line, kl, GFP_ATOMIC);
	if (err) {
		spin_unlock_bh(&kl->lock);
		klock_discard(kl);
		atomic_dec(&strays);
		return err != -EBUSY;
	}
	kl->core = lock;
	act(kl, &out, queue);
	end(kl, queue);
	weft_klock_put(kl);
	return true;
}

void weft_klock_recv(const struct weft_msg *msg)
{
	struct sk_buff_head queue;
	struct weft_klock *kl;
	bool done = false;

	if (weft_line_kind(msg->line) != WEFT_KIND_LOCK)
		return;
	__skb_queue_head_init(&queue);
	/* pairs with synchronize_rcu() of weft_klock_stop() */
	rcu_read_lock();
	while (!done) {
		kl = find(msg->line);
		if (!kl) {
			done = recv_unknown(msg, &queue);
			continue;
		}
		spin_lock_bh(&kl->lock);
		done = !kl->dead;
		if (done)
			recv_known(kl, msg, &queue);
		end(kl, &queue);
		weft_klock_put(kl);
	}
	rcu_read_unlock();
	weft_udp_send(&queue);
}

/* --- giving up ----------------------------------------------------------------------- */

static u64 first_of(u32 region, u64 offset)
{
	return weft_line_key(region, WEFT_KIND_LOCK, offset);
}

static u64 last_of(u32 region)
{
	return weft_line_key(region, WEFT_KIND_LOCK, ~0ull);
}

/* Only a request is outstanding, and nobody waits for it any more. */
static bool is_stale(const struct weft_klock *kl)
{
	const struct weft_lock *l = &kl->core;

	lockdep_assert_held(&kl->lock);
	return unused(kl) && l->want && l->state == WEFT_I && !l->tenured &&
	       !l->handing && !l->query;
}

/**
 * struct census - what is left of locks that are given back
 * @stale: stale requests
 * @cached: all others
 */
struct census {
	u64 stale;
	u64 cached;
};

/* One round of giving back those that nobody has open, until @until at most. */
static struct census give_back(u64 key, u64 last, unsigned long until)
{
	struct census left = {};
	struct weft_klock *kl;

	for (; (kl = next(&key, last)); key++) {
		struct sk_buff_head queue;

		begin(kl, &queue);
		kl->leaving = unused(kl);
		end(kl, &queue);
		spin_lock_bh(&kl->lock);
		if (!kl->dead) {
			left.stale += is_stale(kl);
			left.cached += !is_stale(kl);
		}
		spin_unlock_bh(&kl->lock);
		weft_klock_put(kl);
		/* so many on their way are enough */
		if (time_before(jiffies, until))
			wait_event_timeout(gone,
					   atomic_read(&hand_overs) < HANDING_MAX,
					   HZ / 10);
		cond_resched();
		if (key == last)
			break;
	}
	return left;
}

void weft_klock_leave(u32 region)
{
	give_back(first_of(region, 0), last_of(region),
		  jiffies + msecs_to_jiffies(READ_ONCE(weft_node.timeout_ms)));
}

void weft_klock_forget(u32 region, u64 from)
{
	u64 key = first_of(region, from), last = last_of(region);
	struct sk_buff_head queue;
	struct weft_klock *kl;

	for (; (kl = next(&key, last)); key++) {
		begin(kl, &queue);
		if (!kl->dead) {
			weft_lock_init(&kl->core, kl->core.key, weft_node.id);
			note_hand_over(kl);
			fail_all(kl);
		}
		end(kl, &queue);
		weft_klock_put(kl);
		cond_resched();
		if (key == last)
			break;
	}
}

void weft_klock_start(void)
{
	WRITE_ONCE(mode, RUNNING);
}

/* Whatever it waits for: it is gone from here. */
static u64 drop_all(void)
{
	struct weft_klock *kl;
	u64 key = 0, lost = 0;

	for (; (kl = next(&key, U64_MAX)); key++) {
		spin_lock_bh(&kl->lock);
		if (!kl->dead) {
			lost += !is_stale(kl);
			kill(kl);
		}
		spin_unlock_bh(&kl->lock);
		weft_klock_put(kl);
	}
	return lost;
}

/*
 * All inodes are gone: nobody has a lock open.  Requests of programs that are
 * gone may have made this node the holder of a queue without its knowing: they
 * get some time for an answer.  Later ones find that this node has left.
 */
void weft_klock_stop(void)
{
	unsigned long limit = msecs_to_jiffies(READ_ONCE(weft_node.timeout_ms));
	unsigned long begun = jiffies, until = begun + limit;
	struct census left, before = { .cached = U64_MAX };
	u64 lost;

	if (mode == OFF)
		return;
	WRITE_ONCE(mode, STOPPING);
	for (;;) {
		left = give_back(0, U64_MAX, until);
		if (left.cached < before.cached)
			until = jiffies + limit;
		before = left;
		if (!left.cached &&
		    (!left.stale ||
		     time_after(jiffies, begun + msecs_to_jiffies(STALE_MS))))
			break;
		if (time_after(jiffies, until))
			break;
		wait_event_timeout(gone, xa_empty(&locks), HZ / 50);
	}
	WRITE_ONCE(mode, OFF);
	/* pairs with rcu_read_lock() in weft_klock_recv() */
	synchronize_rcu();
	lost = drop_all();
	if (lost)
		pr_err("weft: %llu locks could not be given back: the memory blade does not answer\n",
		       lost);
	/* timers that are running */
	wait_event(gone, !atomic_read(&alive));
	WARN_ON_ONCE(atomic_read(&strays) || atomic_read(&hand_overs));
}

void weft_klock_exit(void)
{
	rcu_barrier(); /* locks that are still to be freed */
	xa_destroy(&locks);
}
