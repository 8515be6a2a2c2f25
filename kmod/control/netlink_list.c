// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of what this node has, see netlink_list.h.  The counters of the switch come over the
 * network: that list begins with an empty message, as those of netlink_ask.c, which says why.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "base/stats.h"
#include "control/genl.h"
#include "control/inspect.h"
#include "control/netlink_list.h"
#include "core/line.h"
#include "fs/rack.h"
#include "net/peer.h"
#include "net/rpc.h"
#include "net/transport.h"
#include "weft_netlink.h"

/* --- regions, blocks and locks ------------------------------------------------------------- */

/*
 * These lists may be long, and their readers slow: only the place is kept between two calls, and
 * each object is inspected when its message is made; one that does not fit, again for the next
 * buffer.  Regions with a name are shown to users who may list the directory; others, and blocks
 * and locks, to users who may read the file.
 */

static_assert(WEFT_STATE_NONE == WEFT_I && WEFT_STATE_SHARED == WEFT_S &&
	      WEFT_STATE_MODIFIED == WEFT_M, "states have the same numbers");
static_assert((int)WEFT_LINE_OP_NONE == (int)WEFT_OP_NONE &&
	      (int)WEFT_LINE_OP_READ == (int)WEFT_OP_GETS &&
	      (int)WEFT_LINE_OP_WRITE == (int)WEFT_OP_GETM &&
	      (int)WEFT_LINE_OP_PUT == (int)WEFT_OP_PUT &&
	      (int)WEFT_LINE_OP_CLEAN == (int)WEFT_OP_CLEAN &&
	      (int)WEFT_LINE_OP_COMMIT == (int)WEFT_OP_COMMIT &&
	      (int)WEFT_LINE_OP_TAKE == (int)WEFT_OP_TAKE,
	      "requests have the same numbers");

/**
 * struct weft_genl_place - how far a list has got
 * @region: the next region
 * @index: the next block of it, or the name of the next lock
 * @last: the last region, or the name of the last lock
 * @info: the object whose message is made
 */
struct weft_genl_place {
	u32 region;
	u64 index;
	u64 last;
	union {
		struct weft_region_info region;
		struct weft_line_info line;
		struct weft_lock_info lock;
	} info;
};

/*
 * Begin at the region that attribute @type names, 0 if the request names none.
 * Return: 0; -ENOENT: the node does not know the region, or the reader may not see it.
 */
static int take_region(struct netlink_callback *cb, int type, struct weft_genl_place *p)
{
	const struct nlattr *attr = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, type);

	if (!attr)
		return 0;
	p->region = nla_get_u32(attr);
	if (weft_inspect_region(weft_genl_list_rack(cb), &p->region, &p->info.region) &&
	    p->region == nla_get_u32(attr) && weft_genl_sees(cb, p->region, true))
		return 0;
	NL_SET_ERR_MSG_ATTR(cb->extack, attr,
			    "REGION: this node knows no such region");
	return -ENOENT;
}

/* --- Regions ------------------------------------------------------------- */

static bool weft_genl_put_region(struct sk_buff *skb, struct netlink_callback *cb,
				 const struct weft_region_info *r)
{
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_REGION_GET);

	return hdr && weft_genl_item_end(skb, hdr,
		nla_put_u32(skb, WEFT_A_REGION_ID, r->region) ||
		(*r->name && nla_put_string(skb, WEFT_A_REGION_NAME, r->name)) ||
		nla_put_u64_64bit(skb, WEFT_A_REGION_SIZE, r->size,
				  WEFT_A_REGION_PAD) ||
		nla_put_u32(skb, WEFT_A_REGION_BLOCK, r->block) ||
		nla_put_u32(skb, WEFT_A_REGION_LINES, r->lines) ||
		nla_put_u32(skb, WEFT_A_REGION_LOCKS, r->locks) ||
		nla_put_u32(skb, WEFT_A_REGION_POLICY, r->policy) ||
		nla_put_u32(skb, WEFT_A_REGION_NODES, r->nodes) ||
		nla_put_u32(skb, WEFT_A_REGION_HOMES, r->homes) ||
		(r->gone && nla_put_flag(skb, WEFT_A_REGION_GONE)));
}

static int weft_genl_region_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_place *p = weft_genl_list(cb);

	for (; weft_inspect_region(weft_genl_list_rack(cb), &p->region, &p->info.region);
	     p->region++) {
		/* a region without a name is not in the directory: ask for its file */
		if (!weft_genl_sees(cb, p->region, !*p->info.region.name))
			continue;
		if (!weft_genl_put_region(skb, cb, &p->info.region))
			break;
	}
	return skb->len;
}

/* --- Blocks -------------------------------------------------------------- */

static int weft_genl_line_start(struct netlink_callback *cb, void *state)
{
	struct weft_genl_place *p = state;
	int err = take_region(cb, WEFT_A_LINE_REGION, p);

	p->last = p->region ?: WEFT_REGION_MAX;
	return err;
}

