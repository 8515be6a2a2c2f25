// SPDX-License-Identifier: GPL-2.0-only
/* Addresses of the rack's members, see peer.h. */
#include <linux/export.h>
#include <linux/inet.h>
#include <linux/mutex.h>
#include <net/route.h>

#include "core/directory.h"
#include "net/peer.h"

#define PEER_ENTRY_LEN	8	/* u8 id, u8 0, u16 0, u32 addr */

static void set_addr(struct weft_peers *peers, u32 id, __be32 addr)
{
	lockdep_assert_held(&peers->lock);
	if (peers->peer[id].addr == addr)
		return;
	WRITE_ONCE(peers->peer[id].addr, addr);
	dst_cache_reset(&peers->peer[id].cache);
}

void weft_peer_configure(struct weft_peers *peers, const struct weft_config *cfg)
{
	u32 id;

	mutex_lock(&peers->lock);
	peers->oif = cfg->ifindex;
	peers->addr = cfg->addr;
	peers->self = cfg->id;
	peers->homes = cfg->homes;
	for (id = 0; id < WEFT_PEERS_MAX; id++) {
		__be32 addr = 0;

		if (id == WEFT_PEER_GROUP)
			addr = cfg->group;
		else if (weft_is_blade(id) && id - WEFT_BLADE_MIN < cfg->homes)
			addr = cfg->home[id - WEFT_BLADE_MIN];
		set_addr(peers, id, addr);
		dst_cache_reset(&peers->peer[id].cache); /* another interface */
	}
	mutex_unlock(&peers->lock);
}

void weft_peer_learn(struct weft_peers *peers, const u8 *list, u32 len)
{
	u32 at, id, listed = 0;

	mutex_lock(&peers->lock);
	for (at = 0; at + PEER_ENTRY_LEN <= len; at += PEER_ENTRY_LEN) {
		u32 id = list[at];
		__be32 addr = cpu_to_be32(get_unaligned_be32(list + at + 4));

		/* the configuration says where the homes are */
		if (!weft_node_bit(id) || id == peers->self || !addr ||
		    ipv4_is_multicast(addr) || ipv4_is_lbcast(addr))
			continue;
		set_addr(peers, id, addr);
		listed |= weft_node_bit(id);
	}
	/* who has left does not hold the port any more: any program there may have it */
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		if (!(listed & weft_node_bit(id)))
			set_addr(peers, id, 0);
	mutex_unlock(&peers->lock);
}

__be32 weft_peer_addr(const struct weft_peers *peers, u32 id)
{
	return id < WEFT_PEERS_MAX ? READ_ONCE(peers->peer[id].addr) : 0;
}
EXPORT_SYMBOL_GPL(weft_peer_addr);

/* Types that a directory makes. */
static bool from_directory(u8 type)
{
	return (type >= WEFT_MSG_INV && type < WEFT_MSG_DATA) || type == WEFT_MSG_HAND_ACK;
}

static bool is_member(const struct weft_peers *peers, __be32 from)
{
	u32 id;

	for (id = WEFT_NODE_MIN; id < WEFT_PEERS_MAX; id++)
		if (READ_ONCE(peers->peer[id].addr) == from)
			return true;
	return false;
}

enum weft_peer_sender weft_peer_sender(const struct weft_peers *peers,
				       const struct weft_msg *msg, __be32 from)
{
	__be32 addr = weft_peer_addr(peers, msg->src);

	if (!from)
		return WEFT_SENDER_STRANGER;
	if (addr == from)
		return WEFT_SENDER_FITS;
	if (!from_directory(msg->type))
		return addr ? WEFT_SENDER_FORGED : WEFT_SENDER_STRANGER;
	if (msg->type == WEFT_MSG_COUNT_ACK &&
	    from == cpu_to_be32(weft_switch_addr(be32_to_cpu(peers->addr))))
		return WEFT_SENDER_FITS;
	/* nearly always; the switch leaves src as it came */
	if (weft_peer_addr(peers, WEFT_BLADE_MIN +
			   weft_line_home(msg->line, peers->homes)) == from)
		return WEFT_SENDER_FITS;
	return is_member(peers, from) ? WEFT_SENDER_FITS : WEFT_SENDER_STRANGER;
}

struct rtable *weft_peer_route(struct weft_peers *peers, u32 id, struct sock *sk,
			       __be32 *saddr, __be32 *daddr)
{
	struct flowi4 fl = {
		.flowi4_oif = peers->oif,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = peers->addr,
		.fl4_sport = htons(WEFT_WIRE_UDP_PORT),
		.fl4_dport = htons(WEFT_WIRE_UDP_PORT),
	};
	struct rtable *rt;

	if (id >= WEFT_PEERS_MAX)
		return ERR_PTR(-ENXIO);
	*daddr = READ_ONCE(peers->peer[id].addr);
	if (!*daddr)
		return ERR_PTR(-ENXIO);
	rt = dst_cache_get_ip4(&peers->peer[id].cache, saddr);
	if (rt)
		return rt;
	fl.daddr = *daddr;
	rt = ip_route_output_flow(sock_net(sk), &fl, sk);
	if (IS_ERR(rt))
		return rt;
	*saddr = fl.saddr;
	dst_cache_set_ip4(&peers->peer[id].cache, &rt->dst, fl.saddr);
	return rt;
}

int weft_peer_init(struct weft_peers *peers)
{
	u32 id;
	int err;

	mutex_init(&peers->lock);
	for (id = 0; id < WEFT_PEERS_MAX; id++) {
		weft_underway_init(&peers->peer[id].underway);
		weft_underway_init(&peers->peer[id].homeward);
		err = dst_cache_init(&peers->peer[id].cache, GFP_KERNEL);
		if (err) {
			weft_peer_exit(peers);
			return err;
		}
	}
	return 0;
}

void weft_peer_exit(struct weft_peers *peers)
{
	u32 id;

	for (id = 0; id < WEFT_PEERS_MAX; id++)
		dst_cache_destroy(&peers->peer[id].cache); /* fine if not initialised */
}
