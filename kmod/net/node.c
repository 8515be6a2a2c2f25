// SPDX-License-Identifier: GPL-2.0-only
/* This node as the lower layers see it, see node.h. */
#include <linux/jiffies.h>

#include "base/hist.h"
#include "net/node.h"

int weft_node_init(struct weft_node *node, const struct weft_receivers *receivers,
		   void (*refresh)(struct weft_node *node))
{
	int err = weft_counters_init(&node->counters);

	if (err)
		return err;
	err = weft_seqs_init(&node->seqs);
	if (err)
		goto no_seqs;
	err = weft_rtt_init(&node->rtts);
	if (err)
		goto no_rtts;
	weft_places_init(&node->places);
	err = weft_peer_init(&node->peers, &node->places);
	if (err)
		goto no_peers;
	weft_refused_init(&node->refused);
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
	weft_seqs_exit(&node->seqs);
no_seqs:
	weft_counters_exit(&node->counters);
	return err;
}

void weft_node_exit(struct weft_node *node)
{
	weft_peer_exit(&node->peers);
	weft_places_exit(&node->places);
	weft_rtt_exit(&node->rtts);
	weft_seqs_exit(&node->seqs);
	weft_counters_exit(&node->counters);
}

u32 weft_node_members(const struct weft_node *node, u64 since)
{
	/* pairs with the heartbeat: the answer to this question, or a newer one */
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
