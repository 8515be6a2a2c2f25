// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists that the netlink family gives out: counters and histograms of this node,
 * counters of a memory blade, of the switch; members.
 *
 * Counters of blades and of the switch come over the network.  A list's start
 * and the first call of its dumpit are made while generic netlink holds its
 * cb_lock (netlink.c); later calls are made by the reader's recvmsg(), without
 * it.  So these lists begin with a message of their own, and the question goes
 * out in the second call, where it can be killed, too.
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

/* How the rack of a list is set up.  If it is not, the list ends. */
static int weft_genl_list_config(struct netlink_callback *cb, struct weft_config *cfg)
{
	if (!weft_member_config(&weft_genl_list_rack(cb)->member, cfg))
		return 0;
	weft_genl_list_done(cb);
	return weft_genl_not_up(cb->extack);
}

/* One message with a counter, or only its owner if there is no @name. */
static int weft_genl_put_counter(struct sk_buff *skb, struct netlink_callback *cb,
				 u8 cmd, u32 member, const char *name, u64 value)
{
	void *hdr = weft_genl_item(skb, cb, cmd);

	if (!hdr)
		return -EMSGSIZE;
	if ((member && nla_put_u32(skb, WEFT_A_COUNTER_MEMBER, member)) ||
	    (name && (nla_put_string(skb, WEFT_A_COUNTER_NAME, name) ||
		      nla_put_u64_64bit(skb, WEFT_A_COUNTER_VALUE, value,
					WEFT_A_COUNTER_PAD)))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
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

		if (name && weft_genl_put_counter(skb, cb, WEFT_CMD_STATS_GET, 0,
						  name, s->value[s->next]))
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

	return IS_ERR(s) ? PTR_ERR(s) : weft_genl_list_config(cb, &cfg);
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
		err = weft_genl_put_counter(skb, cb, WEFT_CMD_SWITCH_STATS_GET,
					    0, NULL, 0);
		return err ? err : skb->len;
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
		if (names[s->next] &&
		    weft_genl_put_counter(skb, cb, WEFT_CMD_SWITCH_STATS_GET, 0,
					  names[s->next], s->value[s->next]))
			break;
	}
	return skb->len;
}

/* A blade answers in pages; none has more counters than these hold. */
#define WEFT_GENL_PAGES_MAX	64

/**
 * struct weft_genl_blade - list of the counters of a blade
 * @blade: whose
 * @begun: the first message is out
 * @pages: answers of the blade so far
 * @pos: what was put of the list in @call
 * @call: the last answer
 */
struct weft_genl_blade {
	u32 blade;
	bool begun;
	unsigned int pages;
	u32 pos;
	struct weft_call call;
};

int weft_genl_blade_start(struct netlink_callback *cb)
{
	const struct nlattr *member;
	struct weft_genl_blade *b;
	struct weft_config cfg;
	u32 blade = WEFT_BLADE_MIN;

	int err;

	b = weft_genl_list_new(cb, sizeof(*b), WEFT_A_COUNTER_RACK);
	if (IS_ERR(b))
		return PTR_ERR(b);
	err = weft_genl_list_config(cb, &cfg);
	if (err)
		return err;
	/* Checked against the policy before we are called. */
	member = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, WEFT_A_COUNTER_MEMBER);
	if (member)
		blade = nla_get_u32(member);
	if (!weft_genl_has_blade(cb, &cfg, blade)) {
		NL_SET_ERR_MSG_ATTR(cb->extack, member,
				    "MEMBER: this rack has no such memory blade");
		weft_genl_list_done(cb);
		return -ENOENT;
	}
	b->blade = blade;
	return 0;
}

/* Gets the next page.  Return: 0; 1 if there is none; or an error. */
static int weft_genl_blade_ask(struct weft_genl_blade *b, struct netlink_callback *cb)
{
	u64 cookie = b->pages ? b->call.cookie : 0;
	int err;

	if (b->pages && !cookie)
		return 1;
	if (b->pages++ == WEFT_GENL_PAGES_MAX) {
		NL_SET_ERR_MSG(cb->extack, "the blade's list has no end");
		return -EPROTO;
	}
	err = weft_genl_turn(cb, 1);
	if (err)
		return err;
	memset(&b->call, 0, sizeof(b->call));
	b->call.op = WEFT_CALL_STATS;
	b->call.cookie = cookie;
	b->pos = 0;
	err = weft_rpc_look(&weft_genl_list_rack(cb)->node, b->blade, &b->call);
	if (err == -ETIMEDOUT)
		NL_SET_ERR_MSG(cb->extack, "the blade does not answer");
	return err;
}

