// SPDX-License-Identifier: GPL-2.0-only
/*
 * Observe which thread has which lock, and what it misses meanwhile, for the guard learning
 * (learn.c). lockfile.c reports locks taken, fs/fault.c misses, bind.c guards that programs say.
 * Process context, no spinlock held.
 */
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "blocks/block.h"
#include "blocks/guarded.h"
#include "blocks/region.h"
#include "locks/guard.h"
#include "locks/learn.h"
#include "locks/observe.h"
#include "locks/step.h"
#include "net/outbox.h"

static_assert(WEFT_LOCKS_MAX < WEFT_NO_LOCK, "slots, plus 1, are numbers of locks");

/* --- which thread has which lock ------------------------------------------------------- */

/*
 * The entries of the locks that this thread took last, beside those of threads with the same
 * hash.
 */
static u64 *bucket_of(struct weft_slots *slots)
{
	return slots->takers + hash_32((u32)current->pid, WEFT_TAKERS_SHIFT) * WEFT_TAKERS_EACH;
}

static u64 taker(u32 slot)
{
	return (u64)current->pid << 32 | slot;
}

/*
 * Put the lock first.  Without a lock: of two threads that write at a time one may lose an entry
 * or leave it twice, which is harmless.
 */
void weft_observe_taken(struct weft_slots *slots, u32 slot)
{
	u64 *b = bucket_of(slots), next = taker(slot), was;
	u32 i;

	for (i = 0; i < WEFT_TAKERS_EACH; i++) {
		was = READ_ONCE(b[i]);
		WRITE_ONCE(b[i], next);
		if (was == taker(slot))
			return;
		next = was;
	}
}

/*
 * Does this thread hold the lock?  By the word, which programs write: a program that lies there
 * slows down the processes that share the region, which it could do without.
 */
static bool has(const struct weft_lockres *lr)
{
	u64 word, holder;

	lockdep_assert_held(&lr->lock);
	if (!lr->word)
		return false;
	word = READ_ONCE(*lr->word);
	if (!(word & WEFT_WORD_OWNER))
		return word & (WEFT_WORD_READERS | WEFT_WORD_LISTED);
	holder = READ_ONCE(container_of(lr->word, struct weft_lock_word, word)->holder);
	/* programs that always ask the kernel need not name their thread */
	return !holder || (u32)holder == (u32)task_pid_vnr(current);
}

static bool holds(struct weft_lockres *lr)
{
	bool yes;

	spin_lock_bh(&lr->lock);
	yes = has(lr);
	spin_unlock_bh(&lr->lock);
	return yes;
}

/* The lock that this thread took last and still holds, with a reference; NULL: none. */
static struct weft_lockres *last_lock(struct weft_slots *slots)
{
	const u64 *b = bucket_of(slots);
	struct weft_lockres *lr;
	u32 i;

	for (i = 0; i < WEFT_TAKERS_EACH; i++) {
		u64 t = READ_ONCE(b[i]);

		if (t >> 32 != (u32)current->pid)
			continue;
		lr = weft_lockres_find(&slots->slot, (u32)t);
		if (!lr)
			continue;
		if (holds(lr))
			return lr;
		weft_lockres_put(lr);
	}
	return NULL;
}

/*
 * The lock that has learnt the block, if this thread holds it: taken without the kernel, no
 * entry says so.
 */
static struct weft_lockres *its_lock(struct weft_slots *slots, const struct weft_block *blk)
{
	u32 lock = blk ? READ_ONCE(blk->bound.lock) : 0;
	struct weft_lockres *lr;

	if (!lock || lock == WEFT_NO_LOCK)
		return NULL;
	lr = weft_lockres_find(&slots->slot, lock - 1);
	if (!lr || holds(lr))
		return lr;
	weft_lockres_put(lr);
	return NULL;
}

/* --- misses ------------------------------------------------------------------------------- */

static struct weft_learn *learn_alloc(struct weft_slots *slots, const struct weft_lockres *lr)
{
	struct weft_learn *learn;

	if (READ_ONCE(lr->learn) || READ_ONCE(lr->guard))
		return NULL;
	learn = kzalloc(sizeof(*learn), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (learn)
		learn->region = slots->region;
	return learn;
}

static void with_lock(struct weft_slots *slots, struct weft_lockres *lr, u64 block, bool same)
{
	struct weft_learn *learn = learn_alloc(slots, lr);
	struct weft_outbox outbox;

	weft_lockres_begin(lr, &outbox);
	/* a guard that a program has said ends the learning */
	if (lr->word && !lr->guard) {
		if (!lr->learn && learn) {
			learn->lock = lr->slot + 1;
			lr->learn = learn;
			learn = NULL;
		}
		if (lr->learn)
			weft_learn_missed(lr, block, same, &outbox);
	}
	weft_lockres_end(lr, &outbox);
	kfree(learn);
}

void weft_observe_missed(struct weft_slots *slots, u64 block)
{
	struct weft_block *blk;
	struct weft_lockres *lr;
	bool same = true;

	if (!READ_ONCE(weft_lock_tuning.learn) || xa_load(&slots->bound, block))
		return;
	blk = weft_block_find(slots->region, block);
	lr = last_lock(slots);
	if (!lr)
		lr = its_lock(slots, blk);
	if (blk) {
		same = weft_guarded_missed(blk, lr ? lr->slot + 1 : WEFT_NO_LOCK);
		weft_block_put(blk);
	}
	if (!lr)
		return;
	with_lock(slots, lr, block, same);
	weft_lockres_put(lr);
}

void weft_observe_said(struct weft_slots *slots, const struct weft_guard *guard)
{
	struct weft_outbox outbox;
	struct weft_block *blk;
	struct weft_lockres *lr;
	u32 i, lock;

	for (i = 0; i < guard->n; i++) {
		blk = weft_block_find(slots->region, guard->block[i]);
		if (!blk)
			continue;
		lock = READ_ONCE(blk->bound.learnt) ? READ_ONCE(blk->bound.lock) : 0;
		weft_block_put(blk);
		lr = lock ? weft_lockres_find(&slots->slot, lock - 1) : NULL;
		if (!lr)
			continue;
		weft_lockres_begin(lr, &outbox);
		weft_learn_give_way(lr, guard->block[i], &outbox);
		weft_lockres_end(lr, &outbox);
		weft_lockres_put(lr);
	}
}
