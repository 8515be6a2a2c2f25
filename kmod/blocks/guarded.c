// SPDX-License-Identifier: GPL-2.0-only
/* A lock tells its blocks to come and go with it, see guarded.h. */
#include <linux/wait.h>

#include "base/stats.h"
#include "blocks/bound.h"
#include "blocks/cache.h"
#include "blocks/effects.h"
#include "blocks/guarded.h"
#include "blocks/predict.h"
#include "blocks/step.h"
#include "core/controller.h"
#include "net/node.h"
#include "net/rtt.h"

#define UNMET_ROUNDS	8	/* after a block did not come, wait for it each 8th time only */
#define UNMET_FEW	3	/* so many blocks in a row may not come by chance */

/*
 * Is the block worth a wait?  Mostly it comes, or not, as it did the last time, and as others do:
 * a program may use each of a thousand locks once.
 */
static bool hopeful(const struct weft_block *blk)
{
	u32 others = READ_ONCE(blk->cache->unmet);

	return blk->bound.unmet % UNMET_ROUNDS == 0 &&
	       (others < UNMET_FEW || others % UNMET_ROUNDS == 0);
}

/* End an expectation.  Return: false if there was none. */
static bool unexpect(struct weft_block *blk, struct weft_out *out)
{
	if (!weft_line_unexpect(&blk->line, out))
		return false;
	weft_bound_forget(blk);
	return true;
}

void weft_guarded_expect(struct weft_block *blk, u8 perm, u32 txn, struct weft_outbox *outbox)
{
	struct weft_out out;

	weft_block_begin(blk);
	if (blk->phase == WEFT_BLOCK_LIVE) {
		/* an expectation of an earlier request for the lock that came to nothing */
		if (unexpect(blk, &out))
			weft_block_carry_out(blk, &out, NULL, outbox);
		blk->bound.wish = perm;
		blk->bound.txn = txn;
		blk->bound.ours = blk->line.state == WEFT_M;
	}
	weft_block_end(blk, outbox);
}

static void come(struct weft_block *blk, u8 perm, bool passed)
{
	struct weft_bound *b = &blk->bound;

	lockdep_assert_held(&blk->lock);
	b->successors = (struct weft_successors){};
	b->txn = 0;
	b->wish = WEFT_I;
	if (!blk->line.expecting)
		b->wish = perm;
	/* the former holder passes the block on, or readers give back what this node lent */
	if (passed && hopeful(blk) &&
	    (blk->line.expecting ||
	     (blk->line.lent && weft_line_perm(&blk->line) < perm))) {
		b->since = ktime_get_ns();
		b->patience = b->since + weft_rtt_patience(&blk->cache->node->rtts);
	} else {
		weft_bound_urge(blk);
	}
}

void weft_guarded_come(struct weft_block *blk, u8 perm, bool passed, struct weft_outbox *outbox)
{
	weft_block_begin(blk);
	if (blk->phase == WEFT_BLOCK_LIVE)
		come(blk, perm, passed);
	weft_block_end(blk, outbox);
}

/* Wait for a wake-up.  Return: false if @until has passed, or for a signal. */
static bool await(struct weft_block *blk, u32 seen, u64 until)
{
	u64 now = ktime_get_ns();

	return now < until &&
	       !wait_event_interruptible_hrtimeout(blk->wait, READ_ONCE(blk->wakes) != seen,
						   ns_to_ktime(until - now));
}

u8 weft_guarded_map(struct weft_block *blk, u8 perm, u32 *at)
{
	u32 seen;
	u64 until;
	u8 how;

	do {
		spin_lock_bh(&blk->lock);
		how = blk->phase == WEFT_BLOCK_LIVE ? weft_predict_map(blk, perm, at) : WEFT_I;
		if (how)
			weft_bound_tried(blk);
		seen = blk->wakes;
		until = weft_predict_waits(blk) ? blk->bound.patience : 0;
		spin_unlock_bh(&blk->lock);
	} while (!how && until && await(blk, seen, until));
	return how;
}

/* End the minimum stay: programs that had the lock are through with the block. */
static void through(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->pins)
		return;
	blk->fresh = false;
	blk->keep = 0;
	blk->late = 0;
}

void weft_guarded_leave(struct weft_block *blk, struct weft_outbox *outbox)
{
	weft_block_begin(blk);
	/* a wish with @txn belongs to the next request for the lock */
	if (!blk->bound.txn)
		blk->bound.wish = WEFT_I;
	weft_predict_left(blk);
	through(blk);
	weft_block_end(blk, outbox);
}

/* Only the owner can pass the block on. */
static bool can_pass(const struct weft_block *blk)
{
	return blk->phase == WEFT_BLOCK_LIVE && blk->line.state == WEFT_M;
}

void weft_guarded_pass(struct weft_block *blk, const struct weft_successors *successors,
		       struct weft_outbox *outbox)
{
	weft_block_begin(blk);
	/* state M, and not idle yet: step.c passes the block on after the COMMIT */
	if (can_pass(blk))
		blk->bound.successors = *successors;
	weft_block_end(blk, outbox);
}

bool weft_guarded_goes(struct weft_block *blk)
{
	bool goes;

	spin_lock_bh(&blk->lock);
	goes = can_pass(blk);
	spin_unlock_bh(&blk->lock);
	return goes;
}

