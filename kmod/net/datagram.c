// SPDX-License-Identifier: GPL-2.0-only
/*
 * The UDP transport, which leads to all members: one socket for each network namespace, which
 * the racks of this machine share, each by an interface of its own.  Called by transport.c, and
 * by UDP for what comes.  Drops what does not come from a member's port by the interface of a
 * rack.
 */
#include <linux/igmp.h>
#include <linux/ip.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/sock.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include "base/compat.h"
#include "base/stats.h"
#include "core/flow.h"
#include "net/config.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/peer.h"
#include "net/recv.h"
#include "net/transport.h"

/* --- ports -------------------------------------------------------------------------------- */

/*
 * The sockets in a network namespace.
 *
 * Why one socket: two sockets cannot both hold the port on all interfaces; one for each
 * interface would leave the port on other interfaces to programs without privileges, which could
 * then send as members do.  The interface of a datagram says which rack it is of.  The ports
 * behind it, by which members send contents of blocks (core/flow.h), are held for the same
 * reason; nothing is sent to them.
 */
struct weft_port {
	struct list_head list;				/* in ports */
	struct net *net;	/* the namespace; the configuration of each node has a reference */
	struct socket *sock[WEFT_FLOWS];		/* by flow: the first one receives */
	struct weft_node __rcu *node[WEFT_RACKS_MAX];	/* written under ports_lock */
};

static DEFINE_MUTEX(ports_lock);	/* guards the list and all ports */
static LIST_HEAD(ports);

/* --- receiving --------------------------------------------------------------------- */

/*
 * The node that a datagram is for.  A machine that is a node of one rack twice may answer ARP
 * for both addresses on either interface, so the address decides, not the interface.
 */
static struct weft_node *addressee(const struct weft_port *port, struct weft_node *node,
				   __be32 to)
{
	struct weft_node *other;
	unsigned int i;

	for (i = 0; to != node->peers.addr && i < ARRAY_SIZE(port->node); i++) {
		other = rcu_dereference(port->node[i]);
		if (other && other->rack == node->rack && other->peers.addr == to)
			return other;
	}
	return node;
}

/*
 * The node whose interface a datagram came by; NULL: none, which all nodes count.
 *
 * By IPCB, as the route of a packet to this machine itself names the interface that the sender
 * meant (inet_iif()), and a VRF replaces skb->dev.
 */
static struct weft_node *node_of(const struct weft_port *port, const struct sk_buff *skb)
{
	struct weft_node *node;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(port->node); i++) {
		node = rcu_dereference(port->node[i]);
		if (node && node->ifindex == IPCB(skb)->iif)
			return addressee(port, node, ip_hdr(skb)->daddr);
	}
	for (i = 0; i < ARRAY_SIZE(port->node); i++) {
		node = rcu_dereference(port->node[i]);
		if (node)
			weft_stat_inc(&node->counters, WEFT_STAT_MSG_INTERFACE);
	}
	return NULL;
}

/* Type of the first message in a datagram; 0: it is too short. */
static u8 type_of(const struct sk_buff *skb)
{
	u8 room;
	const u8 *type = skb_header_pointer(skb, sizeof(struct udphdr) + WEFT_WIRE_TYPE_AT,
					    sizeof(room), &room);

	return type ? *type : 0;
}

/*
 * Could only root have sent this?  A program without privileges can send to the port by
 * loopback, by another interface, and to the group, which then returns as if it came in on the
 * rack's interface.  It cannot send from a member's ports: each member holds them on all
 * addresses.
 */
static bool way_fits(const struct weft_node *node, const struct sk_buff *skb)
{
	if (skb->pkt_type == PACKET_LOOPBACK) {
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_INTERFACE);
		return false;
	}
	if (!weft_flow_fits(type_of(skb), ntohs(udp_hdr(skb)->source), WEFT_WIRE_UDP_PORT)) {
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_PORT);
		return false;
	}
	return true;
}

static int encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	/* the socket is closed before the port is freed */
	const struct weft_port *port = rcu_dereference_sk_user_data(sk);
	struct weft_node *node = port ? node_of(port, skb) : NULL;
	u32 len;

	if (!node)
		goto drop;
	if (!pskb_may_pull(skb, sizeof(struct udphdr)))
		goto bad;
	if (!way_fits(node, skb))
		goto drop;
	len = ntohs(udp_hdr(skb)->len);
	if (len < sizeof(struct udphdr) || len > skb->len || pskb_trim(skb, len))
		goto bad;
	__skb_pull(skb, sizeof(struct udphdr));
	weft_recv(node, skb, ip_hdr(skb)->saddr, NULL);
	consume_skb(skb);
	return 0;
bad:
	weft_stat_inc(&node->counters, WEFT_STAT_MSG_BAD);
drop:
	kfree_skb(skb);
	return 0;
}

/* --- opening and closing ------------------------------------------------------------------ */

static int hear_nothing(struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
	return 0;
}

static int open_socket(struct weft_port *port, u32 flow)
{
	struct udp_port_cfg cfg = {
		.family = AF_INET,
		.local_ip.s_addr = htonl(INADDR_ANY), /* the multicast group, too */
		/* all interfaces: no program can have the port (way_fits()) */
		.local_udp_port = htons(WEFT_WIRE_UDP_PORT + flow),
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = port,
		.encap_type = 1,
		.encap_rcv = flow ? hear_nothing : encap_rcv,
	};
	struct socket *sock;
	int err = udp_sock_create(port->net, &cfg, &sock);

	if (err)
		return err;
	sock->sk->sk_allocation = GFP_ATOMIC;
	/* also keeps what this machine sends to the group from returning */
	setup_udp_tunnel_sock(port->net, weft_tunnel_sock(sock), &tunnel);
	port->sock[flow] = sock;
	return 0;
}

