// SPDX-License-Identifier: GPL-2.0-only
/* Messages for blocks, and the counting of misses that they end; see arrive.h. */
#include <linux/build_bug.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "base/stats.h"
#include "base/trace.h"
#include "blocks/arrive.h"
#include "blocks/bound.h"
#include "blocks/cache.h"
#include "blocks/effects.h"
#include "blocks/flight.h"
#include "blocks/region.h"
#include "blocks/step.h"
#include "core/controller.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/recv.h"
#include "net/rtt.h"
#include "net/transport.h"
#include "weft.h"

static_assert((int)WEFT_HIST_MISS_READ_UNSHARED == (int)WEFT_STAT_MISS_READ_UNSHARED &&
	      (int)WEFT_HIST_MISS_UPGRADE == (int)WEFT_STAT_MISS_UPGRADE &&
	      WEFT_STAT_MISS_UPGRADE - WEFT_STAT_MISS_READ_UNSHARED ==
	      WEFT_MISS_UPGRADE - WEFT_MISS_READ_UNSHARED,
	      "kinds of misses have a counter and a histogram each");

/* Who gave the permission that the message has brought. */
static enum weft_stat giver(const struct weft_block *blk, const struct weft_msg *msg)
{
	if (blk->line.dunned || (msg->type == WEFT_MSG_INV_ACK && !(msg->flags & WEFT_F_BUSY)))
		return WEFT_STAT_MISS_BY_READERS;
	return msg->flags & WEFT_F_SWITCH ? WEFT_STAT_MISS_BY_SWITCH : WEFT_STAT_MISS_BY_HOME;
}

/* The requested permission has come. */
static void count_miss(struct weft_block *blk, u32 miss, const struct weft_msg *msg)
{
	const struct weft_counters *counters = weft_block_counters(blk);
	u64 took = ktime_get_ns() - blk->began;
	enum weft_stat kind = WEFT_STAT_MISS_READ_UNSHARED + miss - WEFT_MISS_READ_UNSHARED;

	weft_stat_inc(counters, kind);
	weft_stat_inc(counters, giver(blk, msg));
	weft_stat_add(counters, WEFT_STAT_MISS_ROUND_TRIPS, blk->rounds);
	weft_stat_add(counters, WEFT_STAT_MISS_NSEC, took);
	weft_hist_add(counters, (enum weft_hist)kind, took);
	blk->misses++;
	trace_weft_served(&blk->line, kind, blk->rounds, took);
}

/* Does a message of this type answer a request for @op? */
static bool answers(u8 op, u8 type)
{
	switch (op) {
	case WEFT_OP_GETS:
		return type == WEFT_MSG_DATA || type == WEFT_MSG_LANDED ||
		       type == WEFT_MSG_PASSED || type == WEFT_MSG_NACK;
	case WEFT_OP_GETM:
		return type == WEFT_MSG_DATA || type == WEFT_MSG_LANDED ||
		       type == WEFT_MSG_PASSED || type == WEFT_MSG_INV_ACK ||
		       type == WEFT_MSG_GRANT || type == WEFT_MSG_NACK;
	case WEFT_OP_TAKE:
		return type == WEFT_MSG_INV_ACK || type == WEFT_MSG_GRANT || type == WEFT_MSG_NACK;
	case WEFT_OP_PUT:
		return type == WEFT_MSG_GRANT || type == WEFT_MSG_NACK;
	case WEFT_OP_CLEAN:
		return type == WEFT_MSG_WB_ACK;
	case WEFT_OP_COMMIT:
		return type == WEFT_MSG_COMMIT_ACK;
	default:
		return false;
	}
}

/* A second answer to a request that has been answered: the repetition was spurious. */
static void settle_doubt(struct weft_block *blk, const struct weft_msg *msg)
{
	if (msg->txn != blk->doubt_txn || !answers(blk->doubt_op, msg->type))
		return;
	weft_rtt_sample(&blk->cache->node->rtts, weft_block_rtt(blk, blk->doubt_op), blk->doubt);
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_NEEDLESS);
	weft_flight_needless(blk);
	blk->doubt = 0;
}

/* The last answer to the request for @op, of transaction @txn, has come: sample the round trip. */
static void note_time(struct weft_block *blk, u8 op, u32 txn)
{
	u64 took = ktime_get_ns() - blk->asked;

	if (blk->repeated < blk->asked) {
		weft_rtt_sample(&blk->cache->node->rtts, weft_block_rtt(blk, op), took);
		return;
	}
	blk->doubt = took;
	blk->doubt_txn = txn;
	blk->doubt_op = op;
}

/*
 * Contents come: set @lost if a fragment says WEFT_F_LOST and the policy refuses such contents.
 * Contents of an earlier transaction keep their mark until new ones come.
 */
static void note_lost(struct weft_block *blk, const struct weft_msg *msg)
{
	const u8 op = blk->line.op;
	bool lost = msg->flags & WEFT_F_LOST &&
		    READ_ONCE(blk->region->policy) & WEFT_POLICY_SIGBUS;

	if ((msg->type != WEFT_MSG_DATA && msg->type != WEFT_MSG_LANDED &&
	     msg->type != WEFT_MSG_PASSED) || msg->txn != blk->line.txn ||
	    (op != WEFT_OP_GETS && op != WEFT_OP_GETM) || blk->line.state != WEFT_I)
		return;
	/* PASSED comes by the switch, which uses the bit for something else */
	if (msg->type == WEFT_MSG_PASSED)
		lost = false;
	blk->lost = lost || (blk->lost && blk->lost_txn == msg->txn);
	blk->lost_txn = msg->txn;
}

