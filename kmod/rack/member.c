// SPDX-License-Identifier: GPL-2.0-only
/* Membership in a rack, see member.h. */
#include <linux/inetdevice.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include "base/event.h"
#include "base/stats.h"
#include "core/call.h"
#include "net/node.h"
#include "net/peer.h"
#include "net/rpc.h"
#include "net/transport.h"
#include "rack/member.h"

/* --- a blade whose twin has taken over ----------------------------------------------------- */

static void tell_one(struct weft_member *m, u32 blade)
{
	struct weft_node *node = m->node;
	__be32 addr = weft_peer_addr(&node->peers, blade);
	__be32 twin = weft_peer_twin(&node->peers, blade);

	pr_notice("weft: memory blade %u goes on at %pI4: its twin there has taken over from %pI4\n",
		  blade - WEFT_BLADE_MIN + 1, &addr, &twin);
	weft_stat_inc(&node->counters, WEFT_STAT_BLADES_MOVED);
	weft_event_moved(node, blade, addr);
	weft_transport_moved(node, blade);
	weft_rpc_moved(node, blade);
}

/* Tell log, listeners and layers of @blades, bit 0: the first one, whose twins took over. */
static void weft_moved_tell(struct weft_member *m, u32 blades)
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

/* --- membership ---------------------------------------------------------------------------- */

#define HEARTBEAT_MS		1000
#define HEARTBEAT_MIN_MS	50
#define HEARTBEATS		6	/* in a lease, at least */
#define REFRESH_MS		100	/* between heartbeats of weft_member_refresh() */
#define JOIN_TIMEOUT_MS		5000	/* for one JOIN or LEAVE */
#define JOIN_AGAIN_MS		100	/* until a JOIN that was answered EAGAIN is repeated */
#define UDP_OVERHEAD		(20 + 8)

static void tell(struct weft_member *m, enum weft_node_event_type type, u32 members)
{
	const struct weft_node_event event = {
		.node = m->node, .members = members, .blade = WEFT_BLADE_MIN,
	};

	weft_node_event(type, &event);
}

/* --- configuration -------------------------------------------------------- */

/*
 * The netlink family has checked each attribute by itself (control/netlink.c); the twin of a blade
 * must also be another machine than all blades.
 */
static int check_twins(const struct weft_config *cfg, struct netlink_ext_ack *extack)
{
	u32 i, j;

	for (i = 0; i < cfg->homes; i++)
		for (j = 0; j < cfg->homes; j++)
			if (cfg->twin[i] && cfg->twin[i] == cfg->home[j]) {
				NL_SET_ERR_MSG(extack, "two memory blades have the same address");
				return -EINVAL;
			}
	return 0;
}

/* Take name, address and MTU from the interface, where the configuration does not give them. */
static int ask_interface(struct weft_config *cfg, struct netlink_ext_ack *extack)
{
	struct net_device *dev;
	struct in_device *in_dev;
	const struct in_ifaddr *ifa;
	__be32 addr = 0;
	u32 mtu;

	dev = dev_get_by_index(cfg->net, cfg->ifindex);
	if (!dev) {
		NL_SET_ERR_MSG(extack, "there is no such interface");
		return -ENODEV;
	}
	strscpy(cfg->ifname, dev->name, sizeof(cfg->ifname));
	mtu = READ_ONCE(dev->mtu);
	cfg->gathers = dev->features & NETIF_F_SG;
	rcu_read_lock();
	in_dev = __in_dev_get_rcu(dev);
	if (in_dev) {
		in_dev_for_each_ifa_rcu(ifa, in_dev) {
			if (cfg->addr && cfg->addr != ifa->ifa_local)
				continue;
			addr = ifa->ifa_local;
			break;
		}
	}
	rcu_read_unlock();
	dev_put(dev);

	if (!addr) {
		if (cfg->addr)
			NL_SET_ERR_MSG(extack, "the interface does not have this address");
		else
			NL_SET_ERR_MSG(extack, "the interface has no IPv4 address: give it one first");
		return -EADDRNOTAVAIL;
	}
	cfg->addr = addr;
	if (mtu < WEFT_MTU_MIN) {
		NL_SET_ERR_MSG(extack, "the interface's MTU is less than "
			       __stringify(WEFT_MTU_MIN) ": raise it with 'ip link set'");
		return -EINVAL;
	}
	if (cfg->mtu > mtu) {
		NL_SET_ERR_MSG(extack, "the MTU is greater than the interface's");
		return -EINVAL;
	}
	if (!cfg->mtu)
		cfg->mtu = min_t(u32, mtu, WEFT_MTU_MAX);
	return 0;
}

