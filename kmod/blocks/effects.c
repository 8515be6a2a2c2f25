// SPDX-License-Identifier: GPL-2.0-only
/* Contents, messages, landings and waiters of one event, see effects.h. */
#include <linux/slab.h>

#include "base/stats.h"
#include "base/trace.h"
#include "blocks/bound.h"
#include "blocks/cache.h"
#include "blocks/effects.h"
#include "blocks/flight.h"
#include "blocks/pages.h"
#include "core/controller.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/rtt.h"
#include "net/transport.h"

#define EARLY_MS	200	/* added to the time-out while no thread waits */
#define LOOK_MIN_NS	(2 * NSEC_PER_MSEC)	/* no request counts as overtaken before */
#define LOOK_LOSSES	3	/* no such look after so many losses: something else is wrong */

/* --- when an answer is due ------------------------------------------------------- */

static u64 after(unsigned long ticks)
{
	return ktime_get_ns() + jiffies_to_nsecs(ticks);
}

void weft_block_look_later(struct weft_block *blk)
{
	u64 usual = weft_rtt_usual(&blk->cache->node->rtts, WEFT_RTT_AHEAD);

	lockdep_assert_held(&blk->lock);
	blk->look_at = blk->losses < LOOK_LOSSES ?
		       ktime_get_ns() + max_t(u64, usual, LOOK_MIN_NS) : 0;
}

/* Set @retry_at, @backoff_at and @look_at for what was sent. */
static void expect_answer(struct weft_block *blk, u32 effects)
{
	const struct weft_rtts *rtts = &blk->cache->node->rtts;
	enum weft_rtt_what what = weft_block_rtt(blk, blk->line.op);
	bool here = blk->line.op == WEFT_OP_GETS && blk->line.state != WEFT_I;
	unsigned long wait;

	if (weft_bound_silent(blk))
		return;
	blk->look_at = 0;
	if (effects & WEFT_DO_BACKOFF) {
		blk->backoff_at = ktime_get_ns() + weft_rtt_backoff(rtts, blk->line.nacks);
		blk->retry_at = 0;
	} else if (blk->backoff_at) {
		/* the repetition of the refused request sets the timer */
	} else if (blk->line.op == WEFT_OP_NONE || blk->line.expecting) {
		blk->retry_at = after(weft_rtt_query(rtts, blk->line.held == WEFT_HELD_PINNED,
						     blk->losses));
	} else {
		/* readers have the block already; the home may have many others to write */
		wait = weft_rtt_timeout(rtts, here ? WEFT_RTT_WRITTEN : what, blk->losses);
		/* the last of a batch takes many times as long as the first one */
		if (here || (what == WEFT_RTT_AHEAD && !blk->pins))
			wait += msecs_to_jiffies(EARLY_MS);
		blk->retry_at = after(wait);
		if (what == WEFT_RTT_AHEAD && blk->flying)
			weft_block_look_later(blk);
	}
}

void weft_block_hurry(struct weft_block *blk)
{
	u64 at;

	lockdep_assert_held(&blk->lock);
	if (!blk->retry_at || weft_block_rtt(blk, blk->line.op) != WEFT_RTT_AHEAD)
		return;
	at = after(weft_rtt_timeout(&blk->cache->node->rtts, WEFT_RTT_AHEAD, 0));
	blk->retry_at = min(blk->retry_at, at);
}

/* --- landings ------------------------------------------------------------------------ */

/* A READ of the transaction that opened the landing offers it again. */
static bool goes_on(const struct weft_block *blk, const struct weft_msg *msg)
{
	return blk->line.landing && blk->offer.posted && !blk->offer.closing &&
	       msg->type == WEFT_MSG_READ && msg->txn == blk->line.txn;
}

static struct weft_posted *make_posted(struct weft_block *blk, const struct weft_msg *msg)
{
	struct weft_node *node = blk->cache->node;
	struct weft_contents *contents;
	struct weft_posted *posted;

	if (blk->offer.posted || !weft_line_may_land(&blk->line, msg))
		return NULL;
	contents = weft_block_contents(blk);
	posted = weft_transport_post(node, weft_node_home(node, blk->line.key), blk->line.key,
				     contents);
	if (!posted) {
		contents->put(contents);
		return NULL;
	}
	weft_stat_inc(&node->counters, WEFT_STAT_LANDINGS_OFFERED);
	weft_line_landing_open(&blk->line);
	blk->offer.posted = posted;
	return posted;
}

