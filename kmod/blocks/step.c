// SPDX-License-Identifier: GPL-2.0-only
/* The steps of a block, its timer, and the taking away of its pages; see step.h. */

#include "base/compat.h"
#include "base/event.h"
#include "base/stats.h"
#include "base/trace.h"
#include "blocks/bound.h"
#include "blocks/cache.h"
#include "blocks/effects.h"
#include "blocks/flight.h"
#include "blocks/pages.h"
#include "blocks/region.h"
#include "blocks/step.h"
#include "core/controller.h"
#include "net/node.h"
#include "net/outbox.h"

#define SUSPECT_LOSSES	8	/* losses in a row, a second or more, that are an event */
#define RETRY_SLACK_NS	(NSEC_PER_MSEC / 2)	/* so that many time-outs share an interrupt */

/* --- the timer ----------------------------------------------------------------- */

/* When the next step is due, ns; 0: never.  @slack: how much later it may be made, ns. */
static u64 due_at(const struct weft_block *blk, u64 *slack)
{
	u64 at = U64_MAX;

	if (blk->backoff_at)
		at = blk->backoff_at;
	if (blk->waiting)
		at = min(at, blk->keep);
	if (blk->through_until)
		at = min(at, blk->through_until);
	if (blk->bound.patience)
		at = min(at, blk->bound.patience);
	*slack = 0;
	if (blk->retry_at && blk->retry_at < at) {
		at = blk->retry_at;
		*slack = RETRY_SLACK_NS;
	}
	if (blk->look_at && blk->look_at < at) {
		at = blk->look_at;
		*slack = RETRY_SLACK_NS;
	}
	return at == U64_MAX ? 0 : at;
}

/* The armed timer has a reference, which its function puts. */
static void set_timer(struct weft_block *blk)
{
	u64 slack, at = due_at(blk, &slack);

	lockdep_assert_held(&blk->lock);
	if (!at || (blk->armed && ktime_to_ns(hrtimer_get_softexpires(&blk->timer)) <= at))
		return;
	if (!blk->armed) {
		blk->armed = true;
		refcount_inc(&blk->ref);
	}
	hrtimer_start_range_ns(&blk->timer, ns_to_ktime(at), slack, HRTIMER_MODE_ABS_SOFT);
}

/* --- taking away from programs --------------------------------------------------- */

/* Programs have no more than the revocation leaves them.  All pages locked. */
static void revoked(struct weft_block *blk, struct weft_out *out, struct weft_outbox *outbox)
{
	enum weft_hist hist = blk->line.revoking == 2 ? WEFT_HIST_INVALIDATION :
						       WEFT_HIST_DOWNGRADE;
	/* an order that came while the line was to be lent waits */
	bool asked = blk->line.rq.type && !blk->line.lending;

	lockdep_assert_held(&blk->lock);
	blk->pin_waits = 0;
	if (blk->line.revoking == 2) {
		weft_pages_clear_uptodate(blk);
		if (asked)
			weft_stat_inc(weft_block_counters(blk), WEFT_STAT_INVALIDATED);
	} else {
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_DOWNGRADED);
	}
	if (!weft_migratory_ends(&blk->migratory, asked))
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_GUESSED_WRONG);
	/* write-through: what another node has read is at home */
	weft_line_revoked(&blk->line, !(blk->modified && weft_through_kept(blk->region)),
			  weft_node_seq(blk->cache->node), out);
	trace_weft_revoked(&blk->line);
	weft_block_carry_out(blk, out, NULL, outbox);
	if (asked) {
		weft_hist_add(weft_block_counters(blk), hist, ktime_get_ns() - blk->heard);
		blk->revocations++;
	}
	if (blk->line.state != WEFT_M)
		blk->dirty = blk->modified = false;
	blk->through_until = 0;
	weft_pages_set_uptodate(blk);
}

/* A device writes into the block: delay the revocation. */
static bool device_first(struct weft_block *blk)
{
	if (!weft_pages_device_writes(blk) || blk->pin_waits >= WEFT_PIN_WAITS)
		return false;
	blk->pin_waits++;
	blk->keep = ktime_get_ns() + WEFT_PIN_WAIT_US * NSEC_PER_USEC;
	blk->waiting = true;
	return true;
}

static void cleaned(struct weft_block *blk, struct weft_out *out, struct weft_outbox *outbox)
{
	if (!weft_line_clean(&blk->line, weft_node_seq(blk->cache->node), out))
		return;
	blk->clean = false;
	blk->dirty = false;
	blk->modified = false;
	blk->losses = 0;
	weft_block_carry_out(blk, out, NULL, outbox);
}

/* --- write-through ---------------------------------------------------------------- */

