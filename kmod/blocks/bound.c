// SPDX-License-Identifier: GPL-2.0-only
/* Wishes of the lock that guards a block, see bound.h. */
#include "base/stats.h"
#include "blocks/bound.h"
#include "blocks/cache.h"
#include "blocks/effects.h"
#include "blocks/predict.h"
#include "blocks/region.h"
#include "core/controller.h"
#include "net/node.h"
#include "net/rtt.h"

#define CACHE_PART	8	/* an eighth of the cache may be expected, not more */

/* --- expecting ------------------------------------------------------------------ */

static bool room_to_expect(const struct weft_block *blk)
{
	/* the eviction cannot take a block that is expected */
	return atomic_long_read(&blk->cache->expected) + blk->nr_pages <=
	       READ_ONCE(blk->cache->max_pages) / CACHE_PART;
}

static void set_expected(struct weft_block *blk, bool expected)
{
	lockdep_assert_held(&blk->lock);
	if (blk->bound.expected == expected)
		return;
	blk->bound.expected = expected;
	atomic_long_add(expected ? (long)blk->nr_pages : -(long)blk->nr_pages,
			&blk->cache->expected);
}

static bool begin_to_expect(struct weft_block *blk, struct weft_out *out)
{
	struct weft_bound *b = &blk->bound;

	if (weft_line_perm(&blk->line) >= b->wish)
		return false; /* not yet lost: it may go with the lock and come back with it */
	if (!room_to_expect(blk)) {
		b->wish = WEFT_I;
		return false;
	}
	if (!weft_line_expect(&blk->line, b->wish, b->txn, out)) {
		/* busy: try again when idle, unless another node may have owned it since */
		if (b->ours && blk->line.state != WEFT_M)
			b->wish = WEFT_I;
		return false;
	}
	b->wish = WEFT_I;
	b->urged = WEFT_URGED_NOT;
	b->awaited = true;
	b->since = 0;
	b->patience = 0;
	weft_block_asks(blk);
	set_expected(blk, true);
	return true;
}

bool weft_bound_urge(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->bound.patience = 0;
	if (!blk->line.expecting || blk->bound.urged)
		return false;
	blk->bound.urged = WEFT_URGED_NOW;
	return true;
}

static void waited(struct weft_block *blk)
{
	weft_stat_add(weft_block_counters(blk), WEFT_STAT_LOCK_BLOCKS_NSEC,
		      ktime_get_ns() - blk->bound.since);
}

void weft_bound_broken(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	waited(blk);
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOCK_BLOCKS_BROKEN);
	weft_rtt_broken(&blk->cache->node->rtts);
	weft_bound_urge(blk);
}

void weft_bound_asked(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (!blk->bound.expected)
		return;
	set_expected(blk, false);
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOCK_BLOCKS_LATE);
	blk->began = ktime_get_ns();
}

/* --- guard learning ----------------------------------------------------------------- */

static void untried(struct weft_block *blk)
{
	if (!blk->bound.untried)
		atomic_inc(&blk->region->untried);
	WRITE_ONCE(blk->bound.untried, true);
}

void weft_bound_tried(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->bound.untried)
		atomic_dec(&blk->region->untried);
	WRITE_ONCE(blk->bound.untried, false);
}

void weft_bound_touched(struct weft_block *blk)
{
	spin_lock_bh(&blk->lock);
	if (blk->bound.untried && blk->bound.brought) {
		blk->bound.saved = true;
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOCK_LEARNT_SAVED);
	}
	weft_bound_tried(blk);
	spin_unlock_bh(&blk->lock);
}

/* Is @txn a request for the lock that did not get the block? */
static bool was_offered(const struct weft_bound *b, u32 txn)
{
	u32 i;

	if (b->offered.writer == txn)
		return true;
	for (i = 0; i < b->offered.n; i++)
		if (b->offered.reader[i] == txn)
			return true;
	return false;
}

/* The node had not expected the block that was passed on to it: pass it no more. */
static void was_refused(struct weft_block *blk)
{
	struct weft_bound *b = &blk->bound;

	b->followers &= ~weft_node_bit(weft_txn_member(b->passed));
	b->passed = 0;
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOCK_LEARNT_USELESS);
}

/*
 * Learn from messages which nodes expect the block with the lock: such a node asks for the block
 * under the transaction of its request for the lock.
 */
static void watch(struct weft_block *blk, const struct weft_msg *msg, u8 state)
{
	const struct weft_line *l = &blk->line;
	struct weft_bound *b = &blk->bound;

	if (!b->lock)
		return;
	if ((msg->type == WEFT_MSG_INV || msg->type == WEFT_MSG_FWD) && was_offered(b, msg->txn))
		b->followers |= weft_node_bit(weft_txn_member(msg->txn));
	/* a reader that expects the block gives it back with the lock; these had to be told */
	if (l->op == WEFT_OP_TAKE && l->dunned)
		b->followers &= ~(l->lent & ~l->back);
	if (!b->passed)
		return;
	/* another node got the block first */
	if (msg->type == WEFT_MSG_INV && state == WEFT_M && msg->txn != b->passed)
		b->passed = 0;
	/* the node has taken the block, or has taken it and given it back already */
	if (!l->held && (weft_line_taken(l, msg) || l->state > state))
		b->passed = 0;
	else if (msg->type == WEFT_MSG_INFO &&
		 (l->op == WEFT_OP_TAKE || (l->state == WEFT_M && state != WEFT_M)))
		was_refused(blk);
	else if (msg->type == WEFT_MSG_INV && state == WEFT_I && l->held &&
		 l->held_txn != b->passed)
		was_refused(blk);
}

/* --- what comes --------------------------------------------------------------------- */

