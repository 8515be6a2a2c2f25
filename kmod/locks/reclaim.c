// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks and holds that are given back: holds of closed files, locks of regions that go or
 * shrink, of blades that forgot them, of dead nodes, and all at the end.  Called by holds.c,
 * lockfile.c and fs/. Process context; changes a lock only between weft_lockres_begin() and
 * weft_lockres_end().
 */
#include <linux/jiffies.h>

#include "base/event.h"
#include "base/stats.h"
#include "locks/guard.h"
#include "locks/reclaim.h"
#include "locks/step.h"
#include "locks/word.h"
#include "net/node.h"
#include "net/outbox.h"
#include "weft.h"

#define KEPT_MAX	131072	/* locks that a node keeps although no file has them open */
#define HANDING_MAX	64	/* hand-overs under way at a time */
#define STALE_MS	2000	/* weft_locks_stop() waits so long for stale requests */

/*
 * Count holds that a closed file left, and report the event.  Process context, no spinlock held.
 */
static void note_abandoned(const struct weft_lockres *lr, u32 holds)
{
	weft_stat_add(&lr->locks->node->counters, WEFT_STAT_LOCK_RELEASES_DEAD, holds);
	if (holds)
		weft_event_abandoned(lr->locks->node, weft_line_region(lr->core.key),
				     weft_line_index(lr->core.key), holds);
}

/* --- holds of closed files ---------------------------------------------------------------- */

bool weft_lockres_concerns(const struct weft_lockres *lr, u16 owner)
{
	u64 word = READ_ONCE(*lr->word);

	/* with SLOW or TELL the file may have left the lock without telling the kernel */
	return word & (WEFT_WORD_SLOW | WEFT_WORD_TELL) || (word & WEFT_WORD_OWNER) ==
	       (u64)owner << WEFT_WORD_OWNER_SHIFT;
}

void weft_lockres_bury(struct weft_lockres *lr, u16 owner, u32 readers, u32 listed, bool pending)
{
	struct weft_outbox outbox;
	u32 n;

	weft_lockres_begin(lr, &outbox);
	lr->unsettled |= pending;
	n = listed + weft_word_give_back(lr, owner, pending ? 0 : readers);
	weft_lockres_end(lr, &outbox);
	note_abandoned(lr, n);
}

void weft_lockres_look(struct weft_settling *s)
{
	spin_lock_bh(&s->lr->lock);
	s->word = READ_ONCE(*s->lr->word);
	s->moves = s->lr->moves;
	spin_unlock_bh(&s->lr->lock);
}

bool weft_lockres_settle(const struct weft_settling *s)
{
	struct weft_lockres *lr = s->lr;
	struct weft_outbox outbox;
	u32 n = 0;
	bool done;

	weft_lockres_begin(lr, &outbox);
	/*
	 * with SLOW set only the kernel adds holds: the same word means that no hold has moved
	 */
	done = s->word & WEFT_WORD_SLOW && lr->moves == s->moves &&
	       weft_word_settle(lr, s->word, s->readers, &n);
	if (done)
		lr->unsettled = false;
	weft_lockres_end(lr, &outbox);
	note_abandoned(lr, n);
	return done;
}

/* --- locks that are given back or forgotten ----------------------------------------------- */

static u64 first_of(u32 region, u64 offset)
{
	return weft_line_key(region, WEFT_KIND_LOCK, offset);
}

static u64 last_of(u32 region)
{
	return weft_line_key(region, WEFT_KIND_LOCK, ~0ull);
}

/* Only a request is outstanding, and no thread waits for its answer any more. */
static bool is_stale(const struct weft_lockres *lr)
{
	const struct weft_lock *l = &lr->core;

	lockdep_assert_held(&lr->lock);
	return weft_lockres_unused(lr) && l->want && l->state == WEFT_I && !l->tenured &&
	       !l->handing && !l->query;
}

/* Locks that are left after a round of giving back. */
struct census {
	u64 stale;	/* those with a stale request */
	u64 cached;	/* all others */
};