/*
 * A block whose ownership is to move may wait for its write-back for half of timeout_ms from the
 * first call on.  After that it goes, and unsafe_blocks counts.
 */
static bool in_time(struct weft_block *blk)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&blk->lock);
	if (!blk->through_until)
		blk->through_until = now + (u64)READ_ONCE(blk->cache->node->timeout_ms) *
				  NSEC_PER_MSEC / 2;
	if (now < blk->through_until)
		return true;
	if (blk->modified || blk->line.op == WEFT_OP_CLEAN)
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_UNSAFE_BLOCKS);
	blk->modified = false;
	return false;
}

/* Another node waits to write: must the block be written home before it goes? */
static bool home_first(struct weft_block *blk)
{
	const struct weft_line *l = &blk->line;

	return l->revoking == 2 && l->state == WEFT_M && l->rq.type == WEFT_MSG_INV &&
	       weft_through_kept(blk->region) && (blk->modified || l->op == WEFT_OP_CLEAN) &&
	       in_time(blk);
}

/* It must, and its write-back is in flight or cannot begin: wait for the next event. */
static bool home_under_way(struct weft_block *blk)
{
	return home_first(blk) && (blk->line.op != WEFT_OP_NONE || blk->line.held);
}

bool weft_step_deaf(struct weft_block *blk, const struct weft_msg *msg)
{
	const struct weft_line *l = &blk->line;

	return msg->type == WEFT_MSG_INV && l->op == WEFT_OP_PUT && l->quiesced &&
	       l->state == WEFT_M && !l->written && blk->modified &&
	       weft_through_kept(blk->region) && in_time(blk);
}

/* Programs have no access, all pages are locked: the block goes, or home first. */
static void given_up(struct weft_block *blk, struct weft_out *out, struct weft_outbox *outbox)
{
	if (!home_first(blk)) {
		revoked(blk, out, outbox);
		return;
	}
	if (home_under_way(blk))
		return;
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_HOME_FIRST);
	cleaned(blk, out, outbox);
}

/* Drop all wishes. */
static void reset(struct weft_block *blk)
{
	blk->backoff_at = 0;
	blk->waiting = false;
	blk->want = WEFT_I;
	weft_bound_forget(blk);
	/* a message since the unmapping may have set the flag again */
	weft_pages_clear_uptodate(blk);
}

static void given_back(struct weft_block *blk, struct weft_out *out, struct weft_outbox *outbox)
{
	bool returns = weft_line_returning(&blk->line);

	/* in state M only: a device that reads harms no one */
	if (blk->flush != WEFT_FLUSH_NOW && weft_pages_device_writes(blk))
		return;
	blk->flush = WEFT_FLUSH_NONE;
	blk->losses = 0;
	reset(blk);
	if (weft_line_return(&blk->line, weft_node_seq(blk->cache->node), out) && !blk->putting)
		weft_cache_put_begins(blk);
	if (!returns && weft_line_returning(&blk->line))
		atomic64_inc(&blk->cache->renewed);
	weft_block_carry_out(blk, out, NULL, outbox);
	if (blk->putting)
		weft_cache_put_moves(blk);
}

static void forgotten(struct weft_block *blk, struct weft_out *out, struct weft_outbox *outbox)
{
	blk->forget = false;
	reset(blk);
	weft_line_forget(&blk->line, out);
	WRITE_ONCE(blk->fails, blk->fails + 1);
	weft_block_carry_out(blk, out, NULL, outbox);
}

/* What is to be taken away: 2: all access, 1: the right to write, 0: nothing. */
static u8 to_take(const struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->phase != WEFT_BLOCK_LIVE)
		return 0;
	if (blk->forget || blk->flush)
		return 2;
	if (blk->line.revoking && !blk->waiting)
		return blk->line.revoking;
	return blk->clean ? 1 : 0;
}

/* Programs have lost @what; all pages locked: do what that was for. */
static void taken(struct weft_block *blk, u8 what, struct weft_outbox *outbox)
{
	struct weft_out out;

	if (blk->phase != WEFT_BLOCK_LIVE)
		return;
	if (what == 2 && blk->flush)
		given_back(blk, &out, outbox);
	if (what == 2 && blk->forget)
		forgotten(blk, &out, outbox);
	if (blk->line.revoking && !blk->waiting && what >= blk->line.revoking &&
	    !device_first(blk)) {
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_REVOKED_MAPPED);
		given_up(blk, &out, outbox);
	}
	if (what && blk->clean)
		cleaned(blk, &out, outbox);
}

