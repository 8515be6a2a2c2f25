// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks and holds that are given back: holds of closed files, locks of regions that go or
 * shrink, of blades that forgot them, of dead nodes, and all at the end.  Called by holds.c,
 * lockfile.c and fs/. Process context; changes a lock only between weft_klock_begin() and
 * weft_klock_end().
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
static void note_abandoned(const struct weft_klock *kl, u32 holds)
{
	weft_stat_add(&kl->locks->node->counters, WEFT_STAT_LOCK_RELEASES_DEAD, holds);
	if (holds)
		weft_event_abandoned(kl->locks->node, weft_line_region(kl->core.key),
				     weft_line_index(kl->core.key), holds);
}

/* --- holds of closed files ---------------------------------------------------------------- */

bool weft_klock_concerns(const struct weft_klock *kl, u16 owner)
{
	u64 word = READ_ONCE(*kl->word);

	/* with SLOW or TELL the file may have left the lock without telling the kernel */
	return word & (WEFT_WORD_SLOW | WEFT_WORD_TELL) || (word & WEFT_WORD_OWNER) ==
	       (u64)owner << WEFT_WORD_OWNER_SHIFT;
}

void weft_klock_bury(struct weft_klock *kl, u16 owner, u32 readers, u32 listed, bool pending)
{
	struct weft_outbox outbox;
	u32 n;

	weft_klock_begin(kl, &outbox);
	kl->unsettled |= pending;
	n = listed + weft_word_give_back(kl, owner, pending ? 0 : readers);
	weft_klock_end(kl, &outbox);
	note_abandoned(kl, n);
}

void weft_klock_look(struct weft_settling *s)
{
	spin_lock_bh(&s->kl->lock);
	s->word = READ_ONCE(*s->kl->word);
	s->moves = s->kl->moves;
	spin_unlock_bh(&s->kl->lock);
}

