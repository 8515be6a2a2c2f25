// SPDX-License-Identifier: GPL-2.0-only
/*
 * This node: the clock of its rack, the last refused message, numbers of transactions and calls,
 * set-up.  Called by all layers.  Knows nothing of membership but what rack/member.c writes.
 */
#include <linux/atomic.h>
#include <linux/bottom_half.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/preempt.h>
#include <linux/random.h>

#include "base/stats.h"
#include "net/node.h"

/* --- clock of the rack -------------------------------------------------------------------- */

static u32 own_ticks(void)
{
	return (u32)div_u64(ktime_get_coarse_ns(), NSEC_PER_SEC / WEFT_TICK_HZ);
}

struct weft_stamp weft_clock_read(const struct weft_clock *clock)
{
	u64 at = (u64)atomic64_read(&clock->at);

	return (struct weft_stamp){
		.epoch = (u32)(at >> 32),
		.tick = (u32)at + own_ticks(),
	};
}

void weft_clock_set(struct weft_clock *clock, struct weft_stamp stamp)
{
	u32 ahead = stamp.tick - own_ticks();

	atomic64_set(&clock->at, (s64)((u64)stamp.epoch << 32 | ahead));
}

void weft_clock_forget(struct weft_clock *clock)
{
	atomic64_set(&clock->at, 0);
}

/* --- the last refused message ------------------------------------------------------------- */

void weft_refused_note(struct weft_last_refused *last, unsigned int stat, __be32 from)
{
	spin_lock_bh(&last->lock);
	last->stat = stat;
	last->from = from;
	last->when = ktime_get_coarse();
	spin_unlock_bh(&last->lock);
}

void weft_refused_last(struct weft_last_refused *last, struct weft_refused *r)
{
	spin_lock_bh(&last->lock);
	r->stat = last->stat;
	r->from = last->from;
	r->msecs = (u64)ktime_ms_delta(ktime_get_coarse(), last->when);
	spin_unlock_bh(&last->lock);
}

void weft_refused_forget(struct weft_last_refused *last)
{
	spin_lock_bh(&last->lock);
	last->stat = WEFT_STAT_COUNT;
	spin_unlock_bh(&last->lock);
}

/* --- numbers of transactions and calls ----------------------------------------------------- */

u32 weft_node_seq(struct weft_node *node)
{
	struct weft_seqs *seqs = &node->seqs;
	struct weft_seq_range *r = this_cpu_ptr(seqs->ranges);

	WARN_ON_ONCE(!in_softirq());
	if (!weft_seq_usable(r, (u64)atomic64_read(&seqs->given)))
		weft_seq_refill(r, (u64)atomic64_fetch_add(WEFT_SEQ_RANGE, &seqs->given));
	return (u32)r->next++;
}

u32 weft_node_call_seq(struct weft_node *node)
{
	return (u32)atomic64_fetch_inc(&node->seqs.given);
}

/* --- the node ------------------------------------------------------------------------------ */

int weft_node_init(struct weft_node *node, const struct weft_receivers *receivers,
		   void (*refresh)(struct weft_node *node))
{
	int err = weft_counters_init(&node->counters);

	if (err)
		return err;
	err = -ENOMEM;
	node->seqs.ranges = alloc_percpu(struct weft_seq_range);
	if (!node->seqs.ranges)
		goto no_seqs;
	err = weft_rtt_init(&node->rtts);
	if (err)
		goto no_rtts;
	weft_places_init(&node->places);
	err = weft_peer_init(&node->peers, &node->places);
	if (err)
		goto no_peers;
	/* begin anywhere: messages of the node's former life may still be under way */
	atomic64_set(&node->seqs.given, get_random_u32());
	spin_lock_init(&node->refused.lock);
	node->refused.stat = WEFT_STAT_COUNT;
	INIT_LIST_HEAD(&node->calls);
	spin_lock_init(&node->calls_lock);
	node->hurried = jiffies;
	node->above = receivers;
	node->refresh = refresh;
	return 0;

no_peers:
	weft_places_exit(&node->places);
	weft_rtt_exit(&node->rtts);
no_rtts:
	free_percpu(node->seqs.ranges);
no_seqs:
	weft_counters_exit(&node->counters);
	return err;
}

void weft_node_exit(struct weft_node *node)
{
	weft_peer_exit(&node->peers);
	weft_places_exit(&node->places);
	weft_rtt_exit(&node->rtts);
	free_percpu(node->seqs.ranges);
	weft_counters_exit(&node->counters);
}

u32 weft_node_members(const struct weft_node *node, u64 since)
{
	/*
	 * pairs with the heartbeat of rack/member.c: members of this question's answer, or newer
	 * ones
	 */
	if (smp_load_acquire(&node->members_asked) <= since)
		return ~0u;
	return READ_ONCE(node->members);
}

bool weft_node_cut_off(const struct weft_node *node)
{
	return READ_ONCE(node->failures) >= WEFT_HEARTBEAT_FAILURES &&
	       time_after(jiffies, READ_ONCE(node->answered) +
			  msecs_to_jiffies(READ_ONCE(node->timeout_ms)));
}