/* Fill in defaults, and name, address and MTU of the interface, if @cfg can be used. */
static int fill_in(struct weft_config *cfg, struct netlink_ext_ack *extack)
{
	int err;

	if (!cfg->timeout_ms)
		cfg->timeout_ms = WEFT_TIMEOUT_MS_DEFAULT;
	if (!cfg->hold_set)
		cfg->hold_us = WEFT_HOLD_US_DEFAULT;
	if (!cfg->group)
		cfg->group = htonl(WEFT_WIRE_GROUP);
	err = check_twins(cfg, extack);
	return err ? err : ask_interface(cfg, extack);
}

static void publish(struct weft_member *m, struct weft_config *cfg)
{
	m->node->id = (u8)cfg->id;
	/* no member in this life yet, see weft_recv() */
	m->node->members = 0;
	weft_places_begin(&m->node->places, cfg->homes);
	if (cfg->key_set)
		weft_key_init(&m->node->key, cfg->key);
	/* weft_node.key is the only copy */
	memzero_explicit(cfg->key, sizeof(cfg->key));
	weft_clock_forget(&m->node->clock);
	weft_refused_forget(&m->node->refused);
	m->node->ifindex = cfg->ifindex;
	m->node->rack = cfg->rack;
	m->node->gathers = cfg->gathers;
	m->node->fragment = weft_wire_fragment(cfg->mtu - UDP_OVERHEAD, &m->node->key);
	m->node->timeout_ms = cfg->timeout_ms;
	m->node->hold_us = cfg->hold_us;
	weft_peer_configure(&m->node->peers, cfg);
}

static int node_up(struct weft_member *m, struct weft_config *cfg,
		   struct netlink_ext_ack *extack)
{
	int err;

	lockdep_assert_held(&m->lock);
	if (m->node->up) {
		NL_SET_ERR_MSG(extack, "the node is up already: take it down first");
		return -EBUSY;
	}
	err = fill_in(cfg, extack);
	if (err)
		return err;
	/* before the transports open: nothing is sent or received yet */
	publish(m, cfg);
	err = weft_transport_open(m->node, cfg, extack);
	if (err) {
		memzero_explicit(&m->node->key, sizeof(m->node->key));
		return err;
	}
	get_net(cfg->net);
	m->config = *cfg;
	do {
		m->life = get_random_u32();
	} while (!m->life);
	m->node->up = true;
	return 0;
}

int weft_member_up(struct weft_member *m, const struct weft_config *cfg,
		   struct netlink_ext_ack *extack)
{
	struct weft_config c = *cfg;
	int err;

	mutex_lock(&m->lock);
	err = node_up(m, &c, extack);
	mutex_unlock(&m->lock);
	memzero_explicit(c.key, sizeof(c.key));
	if (!err && !c.key_set)
		pr_info("weft: this rack has no key: who can send as one of its machines can change everything in it; weft-memd --make-key makes one\n");
	if (!err)
		tell(m, WEFT_EVENT_UP, 0);
	return err;
}

int weft_member_down(struct weft_member *m, struct netlink_ext_ack *extack)
{
	struct net *net;

	mutex_lock(&m->lock);
	if (!m->node->up) {
		mutex_unlock(&m->lock);
		NL_SET_ERR_MSG(extack, "the node is not up");
		return -ENOTCONN;
	}
	if (m->mounts) {
		mutex_unlock(&m->lock);
		NL_SET_ERR_MSG(extack, "a weft file system is mounted: unmount it first");
		return -EBUSY;
	}
	m->node->up = false;
	weft_transport_close(m->node);
	memzero_explicit(&m->node->key, sizeof(m->node->key));
	net = m->config.net;
	m->config.net = NULL;
	mutex_unlock(&m->lock);
	put_net(net);
	tell(m, WEFT_EVENT_DOWN, 0);
	return 0;
}

int weft_member_config(struct weft_member *m, struct weft_config *cfg)
{
	int err = -ENOTCONN;

	mutex_lock(&m->lock);
	if (m->node->up) {
		*cfg = m->config;
		err = 0;
	}
	mutex_unlock(&m->lock);
	return err;
}

