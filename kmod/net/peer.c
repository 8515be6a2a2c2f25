// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses and routes of the members, and of the twins of blades: from the configuration, from
 * lists of the first blade, from blades that have moved.  Called by datagram.c (routes), recv.c
 * (senders) and rack/member.c.  Sends and waits for nothing.
 */
#include <linux/export.h>
#include <linux/inet.h>
#include <net/route.h>

#include "core/call.h"
#include "net/peer.h"
#include "net/place.h"

static void set_way(struct weft_peers *peers, struct weft_way *way, __be32 addr)
{
	lockdep_assert_held(&peers->lock);
	if (way->addr == addr)
		return;
	WRITE_ONCE(way->addr, addr);
	dst_cache_reset(&way->cache);
}

void weft_peer_configure(struct weft_peers *peers, const struct weft_config *cfg)
{
	struct weft_peer *peer = peers->peer;
	u32 id;

	spin_lock_bh(&peers->lock);
	peers->oif = cfg->ifindex;
	peers->addr = cfg->addr;
	peers->self = cfg->id;
	peers->homes = cfg->homes;
	for (id = 0; id < WEFT_PEERS_MAX; id++, peer++) {
		__be32 addr = 0, twin = 0;

		if (id == WEFT_PEER_GROUP) {
			addr = cfg->group;
		} else if (weft_is_blade(id) && id - WEFT_BLADE_MIN < cfg->homes) {
			addr = cfg->home[id - WEFT_BLADE_MIN];
			twin = cfg->twin[id - WEFT_BLADE_MIN];
		}
		set_way(peers, &peer->at, addr);
		set_way(peers, &peer->twin, twin);
		WRITE_ONCE(peer->view, 0);
		/* routes by another interface are void */
		dst_cache_reset(&peer->at.cache);
		dst_cache_reset(&peer->twin.cache);
	}
	spin_unlock_bh(&peers->lock);
}

/* --- blades that move --------------------------------------------------------------- */

/* Is @view newer than @known?  0 is no view, and views wrap. */
static bool is_newer(u32 view, u32 known)
{
	return view && (!known || (s32)(view - known) > 0);
}

/* The view whose lower 16 bits a list says. */
static u32 whole_view(u32 known, u16 said)
{
	s16 ahead = (s16)(said - (u16)known);

	return known && said ? known + ahead : said;
}

/* Return: as weft_peer_move(). */
static int move(struct weft_peers *peers, u32 blade, __be32 addr, u32 view)
{
	struct weft_peer *peer = &peers->peer[blade];
	__be32 from = peer->at.addr;
	bool newer = is_newer(view, peer->view);

	lockdep_assert_held(&peers->lock);
	if (addr != from && (!newer || addr != peer->twin.addr))
		return -ESTALE;
	if (newer)
		WRITE_ONCE(peer->view, view);
	if (addr == from)
		return 0;
	set_way(peers, &peer->at, addr);
	set_way(peers, &peer->twin, from);
	return 1;
}

int weft_peer_move(struct weft_peers *peers, u32 blade, __be32 addr, u32 view)
{
	int ret;

	spin_lock_bh(&peers->lock);
	ret = move(peers, blade, addr, view);
	spin_unlock_bh(&peers->lock);
	return ret;
}

bool weft_peer_moves(const struct weft_peers *peers, u32 blade, const u8 *list, u32 len)
{
	u32 known = weft_peer_view(peers, blade), at;
	__be32 twin = weft_peer_twin(peers, blade);

	for (at = 0; twin && at + WEFT_PEER_LEN <= len; at += WEFT_PEER_LEN) {
		u32 view = whole_view(known, get_unaligned_be16(list + at + 2));

		if (list[at] == blade && list[at + 1] == WEFT_PEER_MEMBER &&
		    cpu_to_be32(get_unaligned_be32(list + at + 4)) == twin)
			return is_newer(view, known);
	}
	return false;
}

/* --- lists of members --------------------------------------------------------------------- */

/*
 * A blade that the configuration does not name is where the first blade says; one with a twin
 * changes places with that (move()).
 */
static void learn_added(struct weft_peers *peers, const u8 *entry, __be32 addr)
{
	struct weft_peer *peer = &peers->peer[entry[0]];

	if (entry[0] - WEFT_BLADE_MIN < peers->homes || entry[1] != WEFT_PEER_MEMBER)
		return;
	if (!peer->at.addr || (!peer->twin.addr && !peer->view))
		set_way(peers, &peer->at, addr);
}

/* Take over an entry of a list about a blade.  Return: whether the blade has moved. */
static bool learn_blade(struct weft_peers *peers, const u8 *entry, __be32 addr)
{
	struct weft_peer *peer = &peers->peer[entry[0]];

	learn_added(peers, entry, addr);
	if (!peer->at.addr)
		return false;
	if (entry[1] == WEFT_PEER_MEMBER)
		return move(peers, entry[0], addr,
			    whole_view(peer->view, get_unaligned_be16(entry + 2))) > 0;
	/* the configuration is older than the blade's twin */
	if (entry[1] == WEFT_PEER_TWIN && !peer->twin.addr && addr != peer->at.addr)
		set_way(peers, &peer->twin, addr);
	return false;
}

