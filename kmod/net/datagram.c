// SPDX-License-Identifier: GPL-2.0-only
/* The UDP transport, see datagram.h. */
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/sock.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include "base/compat.h"
#include "base/stats.h"
#include "core/flow.h"
#include "net/datagram.h"
#include "net/encode.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/peer.h"
#include "net/port.h"

#define TTL		64
#define TTL_GROUP	1

static void send_one(struct weft_node *node, struct sock *sk, u32 to, u32 flow,
		     struct sk_buff *skb)
{
	__be32 saddr, daddr;
	struct rtable *rt;
	u32 len = skb->len;

	rt = weft_peer_route(&node->peers, to, sk, &saddr, &daddr);
	if (IS_ERR(rt)) {
		if (rt == ERR_PTR(-ENXIO)) {
			weft_stat_inc(&node->counters, WEFT_STAT_MSG_UNKNOWN_PEER);
			node->refresh(node);
		} else {
			weft_stat_inc(&node->counters, WEFT_STAT_MSG_NO_ROUTE);
		}
		kfree_skb(skb);
		return;
	}
	weft_stat_inc(&node->counters, WEFT_STAT_MSG_SENT);
	weft_stat_add(&node->counters, WEFT_STAT_MSG_SENT_BYTES, len);
	weft_tunnel_xmit(rt, sk, skb, saddr, daddr,
			 to == WEFT_PEER_GROUP ? TTL_GROUP : TTL, htons(IP_DF),
			 htons(WEFT_WIRE_UDP_PORT + flow), htons(WEFT_WIRE_UDP_PORT));
}

static void send_all(struct weft_node *node, u32 to, u32 flow, struct sk_buff_head *queue)
{
	struct socket *sock;
	struct sk_buff *skb;

	local_bh_disable();
	rcu_read_lock();
	/* pairs with the synchronize_net() of weft_port_close() */
	sock = rcu_dereference(node->socket);
	while ((skb = __skb_dequeue(queue))) {
		if (sock)
			send_one(node, sock->sk, to, flow, skb);
		else
			kfree_skb(skb);
	}
	rcu_read_unlock();
	local_bh_enable();
}

static bool udp_send(struct weft_node *node, const struct weft_outgoing *out)
{
	struct sk_buff_head queue;

	__skb_queue_head_init(&queue);
	weft_encode(node, out, &queue);
	send_all(node, out->to, weft_flow(out->msg.type, out->msg.line), &queue);
	return true;
}

const struct weft_transport weft_udp = {
	.name = "udp",
	.open = weft_port_open,
	.close = weft_port_close,
	.send = udp_send,
};