void weft_block_take(struct weft_block *blk)
{
	struct weft_outbox outbox;
	u8 what;

	weft_outbox_init(&outbox, blk->cache->node);
	weft_pages_lock(blk);
	spin_lock_bh(&blk->lock);
	what = to_take(blk);
	spin_unlock_bh(&blk->lock);
	/* before any message goes: other nodes rely on it from then on */
	if (what == 2)
		weft_pages_unmap(blk);
	else if (what)
		weft_pages_protect(blk);
	weft_block_begin(blk);
	blk->taking = false;
	taken(blk, what, &outbox);
	weft_block_end(blk, &outbox);
	weft_pages_unlock(blk);
	weft_outbox_send(&outbox);
}

static void take_work(struct work_struct *work)
{
	struct weft_block *blk = container_of(work, struct weft_block, take);

	weft_block_take(blk);
	weft_block_put(blk);
}

static void queue_take(struct weft_block *blk)
{
	blk->taking = true;
	refcount_inc(&blk->ref);
	if (!queue_work(blk->cache->wq, &blk->take))
		weft_block_put(blk);
}

void weft_block_take_now(struct weft_block *blk)
{
	if (READ_ONCE(blk->phase) != WEFT_BLOCK_LIVE || !READ_ONCE(blk->line.revoking))
		return;
	/* the work may be running: the page locks keep the two apart */
	if (cancel_work(&blk->take))
		weft_block_put(blk);
	weft_block_take(blk);
}

/* --- steps ------------------------------------------------------------------------ */

/* The program has not written yet: prolong the stay by hold_us, up to @late. */
static bool write_is_due(struct weft_block *blk, u64 now)
{
	u64 hold = (u64)READ_ONCE(blk->cache->node->hold_us) * NSEC_PER_USEC;

	if (blk->late <= now || weft_pages_word(blk, blk->watch) != blk->was)
		return false;
	blk->keep = min(blk->late, now + hold);
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_HELD_LONGER);
	return true;
}

/* Does the minimum stay last? */
static bool stays(struct weft_block *blk)
{
	u64 now = ktime_get_ns();

	if (blk->keep <= now && !write_is_due(blk, now))
		return false;
	if (!blk->waiting)
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_HELD_BACK);
	return true;
}

/* Revoke for another node or the eviction, now or by work.  Return: true if it is done. */
static bool revoke(struct weft_block *blk, struct weft_out *out, struct weft_outbox *outbox)
{
	if (blk->taking)
		return false;
	blk->waiting = stays(blk);
	if (blk->waiting || home_under_way(blk))
		return false;
	if (!weft_pages_trylock_unmapped(blk)) {
		queue_take(blk);
		return false;
	}
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_REVOKED_UNMAPPED);
	given_up(blk, out, outbox);
	weft_pages_unlock(blk);
	return true;
}

/* Write home; by work, as programs lose the right to write first. */
static void clean(struct weft_block *blk)
{
	if (!blk->clean || blk->taking || !weft_line_idle(&blk->line))
		return;
	/* if another node has taken the block meanwhile, that is as good */
	blk->clean = blk->line.state == WEFT_M && blk->dirty;
	if (blk->clean)
		queue_take(blk);
}

/*
 * The policy refuses the contents to programs: the block goes, so that the next access asks the
 * home, where an administrator may have accepted the loss meanwhile.
 */
static bool is_denied(const struct weft_block *blk)
{
	return blk->lost && blk->line.state != WEFT_I;
}

static bool leave(struct weft_block *blk, struct weft_out *out)
{
	bool modified = blk->line.state == WEFT_M;

	if (!blk->leave && !is_denied(blk))
		return false;
	blk->leave = false;
	if (!weft_line_evict(&blk->line, true, weft_node_seq(blk->cache->node), out))
		return false;
	weft_stat_inc(weft_block_counters(blk), modified ? WEFT_STAT_EVICTED_MODIFIED :
				 WEFT_STAT_EVICTED_CLEAN);
	blk->keep = 0;
	blk->losses = 0;
	weft_cache_put_begins(blk);
	trace_weft_evict(&blk->line);
	return true;
}

static bool ask(struct weft_block *blk, struct weft_out *out)
{
	u8 perm = blk->want, ask = perm;

	if (!perm || weft_bound_returning(blk))
		return false;
	/* a program wants a block that would come with a lock which is still to come */
	if (blk->line.expecting && !blk->bound.patience && weft_bound_urge(blk))
		return weft_bound_step(blk, out);
	if (!weft_line_idle(&blk->line))
		return false;
	blk->want = WEFT_I;
	/* reading ahead (no pin) never guesses */
	if (perm == WEFT_S && blk->line.state == WEFT_I && blk->pins)
		ask = weft_migratory_ask(&blk->migratory);
	weft_line_want(&blk->line, ask, weft_node_seq(blk->cache->node), out);
	if (!out->n)
		return false;
	weft_block_asks(blk);
	weft_flight_begin(blk);
	blk->early = !blk->pins;
	blk->guess = ask != perm;
	return true;
}