static void put(u32 to, const struct weft_msg *from, const struct weft_landing *landing,
		struct weft_posted *posted, struct weft_outbox *outbox)
{
	u8 payload[WEFT_LANDING_LEN];
	struct weft_msg msg = *from;

	if (landing->key) {
		weft_landing_pack(landing, payload);
		msg.payload = payload;
		msg.len = WEFT_LANDING_LEN;
	}
	/* a READ into such a buffer is the direct read itself */
	if (posted && posted->direct && msg.type != WEFT_MSG_READ)
		msg.flags |= WEFT_F_DIRECT;
	weft_outbox_put_offer(outbox, to, &msg, posted);
}

/* Put down a message without data, with a landing if it may offer one. */
static void put_offer(struct weft_block *blk, u32 to, const struct weft_send *s,
		      struct weft_outbox *outbox)
{
	const struct weft_landing *landing = &s->landing;
	struct weft_posted *posted = NULL;

	lockdep_assert_held(&blk->lock);
	if (!landing->key) {
		posted = make_posted(blk, &s->msg);
		if (posted || goes_on(blk, &s->msg))
			landing = &blk->offer.posted->landing;
	}
	put(to, &s->msg, landing, posted, outbox);
}

void weft_offer_put_other(u32 to, const struct weft_send *s, struct weft_outbox *outbox)
{
	put(to, &s->msg, &s->landing, NULL, outbox);
}

void weft_offer_close(struct weft_block *blk, struct weft_outbox *outbox)
{
	lockdep_assert_held(&blk->lock);
	if (!blk->offer.posted || blk->offer.closing)
		return;
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LANDINGS_CLOSED);
	blk->offer.closing = true;
	weft_outbox_close(outbox, blk->offer.posted);
}

void weft_offer_park(struct weft_block *blk, const struct weft_packet *packet)
{
	struct weft_parked *parked = NULL;

	lockdep_assert_held(&blk->lock);
	if (blk->offer.n < WEFT_PARKED_MAX)
		parked = kmalloc(sizeof(*parked), GFP_ATOMIC);
	if (!parked) {
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_MSG_NO_MEMORY);
		return;
	}
	parked->packet = *packet;
	skb_get(packet->skb);
	parked->next = blk->offer.parked;
	blk->offer.parked = parked;
	blk->offer.n++;
}

bool weft_offer_landed(struct weft_block *blk, const struct weft_packet *packet)
{
	lockdep_assert_held(&blk->lock);
	if (!packet->posted || packet->posted != blk->offer.posted)
		return false;
	blk->offer.posted = NULL;
	blk->offer.closing = false;
	weft_posted_put(packet->posted);
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_BLOCKS_LANDED);
	return true;
}

bool weft_offer_closed(struct weft_block *blk, const struct weft_posted *posted)
{
	lockdep_assert_held(&blk->lock);
	if (blk->offer.posted != posted)
		return false;
	blk->offer.posted = NULL;
	blk->offer.closing = false;
	weft_line_landing_closed(&blk->line);
	return true;
}

struct weft_parked *weft_offer_take_parked(struct weft_block *blk)
{
	struct weft_parked *parked = blk->offer.parked, *first = NULL, *next;

	lockdep_assert_held(&blk->lock);
	if (blk->offer.posted)
		return NULL;
	blk->offer.parked = NULL;
	blk->offer.n = 0;
	for (; parked; parked = next) {
		next = parked->next;
		parked->next = first;
		first = parked;
	}
	return first;
}

/* --- messages ---------------------------------------------------------------------- */

/* Note when a request of the transaction went, and count it in @rounds. */
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
			resending = false; /* the first request for a block that was expected */
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
		/* to readers that the line is lent to: the block no longer comes unasked */
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

static void send_all(struct weft_block *blk, struct weft_out *out, struct weft_outbox *outbox)
{
	bool dunned = false;
	u32 i;

	for (i = 0; i < out->n; i++) {
		struct weft_send *s = &out->send[i];
		u32 to = s->to ? s->to : weft_node_home(blk->cache->node, blk->line.key);

		dunned |= s->msg.type == WEFT_MSG_INV;
		if (blk->lost && s->msg.type == WEFT_MSG_DATA)
			s->msg.flags |= WEFT_F_LOST;

		count_sent(blk, &s->msg);
		if (s->with_data)
			weft_outbox_put_block(outbox, to, &s->msg, weft_block_contents(blk),
					      &s->landing,
					      weft_line_perm_yet(&blk->line) != WEFT_M);
		else
			put_offer(blk, to, s, outbox);
	}
	/* one round trip for all INVs */
	if (dunned && !blk->resending)
		blk->rounds++;
	if (dunned && !blk->dunned)
		blk->dunned = ktime_get_ns();
}

