// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guard learning: which blocks come with a lock without a program's word, by what programs miss
 * that have it, until that is of no use.  step.c tells the lock's events, observe.c the misses.
 * Any context, under the lock's spinlock; does not wait for a block.
 */
#include <linux/build_bug.h>
#include <linux/minmax.h>

#include "base/stats.h"
#include "blocks/guarded.h"
#include "locks/learn.h"
#include "net/node.h"

#define STREAK		3	/* misses, a turn each, in a row until a block is learnt */
#define STREAK_MAX	96	/* the same for a block that was learnt in vain again and again */
#define CREDIT		2	/* turns in a row of no use until it is forgotten */
#define WORTH		16	/* uses that make it worth to learn a block again soon */
#define IDLE		16	/* turns without miss or use: its place may be taken */

static_assert(STREAK_MAX <= U8_MAX && WORTH <= U8_MAX, "fields of struct weft_learnt");

static void count(const struct weft_lockres *lr, unsigned int stat)
{
	weft_stat_inc(&lr->locks->node->counters, stat);
}

/* --- entries ------------------------------------------------------------------------------ */

static struct weft_learnt *find(struct weft_learn *learn, u64 block)
{
	u32 i;

	for (i = 0; learn && i < learn->n; i++)
		if (learn->learnt[i].block == block)
			return &learn->learnt[i];
	return NULL;
}

static void unlearn(struct weft_learn *learn, struct weft_learnt *e, struct weft_outbox *outbox)
{
	struct weft_block *blk;

	if (!e->credit)
		return;
	e->credit = 0;
	e->streak = 0;
	blk = weft_block_find(learn->region, e->block);
	if (!blk)
		return;
	weft_guarded_unlearn(blk, learn->lock, outbox);
	weft_block_put(blk);
}

/*
 * The block came in vain: forget it.  Unless it was of use before, it takes twice as many misses
 * to be learnt again.
 */
static void forget(struct weft_lockres *lr, struct weft_learnt *e, struct weft_outbox *outbox)
{
	count(lr, WEFT_STAT_LOCK_FORGOTTEN);
	e->need = e->saved >= WORTH ? STREAK : min(e->need * 2, STREAK_MAX);
	unlearn(lr->learn, e, outbox);
}

/* An entry for a block: a free one, or that of a block that was idle; NULL: none. */
static struct weft_learnt *add(struct weft_lockres *lr, u64 block, struct weft_outbox *outbox)
{
	struct weft_learn *learn = lr->learn;
	struct weft_learnt *e = NULL;
	u32 i;

	if (learn->n < WEFT_LEARN_BLOCKS)
		e = &learn->learnt[learn->n++];
	for (i = 0; !e && i < learn->n; i++) {
		u32 ago = lr->grants - learn->learnt[i].turn;

		/*
		 * entries of this turn and the last one stay: more blocks than fit would evict
		 * each other
		 */
		if (ago >= IDLE || (ago > 1 && !learn->learnt[i].credit))
			e = &learn->learnt[i];
	}
	if (!e)
		return NULL;
	unlearn(learn, e, outbox);
	*e = (struct weft_learnt){ .block = block, .need = STREAK };
	return e;
}

static void learn_it(struct weft_lockres *lr, struct weft_learnt *e)
{
	struct weft_block *blk = weft_block_find(lr->learn->region, e->block);

	if (!blk)
		return;
	if (weft_guarded_learn(blk, lr->learn->lock)) {
		e->credit = CREDIT;
		e->saved = 0;
		count(lr, WEFT_STAT_LOCK_LEARNT);
	}
	weft_block_put(blk);
}

void weft_learn_missed(struct weft_lockres *lr, u64 block, bool same, struct weft_outbox *outbox)
{
	struct weft_learnt *e = find(lr->learn, block);
	u32 ago;

	lockdep_assert_held(&lr->lock);
	if (!e)
		e = add(lr, block, outbox);
	if (!e || e->credit)
		return;
	ago = lr->grants - e->turn;
	if (e->streak && !ago)
		return;
	/* each turn without a miss takes one off the streak */
	if (!same || !ago || e->streak < ago)
		e->streak = 0;
	else
		e->streak -= ago - 1;
	e->streak += e->streak < U8_MAX;
	e->turn = lr->grants;
	if (e->streak >= e->need)
		learn_it(lr, e);
}

void weft_learn_give_way(struct weft_lockres *lr, u64 block, struct weft_outbox *outbox)
{
	struct weft_learnt *e = find(lr->learn, block);

	lockdep_assert_held(&lr->lock);
	if (e)
		unlearn(lr->learn, e, outbox);
}

void weft_learn_forget(struct weft_lockres *lr, struct weft_outbox *outbox)
{
	u32 i;

	lockdep_assert_held(&lr->lock);
	if (!lr->learn)
		return;
	for (i = 0; i < lr->learn->n; i++)
		unlearn(lr->learn, &lr->learn->learnt[i], outbox);
	lr->learn->n = 0;
}

u32 weft_learn_list(const struct weft_lockres *lr, u64 block[WEFT_LEARN_BLOCKS])
{
	const struct weft_learn *learn = lr->learn;
	u32 i, n = 0;

	lockdep_assert_held(&lr->lock);
	for (i = 0; i < learn->n; i++)
		if (learn->learnt[i].credit)
			block[n++] = learn->learnt[i].block;
	return n;
}

