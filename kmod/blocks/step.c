// SPDX-License-Identifier: GPL-2.0-only
/* What the protocol core decided, done; see step.h. */

#include "base/compat.h"
#include "base/event.h"
#include "base/hist.h"
#include "base/stats.h"
#include "base/trace.h"
#include "blocks/bound.h"
#include "blocks/cache.h"
#include "blocks/pages.h"
#include "blocks/region.h"
#include "blocks/step.h"
#include "core/controller.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/packet.h"
#include "net/rtt.h"

#define EARLY_MS	200	/* more patience while nobody waits */
#define SUSPECT_LOSSES	8	/* so many in a row are told: a second or more */

/* --- timers ------------------------------------------------------------------ */

/*
 * An armed timer has a reference.  @retry_armed and @soon_armed say that it is
 * armed, or that its function is about to run and to see this.
 */
static void arm_retry(struct weft_block *blk, unsigned long at)
{
	lockdep_assert_held(&blk->lock);
	blk->retry_at = at;
	if (!blk->retry_armed) {
		blk->retry_armed = true;
		refcount_inc(&blk->ref);
		mod_timer(&blk->retry, at);
	} else if (timer_pending(&blk->retry) &&
		   time_before(at, blk->retry.expires)) {
		mod_timer(&blk->retry, at);
	}
}

static void arm_soon(struct weft_block *blk)
{
	u64 at = U64_MAX;

	lockdep_assert_held(&blk->lock);
	if (blk->backoff_at)
		at = blk->backoff_at;
	if (blk->waiting)
		at = min(at, blk->keep);
	if (blk->bound.patience)
		at = min(at, blk->bound.patience);
	if (at == U64_MAX)
		return;
	if (!blk->soon_armed) {
		blk->soon_armed = true;
		refcount_inc(&blk->ref);
	}
	hrtimer_start(&blk->soon, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

static void arm(struct weft_block *blk, u32 effects)
{
	enum weft_rtt_what what = weft_step_rtt(blk, blk->line.op);
	unsigned long wait;

	if (weft_bound_silent(blk))
		return;
	if (effects & WEFT_DO_BACKOFF) {
		blk->backoff_at = ktime_get_ns() +
				 weft_rtt_backoff(&blk->cache->node->rtts, blk->line.nacks);
		arm_soon(blk);
	} else if (blk->line.op == WEFT_OP_NONE || blk->line.expecting) {
		arm_retry(blk, jiffies + weft_rtt_query(&blk->cache->node->rtts, blk->losses));
	} else {
		wait = weft_rtt_timeout(&blk->cache->node->rtts, what, blk->losses);
		/* the last of a batch takes many times as long as the first */
		if (what == WEFT_RTT_AHEAD && !blk->pins)
			wait += msecs_to_jiffies(EARLY_MS);
		arm_retry(blk, jiffies + wait);
	}
}

void weft_step_hurry(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (weft_step_rtt(blk, blk->line.op) == WEFT_RTT_AHEAD && blk->retry_armed)
		arm_retry(blk, jiffies + weft_rtt_timeout(&blk->cache->node->rtts,
							  WEFT_RTT_AHEAD, 0));
}

/* --- revocation -------------------------------------------------------------- */

static void carry_out(struct weft_block *blk, struct weft_out *out,
		      const struct weft_packet *packet,
		      struct weft_outbox *outbox);

static void queue_revoke(struct weft_block *blk)
{
	refcount_inc(&blk->ref);
	if (!queue_work(blk->cache->wq, &blk->revoke))
		weft_block_put(blk);
}

/* The programs have what revoking leaves them; all pages are locked. */
static void revoked(struct weft_block *blk, struct weft_outbox *outbox)
{
	enum weft_hist hist = blk->line.revoking == 2 ? WEFT_HIST_INVALIDATION :
						       WEFT_HIST_DOWNGRADE;
	/* what came while it was to be lent is not obeyed yet */
	bool asked = blk->line.rq.type && !blk->line.lending;
	struct weft_out out;

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
	weft_line_revoked(&blk->line, weft_node_seq(blk->cache->node), &out);
	trace_weft_revoked(&blk->line);
	carry_out(blk, &out, NULL, outbox);
	/* ... and may need more than that: when the pages are unlocked */
	if (blk->line.revoking)
		queue_revoke(blk);
	if (asked) {
		weft_hist_add(weft_block_counters(blk), hist, ktime_get_ns() - blk->heard);
		blk->revocations++;
	}
	if (blk->line.state != WEFT_M)
		blk->dirty = false;
	weft_pages_set_uptodate(blk);
	weft_bound_follow(blk, outbox);
}

/* The program that is about to write has not done so: it may yet, for so long again. */
static bool write_is_due(struct weft_block *blk, u64 now)
{
	u64 hold = (u64)READ_ONCE(blk->cache->node->hold_us) * NSEC_PER_USEC;

	if (blk->late <= now || weft_pages_word(blk, blk->watch) != blk->was)
		return false;
	blk->keep = min(blk->late, now + hold);
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_HELD_LONGER);
	return true;
}

static void begin_revoke(struct weft_block *blk, u64 now,
			 struct weft_outbox *outbox)
{
	if (blk->keep > now || write_is_due(blk, now)) {
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_HELD_BACK);
		blk->waiting = true;
		arm_soon(blk);
	} else if (weft_pages_trylock_unmapped(blk)) {
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_REVOKED_UNMAPPED);
		revoked(blk, outbox);
		weft_pages_unlock(blk);
	} else {
		queue_revoke(blk);
	}
}

