// SPDX-License-Identifier: GPL-2.0-only
/* Datagrams that leave, see datagram.h. */
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/sock.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include "base/compat.h"
#include "base/stats.h"
#include "net/datagram.h"
#include "net/node.h"
#include "net/peer.h"

#define HEADROOM	(LL_MAX_HEADER + sizeof(struct iphdr) + \
			 sizeof(struct udphdr))
#define TTL		64
#define TTL_GROUP	1

struct udp_cb {
	u32 to;
};

struct sk_buff *weft_udp_alloc(const struct weft_node *node, u32 to, u32 len)
{
	struct sk_buff *skb = alloc_skb(HEADROOM + len, GFP_ATOMIC);

	if (!skb) {
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_NO_MEMORY);
		return NULL;
	}
	skb_reserve(skb, HEADROOM);
	skb_put(skb, len);
	((struct udp_cb *)skb->cb)->to = to;
	return skb;
}

static void send_one(struct weft_node *node, struct sock *sk, struct sk_buff *skb)
{
	u32 to = ((struct udp_cb *)skb->cb)->to;
	__be16 port = htons(WEFT_WIRE_UDP_PORT);
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
	memset(skb->cb, 0, sizeof(struct udp_cb));
	weft_tunnel_xmit(rt, sk, skb, saddr, daddr,
			 to == WEFT_PEER_GROUP ? TTL_GROUP : TTL, htons(IP_DF), port);
}

void weft_udp_send(struct weft_node *node, struct sk_buff_head *queue)
{
	struct sk_buff *skb;
	struct socket *sock;

	if (skb_queue_empty(queue))
		return;
	local_bh_disable();
	rcu_read_lock();
	/* pairs with the synchronize_net() of weft_port_close() */
	sock = rcu_dereference(node->socket);
	while ((skb = __skb_dequeue(queue))) {
		if (sock)
			send_one(node, sock->sk, skb);
		else
			kfree_skb(skb);
	}
	rcu_read_unlock();
	local_bh_enable();
}