/* --- events of the lock ------------------------------------------------------------------- */

/*
 * The next entry of @learn from *i on whose block is in the cache, with a reference to the block;
 * @learnt: of those that count as guarded.  NULL: there is none.
 */
static struct weft_block *next_cached(const struct weft_learn *learn, u32 *i, bool learnt)
{
	struct weft_block *blk = NULL;

	for (; !blk && learn && *i < learn->n; ++*i)
		if (!learnt || learn->learnt[*i].credit)
			blk = weft_block_find(learn->region, learn->learnt[*i].block);
	return blk;
}

void weft_learn_expect(struct weft_lockres *lr, u8 perm, u32 txn, struct weft_outbox *outbox)
{
	struct weft_learn *learn = lr->learn;
	struct weft_block *blk;
	u32 i = 0;

	lockdep_assert_held(&lr->lock);
	if (!READ_ONCE(weft_lock_tuning.learn))
		return;
	while ((blk = next_cached(learn, &i, true))) {
		/* another lock may have learnt the block since it was evicted here */
		if (weft_guarded_learn(blk, learn->lock))
			weft_guarded_expect(blk, perm, txn, outbox);
		else
			forget(lr, &learn->learnt[i - 1], outbox);
		weft_block_put(blk);
	}
}

void weft_learn_drop(struct weft_lockres *lr, struct weft_outbox *outbox)
{
	struct weft_block *blk;
	u32 i = 0;

	lockdep_assert_held(&lr->lock);
	while ((blk = next_cached(lr->learn, &i, true))) {
		weft_guarded_drop(blk, outbox);
		weft_block_put(blk);
	}
}

void weft_learn_come(struct weft_lockres *lr, bool passed, struct weft_outbox *outbox)
{
	struct weft_block *blk;
	u32 i = 0;

	lockdep_assert_held(&lr->lock);
	/* a block that did not come with the lock would never be judged of no use */
	if (!READ_ONCE(weft_lock_tuning.learn) || !READ_ONCE(weft_lock_tuning.pass)) {
		weft_learn_drop(lr, outbox);
		return;
	}
	while ((blk = next_cached(lr->learn, &i, true))) {
		weft_guarded_come(blk, lr->core.state, passed, outbox);
		weft_block_put(blk);
	}
}

bool weft_learn_goes(const struct weft_lockres *lr, u32 writer)
{
	struct weft_block *blk;
	bool goes = false;
	u32 i = 0;

	lockdep_assert_held(&lr->lock);
	while (READ_ONCE(weft_lock_tuning.learn) && !goes &&
	       (blk = next_cached(lr->learn, &i, false))) {
		goes = weft_guarded_follows(blk, lr->learn->lock, writer);
		weft_block_put(blk);
	}
	return goes;
}

/* Offer blocks that are not learnt here, too: the next holders may have learnt them. */
void weft_learn_pass(struct weft_lockres *lr, const struct weft_successors *successors,
		     struct weft_outbox *outbox)
{
	struct weft_block *blk;
	u32 i = 0;

	lockdep_assert_held(&lr->lock);
	if (!READ_ONCE(weft_lock_tuning.learn))
		return;
	while ((blk = next_cached(lr->learn, &i, false))) {
		weft_guarded_offer(blk, lr->learn->lock, successors, outbox);
		weft_block_put(blk);
	}
}

/* Judge by @found (WEFT_GUARDED_*) whether it was of use that the block came with the lock. */
static void judge(struct weft_lockres *lr, struct weft_learnt *e, u32 found,
		  struct weft_outbox *outbox)
{
	if (found & WEFT_GUARDED_SAVED) {
		e->turn = lr->grants;
		e->saved += e->saved < U8_MAX;
		e->credit = min(e->credit + 1, CREDIT);
	}
	if (!(found & (WEFT_GUARDED_USELESS | WEFT_GUARDED_RIVAL)))
		return;
	if (e->credit > 1)
		e->credit--;
	else
		forget(lr, e, outbox);
}

static void leave_one(struct weft_lockres *lr, struct weft_learnt *e, struct weft_block *blk,
		      u32 writer, struct weft_outbox *outbox)
{
	const struct weft_successors successors = { .writer = writer };

	if (e->credit) {
		weft_guarded_leave(blk, outbox);
		judge(lr, e, weft_guarded_judge(blk, lr->learn->lock), outbox);
	}
	if (!writer)
		return;
	/*
	 * one of the readers that give up the lock owns the block, and has lent it to the others
	 */
	weft_guarded_offer(blk, lr->learn->lock, &successors, outbox);
	if (e->credit)
		weft_guarded_return(blk, writer, outbox);
}

void weft_learn_leave(struct weft_lockres *lr, u32 writer, struct weft_outbox *outbox)
{
	struct weft_block *blk;
	u32 i = 0;

	lockdep_assert_held(&lr->lock);
	while ((blk = next_cached(lr->learn, &i, false))) {
		leave_one(lr, &lr->learn->learnt[i - 1], blk, writer, outbox);
		weft_block_put(blk);
	}
}