static bool weft_genl_put_line(struct sk_buff *skb, struct netlink_callback *cb,
			       const struct weft_line_info *l)
{
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_LINE_GET);

	return hdr && weft_genl_item_end(skb, hdr,
		nla_put_u32(skb, WEFT_A_LINE_REGION, l->region) ||
		nla_put_u64_64bit(skb, WEFT_A_LINE_INDEX, l->index, WEFT_A_LINE_PAD) ||
		nla_put_u32(skb, WEFT_A_LINE_STATE, l->state) ||
		nla_put_u32(skb, WEFT_A_LINE_OP, l->op) ||
		nla_put_u32(skb, WEFT_A_LINE_WAITERS, l->waiters) ||
		nla_put_u32(skb, WEFT_A_LINE_MISSES, l->misses) ||
		nla_put_u32(skb, WEFT_A_LINE_REVOCATIONS, l->revocations) ||
		(l->dirty && nla_put_flag(skb, WEFT_A_LINE_DIRTY)) ||
		(l->revoking && nla_put_flag(skb, WEFT_A_LINE_REVOKING)) ||
		(l->ahead && nla_put_flag(skb, WEFT_A_LINE_AHEAD)));
}

/* Go to the next region of the list, if there is one. */
static bool weft_genl_next_region(struct weft_rack *rack, struct weft_genl_place *p)
{
	struct weft_region_info *info = &p->info.region;

	cond_resched();
	if (p->region >= p->last)
		return false;
	p->region++;
	p->index = 0;
	return weft_inspect_region(rack, &p->region, info) && p->region <= p->last;
}

static int weft_genl_line_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_rack *rack = weft_genl_list_rack(cb);
	struct weft_genl_place *p = weft_genl_list(cb);

	do {
		if (!weft_genl_sees(cb, p->region, true))
			continue;
		for (; weft_inspect_line(rack, p->region, &p->index, &p->info.line);
		     p->index++) {
			if (!weft_genl_put_line(skb, cb, &p->info.line))
				return skb->len;
		}
	} while (weft_genl_next_region(rack, p));
	/* so that a further call finds nothing */
	p->region = (u32)p->last;
	p->index = ~0ull;
	return skb->len;
}

/* --- Locks --------------------------------------------------------------- */

static int weft_genl_lock_start(struct netlink_callback *cb, void *state)
{
	struct weft_genl_place *p = state;
	int err = take_region(cb, WEFT_A_LOCK_REGION, p);

	p->last = ~0ull;
	if (p->region) {
		p->index = weft_line_key(p->region, WEFT_KIND_LOCK, 0);
		p->last = weft_line_key(p->region, WEFT_KIND_LOCK, ~0ull);
	}
	return err;
}

static bool weft_genl_put_lock(struct sk_buff *skb, struct netlink_callback *cb,
			       const struct weft_lock_info *l)
{
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_LOCK_GET);

	return hdr && weft_genl_item_end(skb, hdr,
		nla_put_u32(skb, WEFT_A_LOCK_REGION, l->region) ||
		nla_put_u64_64bit(skb, WEFT_A_LOCK_OFFSET, l->offset,
				  WEFT_A_LOCK_PAD) ||
		nla_put_u32(skb, WEFT_A_LOCK_STATE, l->state) ||
		nla_put_u32(skb, WEFT_A_LOCK_WANT, l->want) ||
		nla_put_u32(skb, WEFT_A_LOCK_READERS, l->readers) ||
		nla_put_u32(skb, WEFT_A_LOCK_WAITERS, l->waiters) ||
		nla_put_u32(skb, WEFT_A_LOCK_QUEUE, l->queue) ||
		nla_put_u32(skb, WEFT_A_LOCK_GRANTS, l->grants) ||
		nla_put_u32(skb, WEFT_A_LOCK_HAND_OVERS, l->hand_overs) ||
		(l->writer && nla_put_flag(skb, WEFT_A_LOCK_WRITER)) ||
		(l->open && nla_put_flag(skb, WEFT_A_LOCK_OPEN)) ||
		(l->tenured && nla_put_flag(skb, WEFT_A_LOCK_TENURED)) ||
		(l->revoking && nla_put_flag(skb, WEFT_A_LOCK_REVOKING)));
}

static int weft_genl_lock_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_place *p = weft_genl_list(cb);

	/* no lock has the name ~0 */
	for (; p->index <= p->last &&
	       weft_inspect_lock(weft_genl_list_rack(cb), &p->index, p->last,
				 &p->info.lock); p->index++) {
		if (!weft_genl_sees(cb, p->info.lock.region, true)) {
			/* skip all locks of this region */
			p->index = weft_line_key(p->info.lock.region, WEFT_KIND_LOCK, ~0ull);
			continue;
		}
		if (!weft_genl_put_lock(skb, cb, &p->info.lock))
			break;
	}
	return skb->len;
}