/* --- contents, permission, waiters --------------------------------------------------- */

/*
 * Raise the generation if the block is about to change, by contents that have come or by programs
 * that may write from now on: messages that are not encoded yet are dropped (weft_contents).
 * While programs may write, a message carries the block as it is at any moment.
 */
static void note_change(struct weft_block *blk, const struct weft_out *out)
{
	bool writable = weft_line_perm_yet(&blk->line) == WEFT_M;

	if (out->effects & WEFT_DO_INSTALL || (writable && !blk->writable))
		weft_contents_change(&blk->contents);
	blk->writable = writable;
}

static enum weft_came how_it_came(const struct weft_block *blk, u32 miss)
{
	if (blk->guess && blk->line.state == WEFT_M)
		return WEFT_CAME_GUESSED;
	if (blk->line.state == WEFT_S)
		return WEFT_CAME_READ;
	return miss == WEFT_MISS_UPGRADE ? WEFT_CAME_UPGRADE : WEFT_CAME_WRITE;
}

/* Permission has come, by request or with a lock. */
static void served(struct weft_block *blk, u32 miss)
{
	weft_migratory_came(&blk->migratory, how_it_came(blk, miss));
	if (blk->migratory.guessed)
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_GUESSED);
	WRITE_ONCE(blk->nowhere, false);
	if (blk->line.in_frags)
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_BLOCKS_IN);
	if (blk->want <= blk->line.state)
		blk->want = WEFT_I;
	/* the minimum stay, for threads that wait */
	blk->fresh = blk->pins > 0;
	if (blk->lost) {
		blk->fresh = false;
		WRITE_ONCE(blk->denials, blk->denials + 1);
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LOST_DENIED);
	}
	blk->late = 0;
	blk->keep = blk->fresh ? ktime_get_ns() + WEFT_GRACE_US * NSEC_PER_USEC : 0;
}

void weft_block_carry_out(struct weft_block *blk, struct weft_out *out,
			  const struct weft_packet *packet, struct weft_outbox *outbox)
{
	lockdep_assert_held(&blk->lock);
	weft_flight_follow(blk);
	if (out->miss)
		served(blk, out->miss);
	note_change(blk, out);
	if (out->effects & WEFT_DO_INSTALL && packet)
		weft_pages_install(blk, packet);
	send_all(blk, out, outbox);
	if (out->effects & WEFT_DO_CLOSE)
		weft_offer_close(blk, outbox);
	if (out->effects & (WEFT_DO_PROTECT | WEFT_DO_REVOKE))
		blk->heard = ktime_get_ns();
	if (out->effects & WEFT_DO_FAIL) {
		WRITE_ONCE(blk->fails, blk->fails + 1);
		WRITE_ONCE(blk->nowhere, true);
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_MISS_FAILED);
	}
	if (out->effects & WEFT_DO_FREE) {
		/* programs lose a block before it is given up */
		WARN_ON_ONCE(weft_pages_mapped(blk));
		blk->dirty = false;
		blk->modified = false;
		blk->free = true;
		weft_cache_move(blk);
	}
	if (out->effects & WEFT_DO_WAKE) {
		weft_pages_set_uptodate(blk);
		weft_block_wake(blk);
	}
	if (out->effects & WEFT_DO_TIMER)
		expect_answer(blk, out->effects);
	if (blk->putting && weft_line_idle(&blk->line))
		weft_cache_put_ends(blk);
}

void weft_block_asks(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->began = ktime_get_ns();
	blk->rounds = 0;
	blk->dunned = 0;
	blk->losses = 0;
	blk->backoff_at = 0;
	blk->retry_at = 0;
	blk->look_at = 0;
	blk->early = false;
	blk->guess = false;
	if (blk->free) {
		blk->free = false;
		weft_cache_move(blk);
	}
	trace_weft_begin(&blk->line);
}

void weft_block_ask_again(struct weft_block *blk, struct weft_out *out)
{
	lockdep_assert_held(&blk->lock);
	trace_weft_retry(&blk->line);
	if (blk->line.dunned)
		weft_line_members(&blk->line, weft_node_members(blk->cache->node, blk->dunned));
	weft_line_timeout(&blk->line, out);
}