static void close_sockets(struct weft_port *port)
{
	u32 i;

	for (i = WEFT_FLOWS; i--; ) {
		if (port->sock[i])
			udp_tunnel_sock_release(weft_tunnel_sock(port->sock[i]));
	}
}

static int open_sockets(struct weft_port *port, struct netlink_ext_ack *extack)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < WEFT_FLOWS; i++)
		err = open_socket(port, i);
	if (err) {
		NL_SET_ERR_MSG(extack, "cannot open UDP ports 4793 to 4800: another program has one of them, as ss -ulnp says");
		close_sockets(port);
	}
	return err;
}

static struct weft_port *new_port(struct net *net, struct netlink_ext_ack *extack)
{
	struct weft_port *port = kzalloc(sizeof(*port), GFP_KERNEL);
	int err;

	if (!port)
		return ERR_PTR(-ENOMEM);
	port->net = net;
	err = open_sockets(port, extack);
	if (err) {
		kfree(port);
		return ERR_PTR(err);
	}
	list_add(&port->list, &ports);
	return port;
}

static struct weft_port *find_port(const struct net *net)
{
	struct weft_port *port;

	list_for_each_entry(port, &ports, list) {
		if (net_eq(port->net, net))
			return port;
	}
	return NULL;
}

static struct weft_node *node_at(const struct weft_port *port, unsigned int i)
{
	return rcu_dereference_protected(port->node[i], lockdep_is_held(&ports_lock));
}

/* Find a free entry for a node.  Return: its index; -EADDRINUSE, -ENOSPC. */
static int find_place(const struct weft_port *port, int ifindex, struct netlink_ext_ack *extack)
{
	int i, place = -ENOSPC;

	for (i = ARRAY_SIZE(port->node); i--; ) {
		if (!node_at(port, i)) {
			place = i;
		} else if (node_at(port, i)->ifindex == ifindex) {
			NL_SET_ERR_MSG(extack, "another rack of this machine uses the interface: give each rack one of its own, a VLAN or macvlan device will do");
			return -EADDRINUSE;
		}
	}
	return place;
}

/* Join or leave the multicast group by which the switch addresses a copyset. */
static int change_group(const struct weft_port *port, struct ip_mreqn group,
			int (*what)(struct sock *sk, struct ip_mreqn *group))
{
	int err;

	rtnl_lock();
	lock_sock(port->sock[0]->sk);
	err = what(port->sock[0]->sk, &group);
	release_sock(port->sock[0]->sk);
	rtnl_unlock();
	return err;
}

/* Close the port if no node uses it. */
static void put_port(struct weft_port *port)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(port->node); i++) {
		if (node_at(port, i))
			return;
	}
	list_del(&port->list);
	close_sockets(port);
	/* a receiver may still be in encap_rcv() */
	synchronize_net();
	kfree(port);
}

static int open_at(struct weft_port *port, struct weft_node *node,
		   const struct weft_config *cfg,
		   struct netlink_ext_ack *extack)
{
	int err, place = find_place(port, cfg->ifindex, extack);

	if (place < 0)
		return place;
	node->group = (struct ip_mreqn){
		.imr_multiaddr.s_addr = cfg->group, .imr_ifindex = cfg->ifindex,
	};
	err = change_group(port, node->group, ip_mc_join_group);
	if (err) {
		NL_SET_ERR_MSG(extack, "cannot join the multicast group of the switch on the interface: is it up, and does it do multicast?");
		return err;
	}
	rcu_assign_pointer(port->node[place], node);
	rcu_assign_pointer(node->socket, port->sock[0]);
	return 0;
}

/*
 * transport.open: receive and send for a node.  Joins the group of the switch.  Return: 0;
 * -EADDRINUSE: another program has the port, or another rack the interface; errors of the
 * network.
 * @extack: receives a sentence in case of an error
 */
static int udp_open(struct weft_node *node, const struct weft_config *cfg,
			  struct netlink_ext_ack *extack)
{
	struct weft_port *port;
	int err;

	mutex_lock(&ports_lock);
	port = find_port(cfg->net);
	if (!port)
		port = new_port(cfg->net, extack);
	err = PTR_ERR_OR_ZERO(port);
	if (!err) {
		err = open_at(port, node, cfg, extack);
		put_port(port);
	}
	mutex_unlock(&ports_lock);
	return err;
}

static void close_at(struct weft_port *port, unsigned int place)
{
	struct weft_node *node = node_at(port, place);

	RCU_INIT_POINTER(node->socket, NULL);
	RCU_INIT_POINTER(port->node[place], NULL);
	/* pairs with rcu_dereference() in encap_rcv() and send_all() */
	synchronize_net();
	/* fails if the interface is gone, and the membership with it */
	(void)change_group(port, node->group, ip_mc_leave_group);
	put_port(port);
}

/* transport.close: afterwards nothing is received for the node.  Sleeps. */
static void udp_close(struct weft_node *node)
{
	struct weft_port *port, *next;
	unsigned int i;

	mutex_lock(&ports_lock);
	list_for_each_entry_safe(port, next, &ports, list) {
		for (i = 0; i < ARRAY_SIZE(port->node); i++) {
			if (node_at(port, i) != node)
				continue;
			close_at(port, i);
			break;	/* the port may be gone */
		}
	}
	mutex_unlock(&ports_lock);
}

/* --- sending ------------------------------------------------------------------------------ */

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
	/* pairs with the synchronize_net() of udp_close() */
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
	.open = udp_open,
	.close = udp_close,
	.send = udp_send,
};