u32 weft_peer_learn(struct weft_peers *peers, const u8 *list, u32 len)
{
	u32 at, id, listed = 0, moved = 0;

	spin_lock_bh(&peers->lock);
	for (at = 0; at + WEFT_PEER_LEN <= len; at += WEFT_PEER_LEN) {
		__be32 addr = cpu_to_be32(get_unaligned_be32(list + at + 4));

		id = list[at];
		if (weft_is_blade(id) && learn_blade(peers, list + at, addr))
			moved |= 1u << (id - WEFT_BLADE_MIN);
		if (!weft_node_bit(id) || id == peers->self)
			continue;
		set_way(peers, &peers->peer[id].at, addr);
		listed |= weft_node_bit(id);
	}
	/* a node that has left does not hold its port: any program there may send from it */
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		if (!(listed & weft_node_bit(id)))
			set_way(peers, &peers->peer[id].at, 0);
	spin_unlock_bh(&peers->lock);
	return moved;
}

/* --- addresses, senders, routes ----------------------------------------------------------- */

__be32 weft_peer_addr(const struct weft_peers *peers, u32 id)
{
	return id < WEFT_PEERS_MAX ? READ_ONCE(peers->peer[id].at.addr) : 0;
}
EXPORT_SYMBOL_GPL(weft_peer_addr);

__be32 weft_peer_twin(const struct weft_peers *peers, u32 id)
{
	return weft_is_blade(id) ? READ_ONCE(peers->peer[id].twin.addr) : 0;
}

u32 weft_peer_view(const struct weft_peers *peers, u32 id)
{
	return weft_is_blade(id) ? READ_ONCE(peers->peer[id].view) : 0;
}

/* Message types that a directory makes. */
static bool from_directory(u8 type)
{
	return (type >= WEFT_MSG_INV && type < WEFT_MSG_DATA) || type == WEFT_MSG_HAND_ACK;
}

/* Is any member, or any twin of one, at this address, which is not 0? */
static bool is_address(const struct weft_peers *peers, bool of_twin, __be32 from)
{
	const struct weft_peer *peer;
	u32 id;

	for (id = WEFT_NODE_MIN; id < WEFT_PEERS_MAX; id++) {
		peer = &peers->peer[id];
		if (READ_ONCE(*(of_twin ? &peer->twin.addr : &peer->at.addr)) == from)
			return true;
	}
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
	if (weft_peer_twin(peers, msg->src) == from)
		return WEFT_SENDER_TWIN;
	if (!from_directory(msg->type))
		return addr ? WEFT_SENDER_FORGED : WEFT_SENDER_STRANGER;
	if (msg->type == WEFT_MSG_COUNT_ACK &&
	    from == cpu_to_be32(weft_switch_addr(be32_to_cpu(peers->addr))))
		return WEFT_SENDER_FITS;
	/* nearly always; the switch leaves @src as it came */
	if (weft_peer_addr(peers, weft_place_home(peers->places, msg->line)) == from)
		return WEFT_SENDER_FITS;
	if (is_address(peers, false, from))
		return WEFT_SENDER_FITS;
	return is_address(peers, true, from) ? WEFT_SENDER_TWIN : WEFT_SENDER_STRANGER;
}

/* Where messages to @id go; NULL: there is no such member. */
static struct weft_way *way_to(struct weft_peers *peers, u32 id)
{
	if (id < WEFT_PEERS_MAX)
		return &peers->peer[id].at;
	if (id >= WEFT_PEER_STANDBY(WEFT_BLADE_MIN) && id <= WEFT_PEER_STANDBY(WEFT_BLADE_MAX))
		return &peers->peer[id - WEFT_BLADES].twin;
	return NULL;
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
	struct weft_way *way = way_to(peers, id);
	struct rtable *rt;

	*daddr = way ? READ_ONCE(way->addr) : 0;
	if (!*daddr)
		return ERR_PTR(-ENXIO);
	rt = dst_cache_get_ip4(&way->cache, saddr);
	if (rt)
		return rt;
	fl.daddr = *daddr;
	rt = ip_route_output_flow(sock_net(sk), &fl, sk);
	if (IS_ERR(rt))
		return rt;
	*saddr = fl.saddr;
	dst_cache_set_ip4(&way->cache, &rt->dst, fl.saddr);
	return rt;
}

static int init_peer(struct weft_peer *peer, u32 id)
{
	int err = dst_cache_init(&peer->at.cache, GFP_KERNEL);

	if (!err && weft_is_blade(id))
		err = dst_cache_init(&peer->twin.cache, GFP_KERNEL);
	return err;
}

int weft_peer_init(struct weft_peers *peers, const struct weft_places *places)
{
	u32 id;
	int err;

	spin_lock_init(&peers->lock);
	peers->places = places;
	for (id = 0; id < WEFT_PEERS_MAX; id++) {
		err = init_peer(&peers->peer[id], id);
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

	/* also of a cache that is not initialised */
	for (id = 0; id < WEFT_PEERS_MAX; id++) {
		dst_cache_destroy(&peers->peer[id].at.cache);
		dst_cache_destroy(&peers->peer[id].twin.cache);
	}
}