/* Return: false if no step is possible now. */
static bool step(struct weft_block *blk, struct weft_outbox *outbox)
{
	struct weft_out out;

	if (blk->line.revoking && revoke(blk, &out, outbox))
		return true;
	/* refused contents leave before a lock could pass them on */
	if (!(is_denied(blk) && leave(blk, &out)) && !weft_bound_step(blk, &out) &&
	    !leave(blk, &out) && !ask(blk, &out))
		return false;
	weft_block_carry_out(blk, &out, NULL, outbox);
	return true;
}

void weft_block_begin(struct weft_block *blk)
	__acquires(&blk->lock)
{
	spin_lock_bh(&blk->lock);
}

void weft_block_end(struct weft_block *blk, struct weft_outbox *outbox)
	__releases(&blk->lock)
{
	if (blk->phase == WEFT_BLOCK_LIVE) {
		while (step(blk, outbox))
			;
		clean(blk);
		if (!blk->line.revoking) {
			blk->waiting = false;
			blk->through_until = 0;
		}
		if (!blk->pins)
			blk->want = WEFT_I;
		/* a read-ahead that could not be requested leaves the window */
		weft_flight_follow(blk);
		if (weft_line_idle(&blk->line))
			blk->retry_at = blk->look_at = blk->backoff_at = 0;
		set_timer(blk);
	}
	spin_unlock_bh(&blk->lock);
}

/* --- expiration of the timer ---------------------------------------------------------- */

/* Repeat a request that was not answered (@lost), or refused. */
static void repeat(struct weft_block *blk, bool lost, struct weft_outbox *outbox)
{
	struct weft_out out;

	blk->retry_at = blk->look_at = blk->backoff_at = 0;
	if (weft_line_idle(&blk->line) || weft_bound_silent(blk))
		return;
	weft_block_ask_again(blk, &out);
	if (lost && out.n) {
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_RETRANSMISSIONS);
		weft_flight_lost(blk);
		if (blk->losses < 255)
			blk->losses++;
		if (blk->losses == SUSPECT_LOSSES)
			weft_event_unanswered(blk->cache->node, blk->region->id,
					      weft_line_index(blk->line.key) <<
					      blk->region->block_shift, blk->losses);
	}
	blk->resending = lost;
	weft_block_carry_out(blk, &out, NULL, outbox);
	blk->resending = false;
}

/* The answer takes longer than usual: lost, if younger requests have been answered. */
static void look(struct weft_block *blk, struct weft_outbox *outbox)
{
	if (weft_flight_overtaken(blk))
		repeat(blk, true, outbox);
	else
		weft_block_look_later(blk);
}

static void time_is_up(struct weft_block *blk, struct weft_outbox *outbox)
{
	u64 now = ktime_get_ns();

	if (blk->backoff_at && blk->backoff_at <= now)
		repeat(blk, false, outbox);
	else if (blk->retry_at && blk->retry_at <= now)
		repeat(blk, true, outbox);
	else if (blk->look_at && blk->look_at <= now)
		look(blk, outbox);
	if (blk->bound.patience && blk->bound.patience <= now)
		weft_bound_broken(blk);
}

static enum hrtimer_restart timer_fire(struct hrtimer *timer)
{
	struct weft_block *blk = container_of(timer, struct weft_block, timer);
	struct weft_outbox outbox;

	weft_outbox_init(&outbox, blk->cache->node);
	weft_block_begin(blk);
	if (hrtimer_is_queued(timer)) {
		/* armed again before this took the lock: the reference belongs to that */
		spin_unlock_bh(&blk->lock);
		return HRTIMER_NORESTART;
	}
	blk->armed = false;
	if (blk->phase == WEFT_BLOCK_LIVE)
		time_is_up(blk, &outbox);
	weft_block_end(blk, &outbox);
	weft_outbox_send(&outbox);
	weft_block_put(blk);
	return HRTIMER_NORESTART;
}

void weft_step_stop(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->waiting = false;
	weft_bound_forget(blk);
	/* timer_fire(), if it runs, sees DEAD and puts its reference */
	if (blk->armed && hrtimer_try_to_cancel(&blk->timer) == 1) {
		blk->armed = false;
		weft_block_put(blk);
	}
}

void weft_step_init(struct weft_block *blk)
{
	weft_hrtimer_setup(&blk->timer, timer_fire, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	INIT_WORK(&blk->take, take_work);
}
