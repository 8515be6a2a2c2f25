// SPDX-License-Identifier: GPL-2.0-only
/* This node as the lower layers see it, see node.h. */
#include <linux/jiffies.h>

#include "net/node.h"

struct weft_node weft_node;

u32 weft_node_members(u64 since)
{
	/* pairs with the heartbeat: the answer to this question, or a newer one */
	if (smp_load_acquire(&weft_node.members_asked) <= since)
		return ~0u;
	return READ_ONCE(weft_node.members);
}

bool weft_node_cut_off(void)
{
	return READ_ONCE(weft_node.failures) >= WEFT_HEARTBEAT_FAILURES &&
	       time_after(jiffies, READ_ONCE(weft_node.answered) +
			  msecs_to_jiffies(READ_ONCE(weft_node.timeout_ms)));
}
