// SPDX-License-Identifier: GPL-2.0-only
/*
 * A block that a lock guards, see bound.h.
 *
 * What a lock wants of a block may have to wait until the line is idle: it is kept
 * in struct weft_bound until then, and followed after each event of the line.
 */
#include "base/stats.h"
#include "blocks/bound.h"
#include "blocks/cache.h"
#include "blocks/step.h"
#include "core/controller.h"
#include "net/node.h"
#include "net/rtt.h"

#define CACHE_PART	8	/* of the cache, which may only be expected */
#define UNMET_ROUNDS	8	/* so often without waiting, after it did not come */

/* --- expecting ------------------------------------------------------------------ */

static bool room_to_expect(const struct weft_block *blk)
{
	/* a block that is expected cannot be evicted */
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

static void begin_to_expect(struct weft_block *blk, struct weft_outbox *outbox)
{
	struct weft_bound *b = &blk->bound;
	struct weft_out out;

	if (weft_line_perm(&blk->line) >= b->wish)
		return; /* ours as yet; it may go with the lock before we get it again */
	if (!room_to_expect(blk)) {
		b->wish = WEFT_I;
		return;
	}
	if (!weft_line_expect(&blk->line, b->wish, b->txn, &out))
		return; /* busy: as soon as it is not */
	b->wish = WEFT_I;
	b->urged = false;
	b->awaited = true;
	b->since = 0;
	b->patience = 0;
	weft_step_begin(blk);
	set_expected(blk, true);
	weft_step(blk, &out, NULL, outbox);
}

static void unexpect(struct weft_block *blk, struct weft_outbox *outbox)
{
	struct weft_out out;

	if (!weft_line_unexpect(&blk->line, &out))
		return;
	weft_bound_forget(blk);
	weft_step(blk, &out, NULL, outbox);
}

void weft_bound_urge(struct weft_block *blk, struct weft_outbox *outbox)
{
	lockdep_assert_held(&blk->lock);
	blk->bound.patience = 0;
	weft_bound_follow(blk, outbox);
	if (!blk->line.expecting || blk->bound.urged)
		return;
	blk->bound.urged = true;
	weft_step_again(blk, outbox);
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

/* Is it worth to wait for it?  Mostly as it was last time. */
static bool hopeful(const struct weft_block *blk)
{
	return blk->bound.unmet % UNMET_ROUNDS == 0;
}

/*
 * The block is here; @passed: with the lock, @unasked: by itself.  Only that tells how
 * long it takes: what was asked for took as long as we waited before.
 */
static bool came(struct weft_block *blk, bool passed, bool unasked)
{
	struct weft_bound *b = &blk->bound;

	if (passed) {
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOCK_BLOCKS_CAME);
		if (b->since && unasked)
			weft_rtt_sample(&blk->cache->node->rtts, WEFT_RTT_PASS,
					ktime_get_ns() - b->since);
		b->unmet = 0;
	} else if (b->awaited && ++b->unmet == 0) {
		b->unmet = 1; /* as often as can be counted */
	}
	set_expected(blk, false);
	b->awaited = false;
	b->since = 0;
	b->patience = 0;
	return passed;
}

bool weft_bound_recv(struct weft_block *blk, const struct weft_msg *msg, u8 state)
{
	struct weft_bound *b = &blk->bound;
	const struct weft_line *l = &blk->line;
	bool unasked = b->expected || msg->type == WEFT_MSG_PASSED ||
		       (msg->flags & (WEFT_F_LENT | WEFT_F_BUSY)) == WEFT_F_LENT;

	lockdep_assert_held(&blk->lock);
	/*
	 * It was answered before it was expected, and so refused: whatever bears
	 * this name must be refused from now on.
	 */
	if (b->wish && b->txn == msg->txn)
		b->wish = WEFT_I;
	/* what is under way to us may be from before the write that this is for */
	if (b->txn && msg->type == WEFT_MSG_INV)
		b->wish = WEFT_I;
	/* we may have asked meanwhile, as it took longer than usual */
	if (l->state > state)
		return came(blk, b->expected || l->loaned ||
				msg->type == WEFT_MSG_PASSED, unasked);
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
	blk->bound.urged = false;
	blk->bound.awaited = false;
}

/* --- as soon as the line is idle -------------------------------------------------- */

static bool has_successors(const struct weft_block *blk)
{
	return blk->bound.successors.n || blk->bound.successors.writer;
}

/* The next one's turn.  Return: false if it gets nothing. */
static bool pass_one(struct weft_block *blk, struct weft_out *out)
{
	struct weft_successors *successors = &blk->bound.successors;
	u32 writer = successors->writer;

	if (successors->n)
		return weft_line_lend(&blk->line, successors->reader[--successors->n], out);
	successors->writer = 0;
	return weft_line_pass(&blk->line, writer, out);
}

static void pass(struct weft_block *blk, struct weft_outbox *outbox)
{
	struct weft_bound *b = &blk->bound;
	struct weft_out out;

	/* what follows from one may come back here: the loop sees to it */
	if (b->passing)
		return;
	b->passing = true;
	while (has_successors(blk) && weft_line_idle(&blk->line)) {
		if (!pass_one(blk, &out))
			continue;
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOCK_BLOCKS_PASSED);
		weft_step(blk, &out, NULL, outbox);
	}
	b->passing = false;
}

