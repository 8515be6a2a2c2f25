// SPDX-License-Identifier: GPL-2.0-only
/* The UDP transport, see datagram.h. */
#include <linux/igmp.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
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

/*
 * Could anybody but root have sent this here?  A program without privileges can send to
 * the port by loopback, by another interface, and to the group, which then comes back to
 * us as if it had come in on the rack's interface.  It cannot send from the port: we hold
 * that on all addresses, as each member does.
 *
 * The interface is that of IPCB: the route of what is sent to this machine itself says
 * which one the sender wanted (inet_iif()), and a VRF puts itself in the place of skb->dev.
 */
static bool way_fits(const struct weft_node *node, const struct sk_buff *skb)
{
	if (IPCB(skb)->iif != node->ifindex || skb->pkt_type == PACKET_LOOPBACK) {
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_INTERFACE);
		return false;
	}
	if (udp_hdr(skb)->source != htons(WEFT_WIRE_UDP_PORT)) {
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_PORT);
		return false;
	}
	return true;
}

static int encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	/* of the socket, which is closed before the node goes */
	struct weft_node *node = rcu_dereference_sk_user_data(sk);
	u32 len;

	if (!node) {
		kfree_skb(skb);
		return 0;
	}
	if (!pskb_may_pull(skb, sizeof(struct udphdr)))
		goto bad;
	if (!way_fits(node, skb)) {
		kfree_skb(skb);
		return 0;
	}
	len = ntohs(udp_hdr(skb)->len);
	if (len < sizeof(struct udphdr) || len > skb->len ||
	    pskb_trim(skb, len))
		goto bad;
	__skb_pull(skb, sizeof(struct udphdr));
	node->receive(node, skb);
	consume_skb(skb);
	return 0;
bad:
	weft_stat_inc(&node->counters, WEFT_STAT_MSG_BAD);
	kfree_skb(skb);
	return 0;
}

/* The switch sends to this group what it addresses by copyset. */
static int join_group(struct sock *sk, const struct weft_config *cfg)
{
	struct ip_mreqn mreq = {
		.imr_multiaddr.s_addr = cfg->group,
		.imr_ifindex = cfg->ifindex,
	};
	int err;

	rtnl_lock();
	lock_sock(sk);
	err = ip_mc_join_group(sk, &mreq);
	release_sock(sk);
	rtnl_unlock();
	return err;
}

int weft_udp_open(struct weft_node *node, const struct weft_config *cfg,
		  void (*receive)(struct weft_node *node, struct sk_buff *skb),
		  struct netlink_ext_ack *extack)
{
	struct udp_port_cfg port = {
		.family = AF_INET,
		.local_ip.s_addr = htonl(INADDR_ANY), /* the group as well */
		/* and all interfaces, so that nobody else has the port: way_fits() */
		.local_udp_port = htons(WEFT_WIRE_UDP_PORT),
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = node,
		.encap_type = 1,
		.encap_rcv = encap_rcv,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(cfg->net, &port, &sock);
	if (err) {
		NL_SET_ERR_MSG(extack, "cannot open UDP port 4793: another program has it, as ss -ulnp says");
		return err;
	}
	node->receive = receive;
	sock->sk->sk_allocation = GFP_ATOMIC;
	/* this also keeps what we send to the group from coming back to us */
	setup_udp_tunnel_sock(cfg->net, weft_tunnel_sock(sock), &tunnel);
	err = join_group(sock->sk, cfg);
	if (err) {
		NL_SET_ERR_MSG(extack, "cannot join the multicast group of the switch on the interface: is it up, and does it do multicast?");
		udp_tunnel_sock_release(weft_tunnel_sock(sock));
		return err;
	}
	rcu_assign_pointer(node->socket, sock);
	return 0;
}

void weft_udp_close(struct weft_node *node)
{
	struct socket *sock = rcu_dereference_protected(node->socket, true);

	if (!sock)
		return;
	RCU_INIT_POINTER(node->socket, NULL);
	/* pairs with rcu_dereference() in weft_udp_send() */
	synchronize_rcu();
	udp_tunnel_sock_release(weft_tunnel_sock(sock));
	/* a receiver may still be in encap_rcv() */
	synchronize_net();
}

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
	/* pairs with the synchronize_rcu() of weft_udp_close() */
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