/*
 * One round over a range: give back locks that no file has open and no thread waits for.  Waits
 * for hand-overs under way, until @until at most.
 */
static struct census give_back(struct weft_locks *locks, u64 key, u64 last, unsigned long until)
{
	struct census left = {};
	struct weft_lockres *lr;

	for (; (lr = weft_lockres_next(locks, &key, last)); key++) {
		struct weft_outbox outbox;

		weft_lockres_begin(lr, &outbox);
		lr->leaving = weft_lockres_unused(lr);
		weft_lockres_end(lr, &outbox);
		spin_lock_bh(&lr->lock);
		if (!lr->dead) {
			left.stale += is_stale(lr);
			left.cached += !is_stale(lr);
		}
		spin_unlock_bh(&lr->lock);
		weft_lockres_put(lr);
		/* so many hand-overs at a time are enough */
		if (time_before(jiffies, until))
			wait_event_timeout(locks->gone,
					   atomic_read(&locks->hand_overs) < HANDING_MAX,
					   HZ / 10);
		cond_resched();
		if (key == last)
			break;
	}
	return left;
}

u64 weft_lockres_leave(struct weft_locks *locks, u32 region)
{
	unsigned long until = jiffies + msecs_to_jiffies(READ_ONCE(locks->node->timeout_ms));
	struct census left = give_back(locks, first_of(region, 0), last_of(region), until);

	return left.stale + left.cached;
}

void weft_lockres_trim(struct weft_locks *locks, u32 region)
{
	if (atomic_read(&locks->alive) > KEPT_MAX)
		weft_lockres_leave(locks, region);
}

/* As one event for each lock of a range, do @what.  Process context. */
static void locks_do(struct weft_locks *locks, u64 key, u64 last,
		     void (*what)(struct weft_lockres *lr, u32 arg, struct weft_outbox *outbox),
		     u32 arg)
{
	struct weft_outbox outbox;
	struct weft_lockres *lr;

	for (; (lr = weft_lockres_next(locks, &key, last)); key++) {
		weft_lockres_begin(lr, &outbox);
		if (!lr->dead)
			what(lr, arg, &outbox);
		weft_lockres_end(lr, &outbox);
		weft_lockres_put(lr);
		cond_resched();
		if (key == last)
			break;
	}
}

static void forget_one(struct weft_lockres *lr, u32 unused, struct weft_outbox *outbox)
{
	weft_lock_init(&lr->core, lr->core.key, lr->locks->node->id);
	weft_word_mend(lr);
	weft_lockres_note_hand_over(lr);
	if (lr->guard)
		weft_guard_tell(lr->guard, blk, weft_guarded_drop(blk, outbox));
	weft_lockres_fail_all(lr, -EIO);
}

void weft_lockres_forget(struct weft_locks *locks, u32 region, u64 from)
{
	locks_do(locks, first_of(region, from), last_of(region), forget_one, 0);
}

/*
 * A writer keeps its term, and the queue behind it; readers begin anew, as nobody waits behind
 * them.
 *
 * Return: whether programs hold the lock.
 */
static bool renew_one(struct weft_lockres *lr, bool late, struct weft_held_lock *held)
{
	struct weft_lock *l = &lr->core, old = lr->core;
	bool is_held;

	lockdep_assert_held(&lr->lock);
	/* from here on no program takes the lock without the kernel */
	is_held = weft_word_mirror(lr, WEFT_WORD_SLOW) && old.state != WEFT_I;
	if (is_held) {
		held->key = old.key;
		held->state = old.state;
		held->epoch = old.yielding && (int)(old.yield - old.epoch) > 0 ?
			      old.yield : old.epoch;
	}
	if (is_held && !late && old.state == WEFT_M)
		return true;
	weft_lock_init(l, old.key, lr->locks->node->id);
	/* while a file has the lock open the word says it */
	l->unmended = old.unmended;
	if (is_held && !late) {
		l->state = WEFT_S;
		l->epoch = old.epoch;
	}
	weft_lockres_note_hand_over(lr);
	return is_held;
}

