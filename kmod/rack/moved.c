// SPDX-License-Identifier: GPL-2.0-only
/* A memory blade whose twin has taken over, see moved.h. */
#include "base/event.h"
#include "base/stats.h"
#include "core/call.h"
#include "net/node.h"
#include "net/peer.h"
#include "net/rpc.h"
#include "net/transport.h"
#include "rack/member.h"
#include "rack/moved.h"

static void tell_one(struct weft_member *m, u32 blade)
{
	struct weft_node *node = m->node;
	__be32 addr = weft_peer_addr(&node->peers, blade);
	__be32 twin = weft_peer_twin(&node->peers, blade);

	pr_notice("weft: memory blade %u goes on at %pI4: its twin there has taken over from %pI4\n",
		  blade - WEFT_BLADE_MIN + 1, &addr, &twin);
	weft_stat_inc(&node->counters, WEFT_STAT_BLADES_MOVED);
	weft_event_moved(node, blade, addr);
	weft_plug_moved(node, blade);
	weft_rpc_moved(node, blade);
}

void weft_moved_tell(struct weft_member *m, u32 blades)
{
	u32 blade;

	for (blade = WEFT_BLADE_MIN; blades; blade++, blades >>= 1)
		if (blades & 1)
			tell_one(m, blade);
	m->above->moved(m);
}

void weft_moved_recv(struct weft_member *m, const struct weft_msg *msg, struct weft_call *call)
{
	int ret;

	if (call->node != msg->src)
		return;
	ret = weft_peer_move(&m->node->peers, msg->src, cpu_to_be32(call->addr), call->life);
	if (ret < 0)
		return;
	call->err = 0;
	weft_rpc_reply(m->node, msg->src, msg->txn, msg->nonce, call, GFP_ATOMIC);
	if (ret)
		weft_moved_tell(m, 1u << (msg->src - WEFT_BLADE_MIN));
}
