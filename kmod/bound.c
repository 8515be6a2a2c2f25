// SPDX-License-Identifier: GPL-2.0-only
/*
 * A block that a lock guards, see bound.h.
 *
 * What a lock wants of a block may have to wait until the line is idle: it is kept
 * in struct weft_bound until then, and followed after each event of the line.
 */
#include "bound.h"
#include "drive.h"
#include "node.h"
#include "stats.h"

#define CACHE_PART	8	/* of the cache, which may only be expected */
#define VAIN_ROUNDS	8	/* so often without waiting, after it was in vain */

/* --- expecting ------------------------------------------------------------------ */

static bool room_to_expect(const struct weft_cline *cl)
{
	/* a block that is expected cannot be evicted */
	return atomic_long_read(&weft_cache.expected) + cl->nr_pages <=
	       READ_ONCE(weft_cache.max_pages) / CACHE_PART;
}

static void set_expected(struct weft_cline *cl, bool expected)
{
	lockdep_assert_held(&cl->lock);
	if (cl->bound.expected == expected)
		return;
	cl->bound.expected = expected;
	atomic_long_add(expected ? (long)cl->nr_pages : -(long)cl->nr_pages,
			&weft_cache.expected);
}

static void begin_to_expect(struct weft_cline *cl, struct sk_buff_head *queue)
{
	struct weft_bound *b = &cl->bound;
	struct weft_out out;

	if (weft_line_perm(&cl->line) >= b->wish)
		return; /* ours as yet; it may go with the lock before we get it again */
	if (!room_to_expect(cl)) {
		b->wish = WEFT_I;
		return;
	}
	if (!weft_line_expect(&cl->line, b->wish, b->txn, &out))
		return; /* busy: as soon as it is not */
	b->wish = WEFT_I;
	b->urged = false;
	b->awaited = true;
	b->since = 0;
	b->patience = 0;
	weft_drive_begin(cl);
	set_expected(cl, true);
	weft_drive(cl, &out, NULL, queue);
}

static void unexpect(struct weft_cline *cl, struct sk_buff_head *queue)
{
	struct weft_out out;

	if (!weft_line_unexpect(&cl->line, &out))
		return;
	weft_bound_forget(cl);
	weft_drive(cl, &out, NULL, queue);
}

void weft_bound_urge(struct weft_cline *cl, struct sk_buff_head *queue)
{
	lockdep_assert_held(&cl->lock);
	cl->bound.patience = 0;
	weft_bound_follow(cl, queue);
	if (!cl->line.expecting || cl->bound.urged)
		return;
	cl->bound.urged = true;
	weft_drive_again(cl, queue);
}

void weft_bound_asked(struct weft_cline *cl)
{
	lockdep_assert_held(&cl->lock);
	if (!cl->bound.expected)
		return;
	set_expected(cl, false);
	weft_stat_inc(WEFT_STAT_LOCK_BLOCKS_LATE);
	cl->began = ktime_get_ns();
}

/* Is it worth to wait for it?  Mostly as it was last time. */
static bool hopeful(const struct weft_cline *cl)
{
	return cl->bound.vain % VAIN_ROUNDS == 0;
}

/*
 * The block is here; @passed: with the lock, @unasked: by itself.  Only that tells how
 * long it takes: what was asked for took as long as we waited before.
 */
static bool came(struct weft_cline *cl, bool passed, bool unasked)
{
	struct weft_bound *b = &cl->bound;

	if (passed) {
		weft_stat_inc(WEFT_STAT_LOCK_BLOCKS_CAME);
		if (b->since && unasked)
			weft_rtt_sample(WEFT_RTT_PASS, ktime_get_ns() - b->since);
		b->vain = 0;
	} else if (b->awaited && ++b->vain == 0) {
		b->vain = 1; /* as often as can be counted */
	}
	set_expected(cl, false);
	b->awaited = false;
	b->since = 0;
	b->patience = 0;
	return passed;
}

bool weft_bound_recv(struct weft_cline *cl, const struct weft_msg *msg, u8 state)
{
	struct weft_bound *b = &cl->bound;
	const struct weft_line *l = &cl->line;
	bool unasked = b->expected || msg->type == WEFT_MSG_PASSED ||
		       (msg->flags & (WEFT_F_LENT | WEFT_F_BUSY)) == WEFT_F_LENT;

	lockdep_assert_held(&cl->lock);
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
		return came(cl, b->expected || l->loaned ||
				msg->type == WEFT_MSG_PASSED, unasked);
	if (l->op != WEFT_OP_GETS && l->op != WEFT_OP_GETM)
		set_expected(cl, false);
	return false;
}

void weft_bound_forget(struct weft_cline *cl)
{
	lockdep_assert_held(&cl->lock);
	set_expected(cl, false);
	cl->bound.wish = WEFT_I;
	cl->bound.heirs = (struct weft_heirs){};
	cl->bound.patience = 0;
	cl->bound.urged = false;
	cl->bound.awaited = false;
}

/* --- as soon as the line is idle -------------------------------------------------- */

static bool has_heirs(const struct weft_cline *cl)
{
	return cl->bound.heirs.n || cl->bound.heirs.writer;
}

/* The next one's turn.  Return: false if it gets nothing. */
static bool pass_one(struct weft_cline *cl, struct weft_out *out)
{
	struct weft_heirs *heirs = &cl->bound.heirs;
	u32 writer = heirs->writer;

	if (heirs->n)
		return weft_line_lend(&cl->line, heirs->reader[--heirs->n], out);
	heirs->writer = 0;
	return weft_line_pass(&cl->line, writer, out);
}