/*
 * Reads the counter at b->pos of the page, @name is of WEFT_NAME_MAX + 1 bytes.
 * Return: its length.
 */
static u32 weft_genl_blade_counter(const struct weft_genl_blade *b, char *name,
				   u64 *value)
{
	const u8 *p = b->call.list + b->pos;
	u32 len = p[WEFT_COUNTER_LEN - 1];

	*value = get_unaligned_be64(p);
	memcpy(name, p + WEFT_COUNTER_LEN, len);
	name[len] = 0;
	return WEFT_COUNTER_LEN + len;
}

int weft_genl_blade_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_blade *b = weft_genl_list(cb);
	char name[WEFT_NAME_MAX + 1];
	u64 value;
	u32 len;
	int err;

	if (!b->begun) {
		b->begun = true;
		err = weft_genl_put_counter(skb, cb, WEFT_CMD_BLADE_STATS_GET,
					    b->blade, NULL, 0);
		return err ? err : skb->len;
	}
	for (;;) {
		if (!b->pages || b->pos == b->call.list_len) {
			/* What is in the buffer goes out before the next wait. */
			if (skb->len)
				return skb->len;
			err = weft_genl_blade_ask(b, cb);
			if (err)
				return err > 0 ? 0 : err;
			continue;
		}
		len = weft_genl_blade_counter(b, name, &value);
		if (weft_genl_put_counter(skb, cb, WEFT_CMD_BLADE_STATS_GET,
					  b->blade, name, value))
			return skb->len;
		b->pos += len;
	}
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

	if (!weft_plug_why(&weft_genl_list_rack(cb)->node, id, why, sizeof(why)))
		return 0;
	return *why ? nla_put_string(skb, WEFT_A_PEER_WHY_UDP, why) :
		      nla_put_flag(skb, WEFT_A_PEER_RDMA);
}

static int weft_genl_put_peer(struct sk_buff *skb, struct netlink_callback *cb,
			      const struct weft_genl_peers *p,
			      const struct weft_peer_info *peer)
{
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_PEER_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, WEFT_A_PEER_ID, peer->id) ||
	    nla_put_in_addr(skb, WEFT_A_PEER_ADDRESS, peer->addr) ||
	    (peer->id == p->self && nla_put_flag(skb, WEFT_A_PEER_SELF)) ||
	    ((weft_node_bit(peer->id) & p->members) &&
	     nla_put_flag(skb, WEFT_A_PEER_JOINED)) ||
	    (peer->twin && nla_put_in_addr(skb, WEFT_A_PEER_TWIN, peer->twin)) ||
	    (peer->view && nla_put_u32(skb, WEFT_A_PEER_VIEW, peer->view)) ||
	    (peer->id != p->self && weft_genl_put_way(skb, cb, peer->id))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int weft_genl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_peers *p = weft_genl_list(cb);

	for (; p->next < p->len; p->next++) {
		if (weft_genl_put_peer(skb, cb, p, &p->peer[p->next]))
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

static int weft_genl_put_hist(struct sk_buff *skb, struct netlink_callback *cb,
			      const char *name, const struct weft_hist_data *data)
{
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_HIST_GET);
	unsigned int i;

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, WEFT_A_HIST_NAME, name) ||
	    nla_put_u64_64bit(skb, WEFT_A_HIST_NSEC, data->nsec, WEFT_A_HIST_PAD))
		goto full;
	for (i = 0; i < WEFT_HIST_BUCKETS; i++) {
		if (data->bucket[i] && weft_genl_put_bucket(skb, i, data->bucket[i]))
			goto full;
	}
	genlmsg_end(skb, hdr);
	return 0;
full:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

int weft_genl_hist_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_hists *h = weft_genl_list(cb);

	for (; h->next < WEFT_HIST_COUNT; h->next++) {
		if (weft_genl_put_hist(skb, cb, weft_hist_name(h->next),
				       &h->hist[h->next]))
			break;
	}
	return skb->len;
}