/* May sleep. */
static void revoke_mapped(struct weft_block *blk)
{
	struct weft_outbox outbox;
	u8 mode;

	weft_outbox_init(&outbox, blk->cache->node);
	weft_pages_lock(blk);
	spin_lock_bh(&blk->lock);
	mode = blk->phase == WEFT_BLOCK_LIVE && !blk->waiting ?
	       blk->line.revoking : 0;
	spin_unlock_bh(&blk->lock);
	if (!mode)
		goto out;
	if (mode == 2)
		weft_pages_unmap(blk);
	else
		weft_pages_protect(blk);
	spin_lock_bh(&blk->lock);
	if (blk->line.revoking == mode) {
		if (weft_pages_device_writes(blk) &&
		    blk->pin_waits < WEFT_PIN_WAITS) {
			blk->pin_waits++;
			blk->keep = ktime_get_ns() + WEFT_PIN_WAIT_US * NSEC_PER_USEC;
			blk->waiting = true;
			arm_soon(blk);
		} else {
			weft_stat_inc(weft_block_counters(blk), WEFT_STAT_REVOKED_MAPPED);
			revoked(blk, &outbox);
		}
	}
	spin_unlock_bh(&blk->lock);
out:
	weft_pages_unlock(blk);
	weft_outbox_send(&outbox);
}

static void revoke_work(struct work_struct *work)
{
	struct weft_block *blk = container_of(work, struct weft_block, revoke);

	revoke_mapped(blk);
	weft_block_put(blk);
}

void weft_step_revoke_now(struct weft_block *blk)
{
	if (READ_ONCE(blk->phase) != WEFT_BLOCK_LIVE ||
	    !READ_ONCE(blk->line.revoking))
		return;
	/* it may be running: the page locks keep the two apart */
	if (cancel_work(&blk->revoke))
		weft_block_put(blk);
	revoke_mapped(blk);
}

void weft_step_keep(struct weft_block *blk, u64 keep)
{
	lockdep_assert_held(&blk->lock);
	blk->keep = keep;
	blk->late = 0;
	if (blk->waiting)
		arm_soon(blk);
}

/* --- effects ------------------------------------------------------------------ */

/* Requests of the transaction under way: @rounds, and when the last one went. */
static void count_sent(struct weft_block *blk, const struct weft_msg *msg)
{
	bool resending = blk->resending;

	switch (msg->type) {
	case WEFT_MSG_READ:
		if (msg->flags & WEFT_F_RELAY)
			return;
		fallthrough;
	case WEFT_MSG_GETS:
	case WEFT_MSG_GETM:
		if (blk->bound.expected)
			resending = false; /* the rest of what was passed on */
		weft_bound_asked(blk);
		if (!resending)
			blk->rounds++;
		break;
	case WEFT_MSG_WB:
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_WRITE_BACKS);
		break;
	case WEFT_MSG_PUT:
		if (blk->line.op == WEFT_OP_TAKE && !resending)
			blk->rounds++;
		break;
	case WEFT_MSG_INV:
		/* to those who were lent the line, which was to come by itself */
		weft_bound_asked(blk);
		break;
	case WEFT_MSG_COMMIT:
		break;
	case WEFT_MSG_CHASE:
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_CHASES);
		return;
	default:
		return;
	}
	if (resending)
		blk->repeated = ktime_get_ns();
	else
		blk->asked = ktime_get_ns();
}