bool weft_lockres_renew(struct weft_locks *locks, u8 blade, u32 region, u64 *key, bool late,
			struct weft_held_lock *held)
{
	u64 last = region ? last_of(region) : U64_MAX;
	struct weft_outbox outbox;
	struct weft_lockres *lr;
	bool found = false;

	if (region)
		*key = max(*key, first_of(region, 0));
	while (!found && *key <= last && (lr = weft_lockres_next(locks, key, last))) {
		weft_lockres_begin(lr, &outbox);
		if (!lr->dead && (!blade || weft_node_home(locks->node, *key) == blade)) {
			found = renew_one(lr, late, held);
			if (lr->guard && (late || !found))
				weft_guard_tell(lr->guard, blk, weft_guarded_drop(blk, &outbox));
		}
		weft_lockres_end(lr, &outbox);
		weft_lockres_put(lr);
		++*key;
		cond_resched();
	}
	return found;
}

static void gone_one(struct weft_lockres *lr, u32 dead, struct weft_outbox *outbox)
{
	struct weft_lock_out out;

	weft_lock_gone(&lr->core, dead, &out);
	weft_lockres_act(lr, &out, outbox);
}

void weft_lockres_gone(struct weft_locks *locks, u32 dead)
{
	WRITE_ONCE(locks->died, jiffies ?: 1);
	locks_do(locks, 0, U64_MAX, gone_one, dead);
}

static void ask_again_one(struct weft_lockres *lr, u32 unused, struct weft_outbox *outbox)
{
	weft_lockres_ask_again(lr);
}

void weft_lockres_again(struct weft_locks *locks, u32 region)
{
	locks_do(locks, region ? first_of(region, 0) : 0, region ? last_of(region) : U64_MAX,
		 ask_again_one, 0);
}

void weft_locks_start(struct weft_locks *locks)
{
	WRITE_ONCE(locks->mode, WEFT_LOCKS_RUNNING);
}

/* Drop all locks, whatever they wait for.  Return: how many another node may still count on. */
static u64 drop_all(struct weft_locks *locks)
{
	struct weft_lockres *lr;
	u64 key = 0, lost = 0;

	for (; (lr = weft_lockres_next(locks, &key, U64_MAX)); key++) {
		spin_lock_bh(&lr->lock);
		if (!lr->dead) {
			lost += !is_stale(lr);
			weft_lockres_kill(lr);
		}
		spin_unlock_bh(&lr->lock);
		weft_lockres_put(lr);
	}
	return lost;
}

/*
 * Give all locks back at the end: no inode is left, so no file has a lock open.  A request of a
 * program that has gone may have made this node the holder of a queue unawares: wait a while for
 * its answer.  Later ones find that the node has left.
 */
void weft_locks_stop(struct weft_locks *locks)
{
	unsigned long limit = msecs_to_jiffies(READ_ONCE(locks->node->timeout_ms));
	unsigned long begun = jiffies, until = begun + limit;
	struct census left, before = { .cached = U64_MAX };
	u64 lost;

	if (locks->mode == WEFT_LOCKS_OFF)
		return;
	WRITE_ONCE(locks->mode, WEFT_LOCKS_STOPPING);
	for (;;) {
		left = give_back(locks, 0, U64_MAX, until);
		if (left.cached < before.cached)
			until = jiffies + limit;
		before = left;
		if (!left.cached &&
		    (!left.stale ||
		     time_after(jiffies, begun + msecs_to_jiffies(STALE_MS))))
			break;
		if (time_after(jiffies, until))
			break;
		wait_event_timeout(locks->gone, xa_empty(&locks->table), HZ / 50);
	}
	WRITE_ONCE(locks->mode, WEFT_LOCKS_OFF);
	/* pairs with rcu_read_lock() in weft_lockres_recv() */
	synchronize_rcu();
	lost = drop_all(locks);
	if (lost)
		pr_err("weft: %llu locks could not be given back: the memory blade does not answer\n",
		       lost);
	/* timers that are running have references */
	wait_event(locks->gone, !atomic_read(&locks->alive));
	WARN_ON_ONCE(atomic_read(&locks->strays) || atomic_read(&locks->hand_overs));
}