static void ask(struct weft_block *blk, struct weft_outbox *outbox)
{
	u8 perm = blk->bound.wish;
	struct weft_out out;

	if (!weft_line_idle(&blk->line))
		return;
	/* once: what the home refuses for good is not asked for again */
	blk->bound.wish = WEFT_I;
	weft_line_want(&blk->line, perm, weft_node_seq(blk->cache->node), &out);
	if (!out.n)
		return;
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOCK_BLOCKS_FETCHED);
	weft_step_begin(blk);
	weft_step(blk, &out, NULL, outbox);
}

void weft_bound_follow(struct weft_block *blk, struct weft_outbox *outbox)
{
	struct weft_bound *b = &blk->bound;

	lockdep_assert_held(&blk->lock);
	if (has_successors(blk))
		pass(blk, outbox);
	if (blk->line.expecting) {
		/* what we had given away ourselves is settled now */
		if (b->urged && !blk->line.held)
			weft_step_again(blk, outbox);
	} else if (b->wish && b->txn) {
		begin_to_expect(blk, outbox);
	} else if (b->wish && weft_line_perm(&blk->line) >= b->wish) {
		/* we had lent it, and have it back */
		b->wish = WEFT_I;
		if (b->patience)
			came(blk, true, true);
	} else if (b->wish && !b->patience) {
		ask(blk, outbox);
	}
}

/* --- what becomes of the lock ------------------------------------------------------- */

void weft_bound_expect(struct weft_block *blk, u8 perm, u32 txn,
		       struct weft_outbox *outbox)
{
	spin_lock_bh(&blk->lock);
	if (blk->phase == WEFT_BLOCK_LIVE) {
		/* of an earlier request that came to nothing */
		unexpect(blk, outbox);
		blk->bound.wish = perm;
		blk->bound.txn = txn;
		weft_bound_follow(blk, outbox);
	}
	spin_unlock_bh(&blk->lock);
}

static void come(struct weft_block *blk, u8 perm, bool passed,
		 struct weft_outbox *outbox)
{
	struct weft_bound *b = &blk->bound;

	lockdep_assert_held(&blk->lock);
	b->successors = (struct weft_successors){};
	b->txn = 0;
	b->wish = WEFT_I;
	if (!blk->line.expecting)
		b->wish = perm;
	/* the one who had it passes it on; or those to whom we lent it give it back */
	if (passed && hopeful(blk) &&
	    (blk->line.expecting ||
	     (blk->line.lent && weft_line_perm(&blk->line) < perm))) {
		b->since = ktime_get_ns();
		b->patience = b->since + weft_rtt_patience(&blk->cache->node->rtts);
		weft_step_soon(blk);
		weft_bound_follow(blk, outbox);
	} else {
		weft_bound_urge(blk, outbox);
	}
}

void weft_bound_come(struct weft_block *blk, u8 perm, bool passed,
		     struct weft_outbox *outbox)
{
	spin_lock_bh(&blk->lock);
	if (blk->phase == WEFT_BLOCK_LIVE)
		come(blk, perm, passed, outbox);
	spin_unlock_bh(&blk->lock);
}

void weft_bound_leave(struct weft_block *blk)
{
	spin_lock_bh(&blk->lock);
	/* with a name it is for the next time */
	if (!blk->bound.txn)
		blk->bound.wish = WEFT_I;
	if (!blk->pins) {
		blk->fresh = false;
		if (blk->keep)
			weft_step_keep(blk, 0);
	}
	spin_unlock_bh(&blk->lock);
}

void weft_bound_pass(struct weft_block *blk, const struct weft_successors *successors,
		     struct weft_outbox *outbox)
{
	spin_lock_bh(&blk->lock);
	if (blk->phase == WEFT_BLOCK_LIVE && blk->line.state == WEFT_M) {
		blk->bound.successors = *successors;
		/* if it has just come it has to be told to the directory first */
		weft_bound_follow(blk, outbox);
	}
	spin_unlock_bh(&blk->lock);
}

void weft_bound_yield(struct weft_block *blk, u32 writer,
		      struct weft_outbox *outbox)
{
	struct weft_out out;

	spin_lock_bh(&blk->lock);
	if (blk->phase == WEFT_BLOCK_LIVE && blk->line.state == WEFT_M) {
		blk->bound.successors = (struct weft_successors){ .writer = writer };
		weft_bound_follow(blk, outbox);
	} else if (blk->phase == WEFT_BLOCK_LIVE &&
		   weft_line_yield(&blk->line, writer, &out)) {
		weft_step(blk, &out, NULL, outbox);
	}
	spin_unlock_bh(&blk->lock);
}

void weft_bound_drop(struct weft_block *blk, struct weft_outbox *outbox)
{
	spin_lock_bh(&blk->lock);
	if (blk->phase == WEFT_BLOCK_LIVE) {
		blk->bound.wish = WEFT_I;
		blk->bound.successors = (struct weft_successors){};
		unexpect(blk, outbox);
	}
	spin_unlock_bh(&blk->lock);
}
