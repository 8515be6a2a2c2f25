// SPDX-License-Identifier: GPL-2.0-only
/* Landings and deeds of messages, see deed.h. */
#include <linux/export.h>
#include <linux/skbuff.h>

#include "net/deed.h"
#include "net/node.h"
#include "net/outbox.h"

bool weft_landing_of(const struct weft_outgoing *request, struct weft_landing *landing)
{
	return weft_landing_unpack(landing, &request->msg);
}
EXPORT_SYMBOL_GPL(weft_landing_of);

bool weft_deed_of(const struct weft_node *node, const struct sk_buff *skb,
		  struct weft_msg *landed, struct weft_deed *deed)
{
	if (weft_wire_unpack(landed, skb->data, skb->len, &node->key) ||
	    landed->type != WEFT_MSG_LANDED || !weft_is_blade(landed->src))
		return false;
	return weft_deed_unpack(deed, landed);
}
EXPORT_SYMBOL_GPL(weft_deed_of);