/* The block is here.  @passed: with the lock, without a request. */
static void came(struct weft_block *blk, bool passed)
{
	struct weft_bound *b = &blk->bound;

	if (passed || b->awaited)
		weft_predict_came(blk);
	if (passed) {
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOCK_BLOCKS_CAME);
		if (b->patience)
			waited(blk);
		if (b->since)
			weft_rtt_sample(&blk->cache->node->rtts, WEFT_RTT_PASS,
					ktime_get_ns() - b->since);
		b->unmet = 0;
		if (READ_ONCE(blk->cache->unmet))
			WRITE_ONCE(blk->cache->unmet, 0);
	} else if (b->awaited) {
		if (++b->unmet == 0)
			b->unmet = 1; /* saturated */
		/* other processors may lose one: a hint */
		WRITE_ONCE(blk->cache->unmet, READ_ONCE(blk->cache->unmet) + 1);
	}
	set_expected(blk, false);
	b->awaited = false;
	b->since = 0;
	b->patience = 0;
}

bool weft_bound_recv(struct weft_block *blk, const struct weft_msg *msg, u8 state)
{
	struct weft_bound *b = &blk->bound;
	const struct weft_line *l = &blk->line;
	/* a loan to a node that has asked is an answer as any other */
	bool passed = b->expected || msg->type == WEFT_MSG_PASSED ||
		      (msg->flags & (WEFT_F_LENT | WEFT_F_BUSY)) == WEFT_F_LENT;

	lockdep_assert_held(&blk->lock);
	watch(blk, msg, state);
	/*
	 * The block came before it was expected, and was refused.  All messages of this
	 * transaction must be refused from now on.
	 */
	if (b->wish && b->txn == msg->txn)
		b->wish = WEFT_I;
	/*
	 * Data in flight to this node may be older than the write that this INV is for.  A block
	 * that this node has owned since it named @txn cannot be: it is expected when it goes.
	 */
	if (b->txn && msg->type == WEFT_MSG_INV && !(b->ours && state == WEFT_M))
		b->wish = WEFT_I;
	/* the node may have asked meanwhile, after the usual time */
	if (l->state > state) {
		/* a block that was here may be mapped, and used without a fault */
		if (b->learnt && state == WEFT_I && (passed || b->awaited)) {
			b->brought = passed;
			untried(blk);
		}
		came(blk, passed);
		return passed;
	}
	if (l->op != WEFT_OP_GETS && l->op != WEFT_OP_GETM)
		set_expected(blk, false);
	return false;
}

void weft_bound_forget(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	set_expected(blk, false);
	blk->bound.wish = WEFT_I;
	blk->bound.successors = (struct weft_successors){};
	blk->bound.patience = 0;
	blk->bound.urged = WEFT_URGED_NOT;
	blk->bound.awaited = false;
	blk->bound.offered = (struct weft_successors){};
	blk->bound.followers = 0;
	blk->bound.passed = 0;
	weft_bound_tried(blk);
	weft_predict_forget(blk);
}

/* --- as soon as the line is idle -------------------------------------------------- */

static bool has_successors(const struct weft_block *blk)
{
	return blk->bound.successors.n || blk->bound.successors.writer;
}

/* Lend or pass the block on to the next successor.  Return: false if it gets nothing. */
static bool pass_one(struct weft_block *blk, struct weft_out *out)
{
	struct weft_successors *successors = &blk->bound.successors;
	u32 writer = successors->writer;

	if (successors->n)
		return weft_line_lend(&blk->line, successors->reader[--successors->n], out);
	successors->writer = 0;
	/* write-through: the writer asks for the block, and it goes home first */
	if (blk->modified && weft_through_kept(blk->region))
		return false;
	if (!weft_line_pass(&blk->line, writer, out))
		return false;
	if (blk->bound.followers & weft_node_bit(weft_txn_member(writer)))
		blk->bound.passed = writer;
	return true;
}

static bool pass(struct weft_block *blk, struct weft_out *out)
{
	while (has_successors(blk) && weft_line_idle(&blk->line)) {
		if (!pass_one(blk, out))
			continue;
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOCK_BLOCKS_PASSED);
		return true;
	}
	return false;
}

/* Ask: no node passes the block on any more. */
static bool ask_early(struct weft_block *blk, struct weft_out *out)
{
	u8 perm = blk->bound.wish;

	if (!weft_line_idle(&blk->line))
		return false;
	/* once, as the home may refuse the line for good */
	blk->bound.wish = WEFT_I;
	weft_line_want(&blk->line, perm, weft_node_seq(blk->cache->node), out);
	if (!out->n)
		return false;
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOCK_BLOCKS_FETCHED);
	weft_block_asks(blk);
	return true;
}

/* Ask for a block that is expected. */
static bool ask_anyway(struct weft_block *blk, struct weft_out *out)
{
	struct weft_bound *b = &blk->bound;

	/* the fate of data that this node retains comes first */
	if (b->urged == WEFT_URGED_NOT || (b->urged == WEFT_URGED_ONCE && blk->line.held))
		return false;
	b->urged = WEFT_URGED_ONCE;
	weft_block_ask_again(blk, out);
	return true;
}

bool weft_bound_step(struct weft_block *blk, struct weft_out *out)
{
	struct weft_bound *b = &blk->bound;

	lockdep_assert_held(&blk->lock);
	if (has_successors(blk) && pass(blk, out))
		return true;
	if (blk->line.expecting)
		return ask_anyway(blk, out);
	if (!b->wish)
		return false;
	if (b->txn)
		return begin_to_expect(blk, out);
	if (weft_line_perm(&blk->line) >= b->wish) {
		/* the readers have given it back */
		b->wish = WEFT_I;
		if (b->patience)
			came(blk, true);
		return false;
	}
	return !b->patience && ask_early(blk, out);
}