static void send_all(struct weft_block *blk, struct weft_out *out,
		     struct weft_outbox *outbox)
{
	bool dunned = false;
	u32 i;

	for (i = 0; i < out->n; i++) {
		struct weft_send *s = &out->send[i];
		u32 to = s->to ? s->to : weft_node_home(blk->cache->node, blk->line.key);

		dunned |= s->msg.type == WEFT_MSG_INV;

		count_sent(blk, &s->msg);
		if (s->with_data)
			weft_outbox_put_block(outbox, to, &s->msg, weft_block_contents(blk),
					      weft_line_perm_yet(&blk->line) != WEFT_M);
		else
			weft_outbox_put(outbox, to, &s->msg);
	}
	/* all of them in one round trip */
	if (dunned && !blk->resending)
		blk->rounds++;
	if (dunned && !blk->dunned)
		blk->dunned = ktime_get_ns();
}

/*
 * The block is about to change, by what has come or by programs that may write to it from
 * now on: what messages that are not encoded yet were to carry is no longer there.  What
 * they carry of a block that programs may write to already is of any moment since.
 */
static void note_change(struct weft_block *blk, const struct weft_out *out)
{
	bool writable = weft_line_perm_yet(&blk->line) == WEFT_M;

	if (out->effects & WEFT_DO_INSTALL || (writable && !blk->writable))
		weft_contents_change(&blk->contents);
	blk->writable = writable;
}

static void carry_out(struct weft_block *blk, struct weft_out *out,
		      const struct weft_packet *packet,
		      struct weft_outbox *outbox)
{
	note_change(blk, out);
	if (out->effects & WEFT_DO_INSTALL && packet)
		weft_pages_install(blk, packet);
	send_all(blk, out, outbox);
	if (out->effects & WEFT_DO_FAIL) {
		WRITE_ONCE(blk->fails, blk->fails + 1);
		WRITE_ONCE(blk->nowhere, true);
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_MISS_FAILED);
	}
	if (out->effects & WEFT_DO_FREE) {
		/* who gives a block up has taken it away from the programs before */
		WARN_ON_ONCE(weft_pages_mapped(blk));
		blk->dirty = false;
		blk->free = true;
		weft_cache_move(blk);
	}
	if (out->effects & WEFT_DO_WAKE) {
		weft_pages_set_uptodate(blk);
		weft_block_wake(blk);
	}
	if (out->effects & WEFT_DO_TIMER)
		arm(blk, out->effects);
	if (blk->putting && weft_line_idle(&blk->line)) {
		weft_cache_put_ends(blk);
	}
}

void weft_step(struct weft_block *blk, struct weft_out *out,
	       const struct weft_packet *packet,
		      struct weft_outbox *outbox)
{
	lockdep_assert_held(&blk->lock);
	carry_out(blk, out, packet, outbox);
	/* only now: all that it sends comes after the above */
	if (out->effects & (WEFT_DO_PROTECT | WEFT_DO_REVOKE)) {
		blk->heard = ktime_get_ns();
		begin_revoke(blk, blk->heard, outbox);
	}
	weft_bound_follow(blk, outbox);
}

void weft_step_begin(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->began = ktime_get_ns();
	blk->upgrade = blk->line.state == WEFT_S;
	blk->rounds = 0;
	blk->dunned = 0;
	blk->losses = 0;
	blk->backoff_at = 0;
	blk->early = false;
	blk->guess = false;
	if (blk->free) {
		blk->free = false;
		weft_cache_move(blk);
	}
	trace_weft_begin(&blk->line);
}

