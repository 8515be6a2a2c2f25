// SPDX-License-Identifier: GPL-2.0-only
/* What comes from a blade's twin, see twin.h. */
#include <linux/slab.h>

#include "core/call.h"
#include "net/node.h"
#include "net/peer.h"
#include "net/rpc.h"
#include "net/twin.h"

/* An error says nothing of views, and nothing is believed but that it is one. */
static bool answers(struct weft_node *node, const struct weft_msg *msg,
		    const struct weft_call *call)
{
	if (msg->type != WEFT_MSG_REPLY || !weft_rpc_asked_twin(node, msg))
		return false;
	return call->err || call->op == WEFT_CALL_LEAVE ||
	       weft_peer_moves(&node->peers, msg->src, call->list, call->list_len);
}

bool weft_twin_counts(struct weft_node *node, const struct weft_msg *msg)
{
	struct weft_call *call;
	bool counts = false;

	if ((msg->type != WEFT_MSG_REPLY && msg->type != WEFT_MSG_CALL) || !msg->payload)
		return false;
	call = kmalloc(sizeof(*call), GFP_ATOMIC);
	if (call && !weft_call_read(call, msg))
		counts = (msg->type == WEFT_MSG_CALL && call->op == WEFT_CALL_TWIN) ||
			 answers(node, msg, call);
	kfree(call);
	return counts;
}