int weft_member_tune(struct weft_member *m, u32 timeout_ms, int hold_us,
		     struct netlink_ext_ack *extack)
{
	int err = -ENOTCONN;

	mutex_lock(&m->lock);
	if (!m->node->up) {
		NL_SET_ERR_MSG(extack, "the node is not up");
		goto out;
	}
	/* nothing else: while mounted the rest of the configuration is read without the lock */
	if (timeout_ms) {
		m->config.timeout_ms = timeout_ms;
		WRITE_ONCE(m->node->timeout_ms, timeout_ms);
	}
	if (hold_us >= 0) {
		m->config.hold_us = (u32)hold_us;
		WRITE_ONCE(m->node->hold_us, (u32)hold_us);
	}
	err = 0;
out:
	mutex_unlock(&m->lock);
	return err;
}

/* --- membership ------------------------------------------------------------ */

static void tell_dead(struct weft_member *m, u32 id)
{
	__be32 addr = weft_peer_addr(&m->node->peers, id);

	pr_notice("weft: node %u (%pI4) is dead, says the first memory blade: nothing is taken from it until it has joined anew\n", id, &addr);
	weft_stat_inc(&m->node->counters, WEFT_STAT_NODES_DEAD);
	weft_event_dead(m->node, id);
}

bool weft_member_fence(struct weft_member *m, u32 dead)
{
	u32 id, found;

	if (!READ_ONCE(m->joined))
		return false;
	spin_lock(&m->dead_lock);
	m->fenced = ktime_get_ns();
	dead &= ~weft_node_bit(m->node->id);
	found = dead & ~m->node->dead;
	WRITE_ONCE(m->node->dead, m->node->dead | dead);
	spin_unlock(&m->dead_lock);
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		if (found & weft_node_bit(id))
			tell_dead(m, id);
	return true;
}

/*
 * Forget dead nodes that the first blade has removed from the rack: they may join again.  An
 * answer to a heartbeat that was sent before the last FENCE does not know of it.
 */
static void take_dead(struct weft_member *m, u32 dead, u64 asked)
{
	spin_lock(&m->dead_lock);
	if (asked > m->fenced)
		WRITE_ONCE(m->node->dead, m->node->dead & dead);
	spin_unlock(&m->dead_lock);
}

static void take_members(struct weft_member *m, const struct weft_call *reply, u64 asked)
{
	bool changed = m->node->members != reply->members;
	u32 moved = weft_peer_learn(&m->node->peers, reply->list, reply->list_len);

	if (moved)
		weft_moved_tell(m, moved);
	WRITE_ONCE(m->node->members, reply->members);
	take_dead(m, reply->members & reply->valid, asked);
	WRITE_ONCE(m->lease_ms, (u32)min_t(u64, reply->used, U32_MAX));
	if (changed)
		tell(m, WEFT_EVENT_MEMBERS, reply->members);
}

static int call_join(struct weft_member *m, struct weft_call *call, u32 timeout_ms)
{
	u64 asked = ktime_get_ns();
	int err;

	memset(call, 0, sizeof(*call));
	call->op = WEFT_CALL_JOIN;
	call->node = m->node->id;
	call->life = m->life;
	call->valid = WEFT_JOIN_ASKS_AGAIN;
	call->addr = be32_to_cpu(m->config.addr);
	err = weft_rpc_call(m->node, WEFT_BLADE_MIN, call, timeout_ms);
	if (!err)
		take_members(m, call, asked);
	return err;
}

static int call_leave(struct weft_member *m, struct weft_call *call, u32 timeout_ms)
{
	memset(call, 0, sizeof(*call));
	call->op = WEFT_CALL_LEAVE;
	call->node = m->node->id;
	call->life = m->life;
	return weft_rpc_call(m->node, WEFT_BLADE_MIN, call, timeout_ms);
}

static void heard(struct weft_member *m)
{
	if (m->node->failures >= WEFT_HEARTBEAT_FAILURES)
		tell(m, WEFT_EVENT_BLADE_BACK, 0);
	WRITE_ONCE(m->node->failures, 0);
	WRITE_ONCE(m->node->answered, jiffies);
}