/* Sends again; @lost: because no answer came, not because of a refusal. */
static void send_again(struct weft_block *blk, bool lost,
		       struct weft_outbox *outbox)
{
	struct weft_out out;

	trace_weft_retry(&blk->line);
	if (blk->line.dunned)
		weft_line_members(&blk->line, weft_node_members(blk->cache->node, blk->dunned));
	weft_line_timeout(&blk->line, &out);
	if (lost && out.n) {
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_RETRANSMISSIONS);
		if (blk->losses < 255)
			blk->losses++;
		if (blk->losses == SUSPECT_LOSSES)
			weft_event_unanswered(blk->cache->node, blk->region->id,
					      weft_line_index(blk->line.key) <<
					      blk->region->block_shift, blk->losses);
	}
	blk->resending = lost;
	weft_step(blk, &out, NULL, outbox);
	blk->resending = false;
}

void weft_step_again(struct weft_block *blk, struct weft_outbox *outbox)
{
	lockdep_assert_held(&blk->lock);
	send_again(blk, false, outbox);
}

void weft_step_soon(struct weft_block *blk)
{
	arm_soon(blk);
}

static void retry_fire(struct timer_list *timer)
{
	struct weft_block *blk = container_of(timer, struct weft_block, retry);
	struct weft_outbox outbox;

	weft_outbox_init(&outbox, blk->cache->node);
	spin_lock(&blk->lock);
	if (timer_pending(timer)) {
		/* armed again before we came here: the reference is its */
		spin_unlock(&blk->lock);
		return;
	}
	blk->retry_armed = false;
	if (blk->phase != WEFT_BLOCK_LIVE || weft_line_idle(&blk->line) ||
	    blk->backoff_at || weft_bound_silent(blk)) {
		/* answered meanwhile, or the other timer is in charge */
	} else if (time_before(jiffies, blk->retry_at)) {
		arm_retry(blk, blk->retry_at);
	} else {
		send_again(blk, true, &outbox);
	}
	spin_unlock(&blk->lock);
	weft_outbox_send(&outbox);
	weft_block_put(blk);
}

static enum hrtimer_restart soon_fire(struct hrtimer *timer)
{
	struct weft_block *blk = container_of(timer, struct weft_block, soon);
	struct weft_outbox outbox;
	u64 now = ktime_get_ns();

	weft_outbox_init(&outbox, blk->cache->node);
	spin_lock(&blk->lock);
	if (hrtimer_is_queued(timer)) {
		spin_unlock(&blk->lock);
		return HRTIMER_NORESTART;
	}
	blk->soon_armed = false;
	if (blk->phase == WEFT_BLOCK_LIVE) {
		if (blk->backoff_at && blk->backoff_at <= now) {
			blk->backoff_at = 0;
			send_again(blk, false, &outbox);
		}
		if (blk->waiting && blk->keep <= now) {
			blk->waiting = false;
			if (blk->line.revoking)
				begin_revoke(blk, now, &outbox);
		}
		if (blk->bound.patience && blk->bound.patience <= now) {
			weft_bound_urge(blk, &outbox);
			/* who waited for the same looks for itself */
			weft_block_wake(blk);
		}
		if (!blk->soon_armed)
			arm_soon(blk);
	}
	spin_unlock(&blk->lock);
	weft_outbox_send(&outbox);
	weft_block_put(blk);
	return HRTIMER_NORESTART;
}

void weft_step_stop(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->backoff_at = 0;
	blk->waiting = false;
	weft_bound_forget(blk);
	/* a function that is running sees DEAD and gives its reference back */
	if (blk->retry_armed && timer_delete(&blk->retry)) {
		blk->retry_armed = false;
		weft_block_put(blk);
	}
	if (blk->soon_armed && hrtimer_try_to_cancel(&blk->soon) == 1) {
		blk->soon_armed = false;
		weft_block_put(blk);
	}
}

void weft_step_init(struct weft_block *blk)
{
	timer_setup(&blk->retry, retry_fire, 0);
	weft_hrtimer_setup(&blk->soon, soon_fire, CLOCK_MONOTONIC,
			   HRTIMER_MODE_ABS_SOFT);
	INIT_WORK(&blk->revoke, revoke_work);
}