static void pass(struct weft_cline *cl, struct sk_buff_head *queue)
{
	struct weft_bound *b = &cl->bound;
	struct weft_out out;

	/* what follows from one may come back here: the loop sees to it */
	if (b->passing)
		return;
	b->passing = true;
	while (has_heirs(cl) && weft_line_idle(&cl->line)) {
		if (!pass_one(cl, &out))
			continue;
		weft_stat_inc(WEFT_STAT_LOCK_BLOCKS_PASSED);
		weft_drive(cl, &out, NULL, queue);
	}
	b->passing = false;
}

static void ask(struct weft_cline *cl, struct sk_buff_head *queue)
{
	u8 perm = cl->bound.wish;
	struct weft_out out;

	if (!weft_line_idle(&cl->line))
		return;
	/* once: what the home refuses for good is not asked for again */
	cl->bound.wish = WEFT_I;
	weft_line_want(&cl->line, perm, weft_node_seq(), &out);
	if (!out.n)
		return;
	weft_stat_inc(WEFT_STAT_LOCK_BLOCKS_FETCHED);
	weft_drive_begin(cl);
	weft_drive(cl, &out, NULL, queue);
}

void weft_bound_follow(struct weft_cline *cl, struct sk_buff_head *queue)
{
	struct weft_bound *b = &cl->bound;

	lockdep_assert_held(&cl->lock);
	if (has_heirs(cl))
		pass(cl, queue);
	if (cl->line.expecting) {
		/* what we had given away ourselves is settled now */
		if (b->urged && !cl->line.held)
			weft_drive_again(cl, queue);
	} else if (b->wish && b->txn) {
		begin_to_expect(cl, queue);
	} else if (b->wish && weft_line_perm(&cl->line) >= b->wish) {
		/* we had lent it, and have it back */
		b->wish = WEFT_I;
		if (b->patience)
			came(cl, true, true);
	} else if (b->wish && !b->patience) {
		ask(cl, queue);
	}
}

/* --- what becomes of the lock ------------------------------------------------------- */

void weft_bound_expect(struct weft_cline *cl, u8 perm, u32 txn,
		       struct sk_buff_head *queue)
{
	spin_lock_bh(&cl->lock);
	if (cl->phase == WEFT_CLINE_LIVE) {
		/* of an earlier request that came to nothing */
		unexpect(cl, queue);
		cl->bound.wish = perm;
		cl->bound.txn = txn;
		weft_bound_follow(cl, queue);
	}
	spin_unlock_bh(&cl->lock);
}

static void come(struct weft_cline *cl, u8 perm, bool passed,
		 struct sk_buff_head *queue)
{
	struct weft_bound *b = &cl->bound;

	lockdep_assert_held(&cl->lock);
	b->heirs = (struct weft_heirs){};
	b->txn = 0;
	b->wish = WEFT_I;
	if (!cl->line.expecting)
		b->wish = perm;
	/* the one who had it passes it on; or those to whom we lent it give it back */
	if (passed && hopeful(cl) &&
	    (cl->line.expecting ||
	     (cl->line.lent && weft_line_perm(&cl->line) < perm))) {
		b->since = ktime_get_ns();
		b->patience = b->since + weft_rtt_patience();
		weft_drive_soon(cl);
		weft_bound_follow(cl, queue);
	} else {
		weft_bound_urge(cl, queue);
	}
}

void weft_bound_come(struct weft_cline *cl, u8 perm, bool passed,
		     struct sk_buff_head *queue)
{
	spin_lock_bh(&cl->lock);
	if (cl->phase == WEFT_CLINE_LIVE)
		come(cl, perm, passed, queue);
	spin_unlock_bh(&cl->lock);
}

void weft_bound_leave(struct weft_cline *cl)
{
	spin_lock_bh(&cl->lock);
	/* with a name it is for the next time */
	if (!cl->bound.txn)
		cl->bound.wish = WEFT_I;
	if (!cl->pins) {
		cl->fresh = false;
		if (cl->keep)
			weft_drive_keep(cl, 0);
	}
	spin_unlock_bh(&cl->lock);
}

void weft_bound_pass(struct weft_cline *cl, const struct weft_heirs *heirs,
		     struct sk_buff_head *queue)
{
	spin_lock_bh(&cl->lock);
	if (cl->phase == WEFT_CLINE_LIVE && cl->line.state == WEFT_M) {
		cl->bound.heirs = *heirs;
		/* if it has just come it has to be told to the directory first */
		weft_bound_follow(cl, queue);
	}
	spin_unlock_bh(&cl->lock);
}

void weft_bound_yield(struct weft_cline *cl, u32 writer,
		      struct sk_buff_head *queue)
{
	struct weft_out out;

	spin_lock_bh(&cl->lock);
	if (cl->phase == WEFT_CLINE_LIVE && cl->line.state == WEFT_M) {
		cl->bound.heirs = (struct weft_heirs){ .writer = writer };
		weft_bound_follow(cl, queue);
	} else if (cl->phase == WEFT_CLINE_LIVE &&
		   weft_line_yield(&cl->line, writer, &out)) {
		weft_drive(cl, &out, NULL, queue);
	}
	spin_unlock_bh(&cl->lock);
}

void weft_bound_drop(struct weft_cline *cl, struct sk_buff_head *queue)
{
	spin_lock_bh(&cl->lock);
	if (cl->phase == WEFT_CLINE_LIVE) {
		cl->bound.wish = WEFT_I;
		cl->bound.heirs = (struct weft_heirs){};
		unexpect(cl, queue);
	}
	spin_unlock_bh(&cl->lock);
}