static void not_heard(struct weft_member *m)
{
	__be32 addr = weft_peer_addr(&m->node->peers, WEFT_BLADE_MIN);
	__be32 twin = weft_peer_twin(&m->node->peers, WEFT_BLADE_MIN);

	WRITE_ONCE(m->node->failures, m->node->failures + 1);
	if (m->node->failures != WEFT_HEARTBEAT_FAILURES)
		return;
	if (twin)
		pr_warn("weft: the memory blade %pI4 does not answer, nor does its twin %pI4: is weft-memd running?\n",
			&addr, &twin);
	else
		pr_warn("weft: the memory blade %pI4 does not answer: is weft-memd running?\n",
			&addr);
	tell(m, WEFT_EVENT_BLADE_LOST, 0);
}

/*
 * The first blade does not know this node: it was restarted without its file.  No RENEW has asked
 * for the lines of this node, so other nodes may own them by now.
 */
static int join_again(struct weft_member *m, struct weft_call *call)
{
	m->returning = true;
	m->above->forgotten(m);
	return call_join(m, call, HEARTBEAT_MS);
}

/* HEARTBEATS in a lease, so that the loss of a few in a row does not end it. */
static u32 heartbeat_ms(const struct weft_member *m)
{
	u32 ms = m->lease_ms / HEARTBEATS;

	return ms ? clamp_t(u32, ms, HEARTBEAT_MIN_MS, HEARTBEAT_MS) : HEARTBEAT_MS;
}

/* PEERS: renew the lease, and take over the list of members. */
static void heartbeat(struct work_struct *work)
{
	struct weft_member *m = container_of(to_delayed_work(work), struct weft_member,
					     heartbeat);
	struct weft_call *call;
	u64 asked = ktime_get_ns();
	int err = -ENOMEM;

	/* weft_member_refresh() may have queued this while the node was leaving */
	if (!READ_ONCE(m->joined))
		return;
	call = kzalloc(sizeof(*call), GFP_KERNEL);
	if (call) {
		call->op = WEFT_CALL_PEERS;
		call->node = m->node->id;
		call->life = m->life;
		err = weft_rpc_call(m->node, WEFT_BLADE_MIN, call, HEARTBEAT_MS);
	}
	if (!err && !(call->members & weft_node_bit(m->node->id)))
		err = join_again(m, call);
	else if (!err)
		take_members(m, call, asked);
	/*
	 * due after a JOIN that had no answer in time, too: then PEERS shows that it was carried
	 * out
	 */
	if (!err && m->returning)
		m->returning = m->above->back(m) != 0;
	if (!err) {
		/* pairs with weft_node_members() */
		smp_store_release(&m->node->members_asked, asked);
		heard(m);
	} else if (err == -EAGAIN) {
		heard(m); /* the blade answers, and the JOIN is repeated */
	} else if (err != -ENOMEM) {
		not_heard(m);
	}
	kfree(call);
	if (READ_ONCE(m->joined))
		queue_delayed_work(system_long_wq, &m->heartbeat,
				   msecs_to_jiffies(heartbeat_ms(m)));
}

void weft_member_refresh(struct weft_member *m)
{
	if (READ_ONCE(m->joined) &&
	    time_after(jiffies, READ_ONCE(m->node->answered) +
		       msecs_to_jiffies(REFRESH_MS)))
		mod_delayed_work(system_long_wq, &m->heartbeat, 0);
}

static u32 join_timeout_ms(struct weft_member *m)
{
	return min_t(u32, READ_ONCE(m->node->timeout_ms), JOIN_TIMEOUT_MS);
}

/*
 * JOIN, repeated while the first blade answers EAGAIN: it first recovers the lines of a former
 * life of this node, or waits for other blades.
 */
static int join_in_turn(struct weft_member *m, struct weft_call *call)
{
	unsigned long end = jiffies + msecs_to_jiffies(READ_ONCE(m->node->timeout_ms));
	int err;

	for (;;) {
		err = call_join(m, call, join_timeout_ms(m));
		if (err != -EAGAIN || time_after(jiffies, end))
			return err;
		schedule_timeout_killable(msecs_to_jiffies(JOIN_AGAIN_MS));
		if (fatal_signal_pending(current))
			return -EINTR;
	}
}

/* Keep the node up until unhold_up(). */
static int hold_up(struct weft_member *m)
{
	int err = -ENOTCONN;

	mutex_lock(&m->lock);
	if (m->node->up) {
		m->mounts++;
		err = 0;
	}
	mutex_unlock(&m->lock);
	return err;
}

static void unhold_up(struct weft_member *m)
{
	mutex_lock(&m->lock);
	m->mounts--;
	mutex_unlock(&m->lock);
}