/* --- counters, histograms and members ------------------------------------------------------ */

/* Put a message with one counter; without @name an empty one.  Return: whether there was room. */
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

static int weft_genl_stats_start(struct netlink_callback *cb, void *state)
{
	struct weft_genl_stats *s = state;

	weft_stats_get(&weft_genl_list_rack(cb)->node.counters, s->value);
	return 0;
}

static int weft_genl_stats_dump(struct sk_buff *skb, struct netlink_callback *cb)
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
 * @begun: the empty first message was put
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

static int weft_genl_switch_dump(struct sk_buff *skb, struct netlink_callback *cb)
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

static int weft_genl_peer_start(struct netlink_callback *cb, void *state)
{
	struct weft_rack *rack = weft_genl_list_rack(cb);
	struct weft_member_status status;
	struct weft_genl_peers *p = state;

	p->len = weft_member_peers(&rack->member, p->peer);
	if (p->len < 0 || weft_member_status(&rack->member, &status))
		return weft_genl_not_up(cb->extack);
	p->self = rack->node.id;
	/* a node that has not joined is not told of the members */
	p->members = status.joined ? status.members : 0;
	return 0;
}

/* Put whether data goes there by RDMA, and if not, why; if the module for RDMA is loaded. */
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

static int weft_genl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb)
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

static int weft_genl_hist_start(struct netlink_callback *cb, void *state)
{
	struct weft_genl_hists *h = state;

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

static int weft_genl_hist_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_hists *h = weft_genl_list(cb);

	for (; h->next < WEFT_HIST_COUNT; h->next++) {
		if (!put_hist(skb, cb, weft_hist_name(h->next), &h->hist[h->next]))
			break;
	}
	return skb->len;
}

/* --- all of them --------------------------------------------------------------------------- */

/**
 * struct weft_genl_node_list - a list of what this node has
 * @cmd: the command that asks for it
 * @down: can be read while the node is not set up
 * @rack: attribute that names the rack
 * @size: bytes of its state
 * @start: fills the state, which is zeroed.  NULL: nothing to fill
 * @dump: puts as many messages as there is room for, and goes on from there the next time
 */
struct weft_genl_node_list {
	u8 cmd;
	bool down;
	int rack;
	size_t size;
	int (*start)(struct netlink_callback *cb, void *state);
	int (*dump)(struct sk_buff *skb, struct netlink_callback *cb);
};

static const struct weft_genl_node_list lists[] = {
	{ WEFT_CMD_STATS_GET, true, WEFT_A_COUNTER_RACK, sizeof(struct weft_genl_stats),
	  weft_genl_stats_start, weft_genl_stats_dump },
	{ WEFT_CMD_SWITCH_STATS_GET, false, WEFT_A_COUNTER_RACK, sizeof(struct weft_genl_switch),
	  NULL, weft_genl_switch_dump },
	{ WEFT_CMD_PEER_GET, false, WEFT_A_PEER_RACK, sizeof(struct weft_genl_peers),
	  weft_genl_peer_start, weft_genl_peer_dump },
	{ WEFT_CMD_HIST_GET, true, WEFT_A_HIST_RACK, sizeof(struct weft_genl_hists),
	  weft_genl_hist_start, weft_genl_hist_dump },
	{ WEFT_CMD_REGION_GET, false, WEFT_A_REGION_RACK, sizeof(struct weft_genl_place),
	  NULL, weft_genl_region_dump },
	{ WEFT_CMD_LINE_GET, false, WEFT_A_LINE_RACK, sizeof(struct weft_genl_place),
	  weft_genl_line_start, weft_genl_line_dump },
	{ WEFT_CMD_LOCK_GET, false, WEFT_A_LOCK_RACK, sizeof(struct weft_genl_place),
	  weft_genl_lock_start, weft_genl_lock_dump },
};

static const struct weft_genl_node_list *list_of(const struct netlink_callback *cb)
{
	const struct weft_genl_node_list *l = lists;

	/* only the commands of @lists have weft_genl_node_start() */
	while (l->cmd != weft_genl_cmd(cb))
		l++;
	return l;
}

int weft_genl_node_start(struct netlink_callback *cb)
{
	const struct weft_genl_node_list *l = list_of(cb);
	void *state = weft_genl_list_new(cb, l->size, l->rack);
	struct weft_config cfg;
	int err;

	if (IS_ERR(state))
		return PTR_ERR(state);
	err = l->down ? 0 : weft_genl_config(cb, &cfg, false);
	if (!err && l->start)
		err = l->start(cb, state);
	/* generic netlink calls .done only for lists that have started */
	if (err)
		weft_genl_list_done(cb);
	return err;
}

int weft_genl_node_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return list_of(cb)->dump(skb, cb);
}