bool weft_klock_settle(const struct weft_settling *s)
{
	struct weft_klock *kl = s->kl;
	struct weft_outbox outbox;
	u32 n = 0;
	bool done;

	weft_klock_begin(kl, &outbox);
	/*
	 * with SLOW set only the kernel adds holds: the same word means that no hold has moved
	 */
	done = s->word & WEFT_WORD_SLOW && kl->moves == s->moves &&
	       weft_word_settle(kl, s->word, s->readers, &n);
	if (done)
		kl->unsettled = false;
	weft_klock_end(kl, &outbox);
	note_abandoned(kl, n);
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
static bool is_stale(const struct weft_klock *kl)
{
	const struct weft_lock *l = &kl->core;

	lockdep_assert_held(&kl->lock);
	return weft_klock_unused(kl) && l->want && l->state == WEFT_I && !l->tenured &&
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
	struct weft_klock *kl;

	for (; (kl = weft_klock_next(locks, &key, last)); key++) {
		struct weft_outbox outbox;

		weft_klock_begin(kl, &outbox);
		kl->leaving = weft_klock_unused(kl);
		weft_klock_end(kl, &outbox);
		spin_lock_bh(&kl->lock);
		if (!kl->dead) {
			left.stale += is_stale(kl);
			left.cached += !is_stale(kl);
		}
		spin_unlock_bh(&kl->lock);
		weft_klock_put(kl);
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

u64 weft_klock_leave(struct weft_locks *locks, u32 region)
{
	unsigned long until = jiffies + msecs_to_jiffies(READ_ONCE(locks->node->timeout_ms));
	struct census left = give_back(locks, first_of(region, 0), last_of(region), until);

	return left.stale + left.cached;
}

void weft_klock_trim(struct weft_locks *locks, u32 region)
{
	if (atomic_read(&locks->alive) > KEPT_MAX)
		weft_klock_leave(locks, region);
}

/* As one event for each lock of a range, do @what.  Process context. */
static void klocks_do(struct weft_locks *locks, u64 key, u64 last,
		      void (*what)(struct weft_klock *kl, u32 arg, struct weft_outbox *outbox),
		      u32 arg)
{
	struct weft_outbox outbox;
	struct weft_klock *kl;

	for (; (kl = weft_klock_next(locks, &key, last)); key++) {
		weft_klock_begin(kl, &outbox);
		if (!kl->dead)
			what(kl, arg, &outbox);
		weft_klock_end(kl, &outbox);
		weft_klock_put(kl);
		cond_resched();
		if (key == last)
			break;
	}
}

static void forget_one(struct weft_klock *kl, u32 unused, struct weft_outbox *outbox)
{
	weft_lock_init(&kl->core, kl->core.key, kl->locks->node->id);
	weft_word_mend(kl);
	weft_klock_note_hand_over(kl);
	if (kl->guard)
		weft_guard_tell(kl->guard, blk, weft_guarded_drop(blk, outbox));
	weft_klock_fail_all(kl, -EIO);
}

void weft_klock_forget(struct weft_locks *locks, u32 region, u64 from)
{
	klocks_do(locks, first_of(region, from), last_of(region), forget_one, 0);
}

/*
 * A writer keeps its term, and the queue behind it; readers begin anew, as nobody waits behind
 * them.
 *
 * Return: whether programs hold the lock.
 */
static bool renew_one(struct weft_klock *kl, bool late, struct weft_held_lock *held)
{
	struct weft_lock *l = &kl->core, old = kl->core;
	bool is_held;

	lockdep_assert_held(&kl->lock);
	/* from here on no program takes the lock without the kernel */
	is_held = weft_word_mirror(kl, WEFT_WORD_SLOW) && old.state != WEFT_I;
	if (is_held) {
		held->key = old.key;
		held->state = old.state;
		held->epoch = old.yielding && (int)(old.yield - old.epoch) > 0 ?
			      old.yield : old.epoch;
	}
	if (is_held && !late && old.state == WEFT_M)
		return true;
	weft_lock_init(l, old.key, kl->locks->node->id);
	/* while a file has the lock open the word says it */
	l->unmended = old.unmended;
	if (is_held && !late) {
		l->state = WEFT_S;
		l->epoch = old.epoch;
	}
	weft_klock_note_hand_over(kl);
	return is_held;
}

bool weft_klock_renew(struct weft_locks *locks, u8 blade, u32 region, u64 *key, bool late,
		      struct weft_held_lock *held)
{
	u64 last = region ? last_of(region) : U64_MAX;
	struct weft_outbox outbox;
	struct weft_klock *kl;
	bool found = false;

	if (region)
		*key = max(*key, first_of(region, 0));
	while (!found && *key <= last && (kl = weft_klock_next(locks, key, last))) {
		weft_klock_begin(kl, &outbox);
		if (!kl->dead && (!blade || weft_node_home(locks->node, *key) == blade)) {
			found = renew_one(kl, late, held);
			if (kl->guard && (late || !found))
				weft_guard_tell(kl->guard, blk, weft_guarded_drop(blk, &outbox));
		}
		weft_klock_end(kl, &outbox);
		weft_klock_put(kl);
		++*key;
		cond_resched();
	}
	return found;
}

static void gone_one(struct weft_klock *kl, u32 dead, struct weft_outbox *outbox)
{
	struct weft_lock_out out;

	weft_lock_gone(&kl->core, dead, &out);
	weft_klock_act(kl, &out, outbox);
}

void weft_klock_gone(struct weft_locks *locks, u32 dead)
{
	WRITE_ONCE(locks->died, jiffies ?: 1);
	klocks_do(locks, 0, U64_MAX, gone_one, dead);
}

static void ask_again_one(struct weft_klock *kl, u32 unused, struct weft_outbox *outbox)
{
	weft_klock_ask_again(kl);
}

void weft_klock_again(struct weft_locks *locks, u32 region)
{
	klocks_do(locks, region ? first_of(region, 0) : 0, region ? last_of(region) : U64_MAX,
		  ask_again_one, 0);
}

void weft_locks_start(struct weft_locks *locks)
{
	WRITE_ONCE(locks->mode, WEFT_KLOCKS_RUNNING);
}

/* Drop all locks, whatever they wait for.  Return: how many another node may still count on. */
static u64 drop_all(struct weft_locks *locks)
{
	struct weft_klock *kl;
	u64 key = 0, lost = 0;

	for (; (kl = weft_klock_next(locks, &key, U64_MAX)); key++) {
		spin_lock_bh(&kl->lock);
		if (!kl->dead) {
			lost += !is_stale(kl);
			weft_klock_kill(kl);
		}
		spin_unlock_bh(&kl->lock);
		weft_klock_put(kl);
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

	if (locks->mode == WEFT_KLOCKS_OFF)
		return;
	WRITE_ONCE(locks->mode, WEFT_KLOCKS_STOPPING);
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
	WRITE_ONCE(locks->mode, WEFT_KLOCKS_OFF);
	/* pairs with rcu_read_lock() in weft_klock_recv() */
	synchronize_rcu();
	lost = drop_all(locks);
	if (lost)
		pr_err("weft: %llu locks could not be given back: the memory blade does not answer\n",
		       lost);
	/* timers that are running have references */
	wait_event(locks->gone, !atomic_read(&locks->alive));
	WARN_ON_ONCE(atomic_read(&locks->strays) || atomic_read(&locks->hand_overs));
}