int weft_member_join(struct weft_member *m, __be32 *other)
{
	struct weft_call *call;
	u32 members = 0;
	int err;

	*other = 0;
	call = kzalloc(sizeof(*call), GFP_KERNEL);
	if (!call)
		return -ENOMEM;
	/* killable: another JOIN may take the time-out */
	if (mutex_lock_killable(&m->join_lock)) {
		kfree(call);
		return -EINTR;
	}
	err = hold_up(m);
	if (err)
		goto out;
	err = join_in_turn(m, call);
	if (err) {
		*other = cpu_to_be32(call->addr);
		/* the blade may still carry the JOIN out: undo it */
		if (err == -ETIMEDOUT || err == -EINTR)
			call_leave(m, call, 0);
		unhold_up(m);
		goto out;
	}
	members = call->members;
	WRITE_ONCE(m->node->failures, 0);
	WRITE_ONCE(m->node->answered, jiffies);
	m->returning = false;
	WRITE_ONCE(m->joined, true);
	queue_delayed_work(system_long_wq, &m->heartbeat, msecs_to_jiffies(heartbeat_ms(m)));
out:
	mutex_unlock(&m->join_lock);
	kfree(call);
	if (!err)
		tell(m, WEFT_EVENT_JOINED, members);
	return err;
}

void weft_member_leave(struct weft_member *m)
{
	struct weft_call *call = kzalloc(sizeof(*call), GFP_KERNEL);
	__be32 addr;

	mutex_lock(&m->join_lock);
	WRITE_ONCE(m->joined, false);
	addr = weft_peer_addr(&m->node->peers, WEFT_BLADE_MIN);
	/* @joined is false, so it does not queue itself again */
	cancel_delayed_work_sync(&m->heartbeat);
	if (call && call_leave(m, call, join_timeout_ms(m)))
		pr_warn("weft: could not tell the memory blade %pI4 that this node leaves\n",
			&addr);
	unhold_up(m);
	mutex_unlock(&m->join_lock);
	kfree(call);
	tell(m, WEFT_EVENT_LEFT, 0);
}

/* --- what netlink asks for ------------------------------------------------- */

int weft_member_status(struct weft_member *m, struct weft_member_status *status)
{
	int err = -ENOTCONN;

	memset(status, 0, sizeof(*status));
	mutex_lock(&m->lock);
	if (m->node->up) {
		status->joined = READ_ONCE(m->joined);
		status->life = m->life;
		status->key_set = m->node->key.set;
		if (status->key_set)
			status->fingerprint = weft_key_fingerprint(&m->node->key);
		weft_refused_last(&m->node->refused, &status->refused);
		status->members = READ_ONCE(m->node->members);
		status->lease_ms = READ_ONCE(m->lease_ms);
		if (status->joined)
			status->answered_ms =
				jiffies_to_msecs(jiffies - READ_ONCE(m->node->answered));
		err = 0;
	}
	mutex_unlock(&m->lock);
	return err;
}

int weft_member_peers(struct weft_member *m, struct weft_peer_info *peer)
{
	int n = -ENOTCONN;
	u32 id;

	mutex_lock(&m->lock);
	if (m->node->up) {
		n = 0;
		for (id = WEFT_NODE_MIN; id < WEFT_PEERS_MAX; id++) {
			__be32 addr = weft_peer_addr(&m->node->peers, id);

			if (!addr && id == m->node->id)
				addr = m->config.addr;
			if (!addr)
				continue;
			peer[n].id = id;
			peer[n].addr = addr;
			peer[n].twin = weft_peer_twin(&m->node->peers, id);
			peer[n].view = weft_peer_view(&m->node->peers, id);
			n++;
		}
	}
	mutex_unlock(&m->lock);
	return n;
}

void weft_member_init(struct weft_member *m, struct weft_node *node,
		      const struct weft_member_ops *ops)
{
	memset(m, 0, sizeof(*m));
	m->node = node;
	m->above = ops;
	mutex_init(&m->join_lock);
	mutex_init(&m->lock);
	spin_lock_init(&m->dead_lock);
	INIT_DELAYED_WORK(&m->heartbeat, heartbeat);
}

void weft_member_exit(struct weft_member *m)
{
	weft_member_down(m, NULL);
	/* weft_member_refresh() may have queued it while the node was leaving */
	cancel_delayed_work_sync(&m->heartbeat);
}
