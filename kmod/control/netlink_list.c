// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists that the netlink family gives out: counters and histograms of this node, counters of
 * the switch; members.  Those of the switch come over the network: the list begins with a
 * message of its own, as those of netlink_ask.c, which says why.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "base/stats.h"
#include "control/genl.h"
#include "control/netlink_list.h"
#include "fs/rack.h"
#include "net/peer.h"
#include "net/rpc.h"
#include "net/transport.h"
#include "weft_netlink.h"

/* One message with a counter of the node or of the switch, or with none if there is no @name. */
static bool put_counter(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
			const char *name, u64 value)
{
	void *hdr = weft_genl_item(skb, cb, cmd);

	return hdr && weft_genl_item_end(skb, hdr, name &&
		(nla_put_string(skb, WEFT_A_COUNTER_NAME, name) ||
		 nla_put_u64_64bit(skb, WEFT_A_COUNTER_VALUE, value, WEFT_A_COUNTER_PAD)));
}

/**
 * struct weft_genl_stats - list of this node's counters
 * @next: the next to be put
 * @value: all of them
 */
struct weft_genl_stats {
	unsigned int next;
	u64 value[WEFT_STAT_COUNT];
};

int weft_genl_stats_start(struct netlink_callback *cb)
{
	struct weft_genl_stats *s = weft_genl_list_new(cb, sizeof(*s), WEFT_A_COUNTER_RACK);

	if (IS_ERR(s))
		return PTR_ERR(s);
	weft_stats_get(&weft_genl_list_rack(cb)->node.counters, s->value);
	return 0;
}

int weft_genl_stats_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_stats *s = weft_genl_list(cb);
	char buf[32];

	for (; s->next < WEFT_STAT_COUNT; s->next++) {
		const char *name = weft_stat_name(s->next, buf, sizeof(buf));

		if (name && !put_counter(skb, cb, WEFT_CMD_STATS_GET, name, s->value[s->next]))
			break;
	}
	return skb->len;
}

/**
 * struct weft_genl_switch - list of the counters of the switch
 * @begun: the first message is out
 * @asked: @value is valid
 * @next: the next to be put
 * @value: all of them
 */
struct weft_genl_switch {
	bool begun;
	bool asked;
	unsigned int next;
	u64 value[WEFT_COUNTERS];
};

int weft_genl_switch_start(struct netlink_callback *cb)
{
	struct weft_genl_switch *s = weft_genl_list_new(cb, sizeof(*s), WEFT_A_COUNTER_RACK);
	struct weft_config cfg;
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = weft_genl_config(cb, &cfg);
	if (err)
		weft_genl_list_done(cb);
	return err;
}

int weft_genl_switch_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	static const char * const names[WEFT_COUNTERS] = {
		[WEFT_COUNT_MISS]	= "miss",
		[WEFT_COUNT_READ]	= "read",
		[WEFT_COUNT_FWD]	= "fwd",
		[WEFT_COUNT_INV]	= "inv",
		[WEFT_COUNT_GRANT]	= "grant",
		[WEFT_COUNT_BUSY]	= "busy",
		[WEFT_COUNT_COMMIT]	= "commit",
		[WEFT_COUNT_QUERY]	= "query",
		[WEFT_COUNT_ABORT]	= "abort",
		[WEFT_COUNT_ADD]	= "add",
		[WEFT_COUNT_ADD_REFUSED] = "add_refused",
		[WEFT_COUNT_REMOVE]	= "remove",
		[WEFT_COUNT_DROP]	= "drop",
		[WEFT_COUNT_STRANGER]	= "stranger",
		[WEFT_COUNT_DAMAGED]	= "damaged",
		[WEFT_COUNT_MEMBERS]	= "members",
		[WEFT_COUNT_ENQUEUE]	= "enqueue",
		[WEFT_COUNT_HANDED]	= "handed",
		[WEFT_COUNT_HAND_ACK]	= "hand_ack",
		[WEFT_COUNT_PASSED]	= "passed",
		[WEFT_COUNT_NOT_PASSED]	= "not_passed",
		[WEFT_COUNT_FORGED]	= "forged",
	};
	struct weft_genl_switch *s = weft_genl_list(cb);
	int err;

	if (!s->begun) {
		s->begun = true;
		return put_counter(skb, cb, WEFT_CMD_SWITCH_STATS_GET, NULL, 0) ?
		       skb->len : -EMSGSIZE;
	}
	if (!s->asked) {
		err = weft_genl_turn(cb, WEFT_COUNTERS);
		if (err)
			return err;
		err = weft_rpc_switch_counts(&weft_genl_list_rack(cb)->node, s->value);
		if (err == -ENXIO)
			NL_SET_ERR_MSG(cb->extack, "no directory in a switch answers");
		if (err)
			return err;
		s->asked = true;
	}
	for (; s->next < WEFT_COUNTERS; s->next++) {
		if (names[s->next] && !put_counter(skb, cb, WEFT_CMD_SWITCH_STATS_GET,
						   names[s->next], s->value[s->next]))
			break;
	}
	return skb->len;
}

/**
 * struct weft_genl_peers - list of the members
 * @next: the next to be put
 * @len: how many
 * @self: id of this node
 * @members: bits of the nodes that are members now
 * @peer: all of them
 */
struct weft_genl_peers {
	int next;
	int len;
	u32 self;
	u32 members;
	struct weft_peer_info peer[WEFT_PEERS_MAX];
};