static void recv_known(struct weft_block *blk, const struct weft_packet *packet,
		       struct weft_outbox *outbox)
{
	const struct weft_msg *msg = &packet->msg;
	u8 op = blk->line.op, state = blk->line.state, held = blk->line.held;
	bool asked = !blk->bound.expected, putting = blk->putting, passed;
	u32 txn = blk->line.txn;
	struct weft_out out;

	lockdep_assert_held(&blk->lock);
	if (msg->type == WEFT_MSG_LANDED && !weft_offer_landed(blk, packet))
		return;
	if (weft_step_deaf(blk, msg))
		return;
	if (blk->doubt)
		settle_doubt(blk, msg);
	note_lost(blk, msg);
	weft_line_recv(&blk->line, msg, weft_node_seq(blk->cache->node), &out);
	if (out.effects & WEFT_DO_AGAIN) {
		weft_offer_park(blk, packet);
		weft_offer_close(blk, outbox);
		return;
	}
	passed = weft_bound_recv(blk, msg, state);
	if (op != WEFT_OP_NONE && blk->line.op != op && asked)
		note_time(blk, op, txn);
	/* no program waits for this answer, so any copy of it is a sample */
	if (op == WEFT_OP_GETS && state != WEFT_I && blk->line.op != op)
		weft_rtt_sample(&blk->cache->node->rtts, WEFT_RTT_WRITTEN,
				ktime_get_ns() - blk->asked);
	if (weft_line_taken(&blk->line, msg) && held == WEFT_HELD_PINNED && !blk->line.held)
		weft_rtt_sample(&blk->cache->node->rtts, WEFT_RTT_SHARED,
				ktime_get_ns() - blk->heard);
	if (out.effects & WEFT_DO_BACKOFF)
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_NACKS);
	else if (out.effects & WEFT_DO_TIMER)
		blk->losses = 0;
	if (out.miss && !passed)
		count_miss(blk, out.miss, msg);
	if (blk->line.state == WEFT_M && state != WEFT_M) {
		blk->modified = false;
		/* the home lacks what the former owner wrote */
		blk->dirty = op != WEFT_OP_GETM || blk->line.status == WEFT_M;
	}
	if (out.effects & WEFT_DO_WAKE)
		blk->backoff_at = 0;
	weft_block_carry_out(blk, &out, packet, outbox);
	if (putting && !blk->putting)
		weft_cache_taken(blk);
}

/* A message for a line that this node does not have: the answer needs no memory. */
static void recv_unknown(struct weft_cache *cache, const struct weft_msg *msg,
			 struct weft_outbox *outbox)
{
	struct weft_line line;
	struct weft_out out;
	u32 i;

	weft_stat_inc(&cache->node->counters, WEFT_STAT_MSG_UNKNOWN_LINE);
	weft_line_init(&line, msg->line, cache->node->id);
	weft_line_recv(&line, msg, weft_node_seq(cache->node), &out);
	for (i = 0; i < out.n; i++) {
		struct weft_send *s = &out.send[i];

		if (!s->with_data)
			weft_offer_put_other(s->to ? s->to :
					     weft_node_home(cache->node, msg->line), s,
					     outbox);
	}
}

/* Hand in the messages that waited until the posted buffer was closed. */
static void recv_parked(struct weft_cache *cache, struct weft_parked *parked)
{
	struct weft_parked *next;

	for (; parked; parked = next) {
		next = parked->next;
		weft_block_recv(cache, &parked->packet);
		consume_skb(parked->packet.skb);
		kfree(parked);
	}
}

void weft_block_closed(struct weft_cache *cache, struct weft_posted *posted)
{
	struct weft_block *blk = weft_block_of_contents(posted->contents);
	struct weft_parked *parked;
	struct weft_outbox outbox;
	bool waited;

	weft_outbox_init(&outbox, cache->node);
	weft_block_begin(blk);
	waited = weft_offer_closed(blk, posted);
	parked = weft_offer_take_parked(blk);
	weft_block_end(blk, &outbox);
	weft_outbox_send(&outbox);
	recv_parked(cache, parked);
	if (waited)
		weft_posted_put(posted);
}

void weft_block_recv(struct weft_cache *cache, const struct weft_packet *packet)
{
	const struct weft_msg *msg = &packet->msg;
	struct weft_block *blk = NULL;
	struct weft_outbox outbox;
	struct weft_region *region;
	struct weft_parked *parked = NULL;
	bool known = false;

	if (weft_line_kind(msg->line) != WEFT_KIND_PAGE ||
	    weft_node_is_dead(cache->node, msg->src))
		return;
	weft_outbox_init(&outbox, cache->node);
	rcu_read_lock();
	region = weft_region_find(&cache->regions, weft_line_region(msg->line));
	if (region) {
		/* no block of this region */
		if ((weft_msg_has_data(msg->type) || msg->type == WEFT_MSG_LANDED) &&
		    msg->size != weft_region_block(region)) {
			rcu_read_unlock();
			weft_stat_inc(&cache->node->counters, WEFT_STAT_MSG_BAD);
			return;
		}
		blk = weft_block_find(region, weft_line_index(msg->line));
	}
	rcu_read_unlock();
	if (blk) {
		weft_block_begin(blk);
		known = blk->phase == WEFT_BLOCK_LIVE;
		if (known)
			recv_known(blk, packet, &outbox);
		parked = weft_offer_take_parked(blk);
		weft_block_end(blk, &outbox);
		weft_block_put(blk);
	}
	if (!known)
		recv_unknown(cache, msg, &outbox);
	weft_outbox_send(&outbox);
	/* LANDED has closed the posted buffer */
	recv_parked(cache, parked);
}