void weft_guarded_yield(struct weft_block *blk, u32 writer, struct weft_outbox *outbox)
{
	struct weft_out out;

	weft_block_begin(blk);
	if (can_pass(blk))
		blk->bound.successors = (struct weft_successors){ .writer = writer };
	else if (blk->phase == WEFT_BLOCK_LIVE && weft_line_yield(&blk->line, writer, &out))
		weft_block_carry_out(blk, &out, NULL, outbox);
	weft_block_end(blk, outbox);
}

void weft_guarded_drop(struct weft_block *blk, struct weft_outbox *outbox)
{
	struct weft_out out;

	weft_block_begin(blk);
	if (blk->phase == WEFT_BLOCK_LIVE) {
		blk->bound.wish = WEFT_I;
		blk->bound.successors = (struct weft_successors){};
		if (unexpect(blk, &out))
			weft_block_carry_out(blk, &out, NULL, outbox);
	}
	weft_block_end(blk, outbox);
}

/* --- guard learning --------------------------------------------------------------------- */

/* Follow another lock: forget what was seen with the former one. */
static void follow(struct weft_block *blk, u32 lock)
{
	struct weft_bound *b = &blk->bound;

	lockdep_assert_held(&blk->lock);
	if (b->lock == lock)
		return;
	b->lock = lock;
	b->followers = 0;
	b->offered = (struct weft_successors){};
}

bool weft_guarded_missed(struct weft_block *blk, u32 lock)
{
	struct weft_bound *b = &blk->bound;
	bool same;

	spin_lock_bh(&blk->lock);
	same = b->lock == lock || !b->lock;
	if (!b->learnt)
		follow(blk, lock);
	else if (!same)
		b->rival = true;
	spin_unlock_bh(&blk->lock);
	return same;
}

bool weft_guarded_learn(struct weft_block *blk, u32 lock)
{
	struct weft_bound *b = &blk->bound;
	bool ours;

	spin_lock_bh(&blk->lock);
	if (!b->learnt) {
		follow(blk, lock);
		b->learnt = true;
		b->saved = false;
		b->rival = false;
		/* no other node knows that this one expects it: do not wait the first time */
		b->unmet = 1;
	}
	ours = b->lock == lock;
	spin_unlock_bh(&blk->lock);
	return ours;
}

void weft_guarded_unlearn(struct weft_block *blk, u32 lock, struct weft_outbox *outbox)
{
	spin_lock_bh(&blk->lock);
	if (!blk->bound.learnt || blk->bound.lock != lock) {
		spin_unlock_bh(&blk->lock);
		return;
	}
	blk->bound.learnt = false;
	weft_bound_tried(blk);
	spin_unlock_bh(&blk->lock);
	weft_guarded_drop(blk, outbox);
}

u32 weft_guarded_judge(struct weft_block *blk, u32 lock)
{
	struct weft_bound *b = &blk->bound;
	u32 found = 0;

	spin_lock_bh(&blk->lock);
	if (b->learnt && b->lock == lock) {
		if (b->untried) {
			found |= WEFT_GUARDED_USELESS;
			weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOCK_LEARNT_USELESS);
		}
		weft_bound_tried(blk);
		if (b->saved)
			found |= WEFT_GUARDED_SAVED;
		if (b->rival)
			found |= WEFT_GUARDED_RIVAL;
		b->saved = false;
		b->rival = false;
	}
	spin_unlock_bh(&blk->lock);
	return found;
}

static bool follows(const struct weft_block *blk, u32 txn)
{
	return blk->bound.followers & weft_node_bit(weft_txn_member(txn));
}

/* Split the successors: followers get the block, the others are seen if they ask for it. */
static void choose(struct weft_block *blk, const struct weft_successors *successors)
{
	struct weft_successors go = {}, stay = {};
	struct weft_bound *b = &blk->bound;
	u32 i;

	for (i = 0; i < successors->n; i++) {
		struct weft_successors *s = follows(blk, successors->reader[i]) ? &go : &stay;

		s->reader[s->n++] = successors->reader[i];
	}
	/* the other readers ask this node for the block, so it keeps the block for them */
	if (!stay.n && follows(blk, successors->writer))
		go.writer = successors->writer;
	else
		stay.writer = successors->writer;
	b->offered = stay;
	if (!go.n && !go.writer)
		return;
	b->successors = go;
	through(blk);
}

bool weft_guarded_follows(struct weft_block *blk, u32 lock, u32 writer)
{
	bool goes;

	spin_lock_bh(&blk->lock);
	goes = can_pass(blk) && blk->bound.lock == lock && follows(blk, writer);
	spin_unlock_bh(&blk->lock);
	return goes;
}

void weft_guarded_offer(struct weft_block *blk, u32 lock,
			const struct weft_successors *successors, struct weft_outbox *outbox)
{
	weft_block_begin(blk);
	if (can_pass(blk) && blk->bound.lock == lock)
		choose(blk, successors);
	weft_block_end(blk, outbox);
}

void weft_guarded_return(struct weft_block *blk, u32 writer, struct weft_outbox *outbox)
{
	struct weft_out out;

	weft_block_begin(blk);
	if (blk->phase == WEFT_BLOCK_LIVE && weft_line_yield(&blk->line, writer, &out))
		weft_block_carry_out(blk, &out, NULL, outbox);
	weft_block_end(blk, outbox);
}