/* This node is a member, too: puts it where its id belongs. */
static void weft_genl_add_self(struct weft_genl_peers *p, __be32 addr)
{
	int i, at = 0;

	for (i = 0; i < p->len; i++) {
		if (p->peer[i].id == p->self)
			return;
		if (p->peer[i].id < p->self)
			at = i + 1;
	}
	if (p->len == WEFT_PEERS_MAX)
		return;
	memmove(&p->peer[at + 1], &p->peer[at],
		(size_t)(p->len - at) * sizeof(p->peer[0]));
	p->peer[at].id = p->self;
	p->peer[at].addr = addr;
	p->peer[at].twin = 0;
	p->peer[at].view = 0;
	p->len++;
}

int weft_genl_peer_start(struct netlink_callback *cb)
{
	struct weft_genl_peers *p = weft_genl_list_new(cb, sizeof(*p), WEFT_A_PEER_RACK);
	struct weft_member_status status;
	struct weft_member *m;
	struct weft_config cfg;

	if (IS_ERR(p))
		return PTR_ERR(p);
	m = &weft_genl_list_rack(cb)->member;
	p->len = weft_member_peers(m, p->peer);
	if (p->len < 0 || weft_member_config(m, &cfg) || weft_member_status(m, &status)) {
		/* done is not called for what could not start. */
		weft_genl_list_done(cb);
		return weft_genl_not_up(cb->extack);
	}
	p->self = cfg.id;
	/* Who is in the rack a node hears only while it is in, too. */
	p->members = status.joined ? status.members : 0;
	weft_genl_add_self(p, cfg.addr);
	return 0;
}

/* Which way data goes there, if there is more than one. */
static int weft_genl_put_way(struct sk_buff *skb, struct netlink_callback *cb, u32 id)
{
	char why[64];

	if (!weft_transport_why(&weft_genl_list_rack(cb)->node, id, why, sizeof(why)))
		return 0;
	return *why ? nla_put_string(skb, WEFT_A_PEER_WHY_UDP, why) :
		      nla_put_flag(skb, WEFT_A_PEER_RDMA);
}

static bool put_peer(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct weft_genl_peers *p, const struct weft_peer_info *peer)
{
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_PEER_GET);

	return hdr && weft_genl_item_end(skb, hdr,
		nla_put_u32(skb, WEFT_A_PEER_ID, peer->id) ||
		nla_put_in_addr(skb, WEFT_A_PEER_ADDRESS, peer->addr) ||
		(peer->id == p->self && nla_put_flag(skb, WEFT_A_PEER_SELF)) ||
		((weft_node_bit(peer->id) & p->members) &&
		 nla_put_flag(skb, WEFT_A_PEER_JOINED)) ||
		(peer->twin && nla_put_in_addr(skb, WEFT_A_PEER_TWIN, peer->twin)) ||
		(peer->view && nla_put_u32(skb, WEFT_A_PEER_VIEW, peer->view)) ||
		(peer->id != p->self && weft_genl_put_way(skb, cb, peer->id)));
}

int weft_genl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_peers *p = weft_genl_list(cb);

	for (; p->next < p->len; p->next++) {
		if (!put_peer(skb, cb, p, &p->peer[p->next]))
			break;
	}
	return skb->len;
}

/**
 * struct weft_genl_hists - list of this node's histograms
 * @next: the next to be put
 * @hist: all of them
 */
struct weft_genl_hists {
	unsigned int next;
	struct weft_hist_data hist[WEFT_HIST_COUNT];
};

int weft_genl_hist_start(struct netlink_callback *cb)
{
	struct weft_genl_hists *h = weft_genl_list_new(cb, sizeof(*h), WEFT_A_HIST_RACK);

	if (IS_ERR(h))
		return PTR_ERR(h);
	weft_hist_get(&weft_genl_list_rack(cb)->node.counters, h->hist);
	return 0;
}

static int weft_genl_put_bucket(struct sk_buff *skb, unsigned int bucket, u64 count)
{
	struct nlattr *nest = nla_nest_start(skb, WEFT_A_HIST_BUCKET);

	if (!nest ||
	    (weft_hist_below(bucket) &&
	     nla_put_u64_64bit(skb, WEFT_A_BUCKET_BELOW, weft_hist_below(bucket),
			       WEFT_A_BUCKET_PAD)) ||
	    nla_put_u64_64bit(skb, WEFT_A_BUCKET_COUNT, count, WEFT_A_BUCKET_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_buckets(struct sk_buff *skb, const struct weft_hist_data *data)
{
	unsigned int i;

	for (i = 0; i < WEFT_HIST_BUCKETS; i++) {
		if (data->bucket[i] && weft_genl_put_bucket(skb, i, data->bucket[i]))
			return -EMSGSIZE;
	}
	return 0;
}

static bool put_hist(struct sk_buff *skb, struct netlink_callback *cb, const char *name,
		     const struct weft_hist_data *data)
{
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_HIST_GET);

	return hdr && weft_genl_item_end(skb, hdr,
		nla_put_string(skb, WEFT_A_HIST_NAME, name) ||
		nla_put_u64_64bit(skb, WEFT_A_HIST_NSEC, data->nsec, WEFT_A_HIST_PAD) ||
		put_buckets(skb, data));
}

int weft_genl_hist_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_hists *h = weft_genl_list(cb);

	for (; h->next < WEFT_HIST_COUNT; h->next++) {
		if (!put_hist(skb, cb, weft_hist_name(h->next), &h->hist[h->next]))
			break;
	}
	return skb->len;
}
