// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands that a blade answers, see netlink_ask.h.  Generic netlink holds its cb_lock
 * (netlink.c) for .start and for the first call of .dumpit; later calls come from the reader's
 * recvmsg(), without the lock.  So each command is a list that begins with a message of this
 * node, and the second call, which can be killed, asks the blade.
 */
#include <linux/build_bug.h>
#include <net/genetlink.h>

#include "control/genl.h"
#include "control/netlink_ask.h"
#include "fs/rack.h"
#include "net/rpc.h"
#include "weft_netlink.h"

static_assert((int)WEFT_BLADE_ADD == (int)WEFT_BLADE_ACTION_ADD &&
	      (int)WEFT_BLADE_DRAIN == (int)WEFT_BLADE_ACTION_DRAIN &&
	      (int)WEFT_BLADE_USE == (int)WEFT_BLADE_ACTION_USE,
	      "actions are numbered as in messages");

#define COUNTER_PAGES_MAX	64	/* more than any blade has */

/**
 * struct question - a command in progress
 * @kind: the command
 * @blade: the blade that answers
 * @about: value of the attribute in the first message
 * @begun: the first message was put
 * @answers: number of answers so far
 * @pos: bytes of the list in @call that were put
 * @call: the call, then its last answer
 */
struct question {
	const struct kind *kind;
	u32 blade;
	u32 about;
	bool begun;
	u32 answers;
	u32 pos;
	struct weft_call call;
};

/**
 * struct kind - a command that a blade answers
 * @cmd: its number
 * @op: the call of the blade
 * @rack: attribute that names the rack
 * @about: attribute of the first message; 0: it has none
 * @member: the node must have joined its rack
 * @looks: the call changes nothing
 * @pages: the answer may have several pages
 * @take: takes the attributes of the request, which the policy has checked.  NULL: it has none
 * @put: puts the entry @p of an answer.  NULL: entries are not shown
 * @len: bytes of an entry; 0: entries are counters
 * @err: the blade's error that @why explains; 0: all of them
 * @why: sentence for the reader
 */
struct kind {
	u8 cmd;
	u16 op;
	int rack;
	int about;
	bool member;
	bool looks;
	bool pages;
	int (*take)(struct question *q, struct netlink_callback *cb,
		    const struct weft_config *cfg);
	int (*put)(struct sk_buff *skb, const struct question *q, const u8 *p);
	u32 len;
	int err;
	const char *why;
};

static const struct nlattr *attr_of(const struct netlink_callback *cb, int type)
{
	return nlmsg_find_attr(cb->nlh, GENL_HDRLEN, type);
}

static u32 value_of(const struct netlink_callback *cb, int type, u32 otherwise)
{
	const struct nlattr *attr = attr_of(cb, type);

	return attr ? nla_get_u32(attr) : otherwise;
}

/*
 * Ask the blade that attribute @type names, else the first one.  Return: 0; @err: no such blade.
 */
static int take_member(struct question *q, struct netlink_callback *cb,
		       const struct weft_config *cfg, int type, int err)
{
	q->blade = q->about = value_of(cb, type, WEFT_BLADE_MIN);
	if (weft_genl_has_blade(cb, cfg, q->blade))
		return 0;
	NL_SET_ERR_MSG_ATTR(cb->extack, attr_of(cb, type),
			    "MEMBER: this rack has no such memory blade");
	return err;
}

/* --- counters of a blade ------------------------------------------------------------------ */

static int take_stats(struct question *q, struct netlink_callback *cb,
		      const struct weft_config *cfg)
{
	return take_member(q, cb, cfg, WEFT_A_COUNTER_MEMBER, -ENOENT);
}

static int put_stats(struct sk_buff *skb, const struct question *q, const u8 *p)
{
	char name[WEFT_NAME_MAX + 1];
	u32 len = p[WEFT_COUNTER_LEN - 1];

	memcpy(name, p + WEFT_COUNTER_LEN, len);
	name[len] = 0;
	return nla_put_u32(skb, WEFT_A_COUNTER_MEMBER, q->blade) ||
	       nla_put_string(skb, WEFT_A_COUNTER_NAME, name) ||
	       nla_put_u64_64bit(skb, WEFT_A_COUNTER_VALUE, get_unaligned_be64(p),
				 WEFT_A_COUNTER_PAD);
}

/* --- a node is to be taken for dead --------------------------------------------------------- */

static int take_fence(struct question *q, struct netlink_callback *cb,
		      const struct weft_config *cfg)
{
	if (!attr_of(cb, WEFT_A_PEER_ID)) {
		NL_SET_ERR_MSG(cb->extack, "ID is missing: the number of the node");
		return -EINVAL;
	}
	q->about = value_of(cb, WEFT_A_PEER_ID, 0);
	q->call.members = weft_node_bit(q->about);
	if (q->about != cfg->id)
		return 0;
	NL_SET_ERR_MSG(cb->extack, "ID: this node does not take itself for dead");
	return -EDEADLK;
}

/* --- blocks that are lost ------------------------------------------------------------------- */

/* Regions that this node does not know, whose permissions it cannot check, only root may see. */
static bool may_see(const struct netlink_callback *cb, u32 region)
{
	return weft_genl_privileged(cb) || weft_genl_sees(cb, region, true);
}

static int take_lost(struct question *q, struct netlink_callback *cb,
		     const struct weft_config *cfg)
{
	const struct nlattr *attr = attr_of(cb, WEFT_A_LOST_REGION);

	q->call.region = value_of(cb, WEFT_A_LOST_REGION, 0);
	if (attr && !may_see(cb, q->call.region)) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attr, "REGION: this node knows no such region");
		return -ENOENT;
	}
	return take_member(q, cb, cfg, WEFT_A_LOST_MEMBER, -ENODEV);
}

static int put_lost(struct sk_buff *skb, const struct question *q, const u8 *p)
{
	u32 block = get_unaligned_be32(p + 4);

	return nla_put_u32(skb, WEFT_A_LOST_MEMBER, q->blade) ||
	       nla_put_u32(skb, WEFT_A_LOST_REGION, get_unaligned_be32(p)) ||
	       nla_put_u32(skb, WEFT_A_LOST_BLOCK, block) ||
	       nla_put_u64_64bit(skb, WEFT_A_LOST_OFFSET, get_unaligned_be64(p + 8) * block,
				 WEFT_A_LOST_PAD) ||
	       nla_put_u64_64bit(skb, WEFT_A_LOST_LENGTH, get_unaligned_be64(p + 16) * block,
				 WEFT_A_LOST_PAD);
}

/* --- blades -------------------------------------------------------------------------------- */

static int put_blade(struct sk_buff *skb, const struct question *q, const u8 *p)
{
	return nla_put_u32(skb, WEFT_A_BLADE_MEMBER, p[0]) ||
	       nla_put_in_addr(skb, WEFT_A_BLADE_ADDRESS,
			       cpu_to_be32(get_unaligned_be32(p + 4))) ||
	       (p[1] & WEFT_BLADE_IN && nla_put_flag(skb, WEFT_A_BLADE_JOINED)) ||
	       (p[1] & WEFT_BLADE_DRAINS && nla_put_flag(skb, WEFT_A_BLADE_DRAINS)) ||
	       nla_put_u64_64bit(skb, WEFT_A_BLADE_BYTES, get_unaligned_be64(p + 8),
				 WEFT_A_BLADE_PAD) ||
	       nla_put_u64_64bit(skb, WEFT_A_BLADE_NEEDED, get_unaligned_be64(p + 16),
				 WEFT_A_BLADE_PAD) ||
	       nla_put_u32(skb, WEFT_A_BLADE_REGIONS, get_unaligned_be32(p + 24));
}

static int take_blade(struct question *q, struct netlink_callback *cb,
		      const struct weft_config *cfg)
{
	const struct nlattr *addr = attr_of(cb, WEFT_A_BLADE_ADDRESS);
	struct weft_call *call = &q->call;

	if (!attr_of(cb, WEFT_A_BLADE_MEMBER) || !attr_of(cb, WEFT_A_BLADE_ACTION)) {
		NL_SET_ERR_MSG(cb->extack, "MEMBER or ACTION is missing: which blade, and what is to become of it");
		return -EINVAL;
	}
	q->about = call->node = value_of(cb, WEFT_A_BLADE_MEMBER, 0);
	call->valid = value_of(cb, WEFT_A_BLADE_ACTION, 0);
	if (addr)
		call->addr = be32_to_cpu(nla_get_in_addr(addr));
	if (call->valid != WEFT_BLADE_ADD || call->addr)
		return 0;
	NL_SET_ERR_MSG(cb->extack, "ADDRESS is missing: where the blade is");
	return -EINVAL;
}

static int take_spread(struct question *q, struct netlink_callback *cb,
		       const struct weft_config *cfg)
{
	q->about = q->call.region = value_of(cb, WEFT_A_REGION_ID, 0);
	q->call.homes = value_of(cb, WEFT_A_REGION_HOMES, 0);
	return 0;
}

/* --- all of them --------------------------------------------------------------------------- */

static const struct kind kinds[] = {
	{
		.cmd = WEFT_CMD_BLADE_STATS_GET, .op = WEFT_CALL_STATS,
		.rack = WEFT_A_COUNTER_RACK, .about = WEFT_A_COUNTER_MEMBER,
		.looks = true, .pages = true, .take = take_stats, .put = put_stats,
		.err = -ETIMEDOUT, .why = "the blade does not answer",
	}, {
		.cmd = WEFT_CMD_NODE_FENCE, .op = WEFT_CALL_FENCE_NODE,
		.rack = WEFT_A_PEER_RACK, .about = WEFT_A_PEER_ID,
		.member = true, .take = take_fence,
		.err = -ENOENT, .why = "ID: the rack has no such node",
	}, {
		.cmd = WEFT_CMD_LOST_GET, .op = WEFT_CALL_LOST,
		.rack = WEFT_A_LOST_RACK, .about = WEFT_A_LOST_MEMBER,
		.member = true, .looks = true, .pages = true,
		.take = take_lost, .put = put_lost, .len = WEFT_LOST_LEN,
		.err = -ENOENT, .why = "REGION: the blade knows no such region",
	}, {
		.cmd = WEFT_CMD_BLADE_GET, .op = WEFT_CALL_BLADE,
		.rack = WEFT_A_BLADE_RACK,
		.member = true, .looks = true, .put = put_blade, .len = WEFT_BLADE_LEN,
		.why = "the first blade refuses",
	}, {
		.cmd = WEFT_CMD_BLADE_SET, .op = WEFT_CALL_BLADE,
		.rack = WEFT_A_BLADE_RACK, .about = WEFT_A_BLADE_MEMBER,
		.member = true, .take = take_blade,
		.why = "the first blade refuses",
	}, {
		.cmd = WEFT_CMD_REGION_SPREAD, .op = WEFT_CALL_SPREAD,
		.rack = WEFT_A_REGION_RACK, .about = WEFT_A_REGION_ID,
		.member = true, .take = take_spread,
		.why = "the first blade refuses",
	},
};

static const struct kind *kind_of(const struct netlink_callback *cb)
{
	const struct kind *kind = kinds;

	/* only the commands of @kinds have weft_genl_ask_start() */
	while (kind->cmd != weft_genl_cmd(cb))
		kind++;
	return kind;
}

static int take(struct question *q, struct netlink_callback *cb)
{
	struct weft_config cfg;
	int err = weft_genl_config(cb, &cfg, q->kind->member);

	if (err || !q->kind->take)
		return err;
	return q->kind->take(q, cb, &cfg);
}

int weft_genl_ask_start(struct netlink_callback *cb)
{
	const struct kind *kind = kind_of(cb);
	struct question *q = weft_genl_list_new(cb, sizeof(*q), kind->rack);
	int err;

	if (IS_ERR(q))
		return PTR_ERR(q);
	q->kind = kind;
	q->blade = WEFT_BLADE_MIN;
	q->call.op = kind->op;
	err = take(q, cb);
	/* done is not called for what could not start */
	if (err)
		weft_genl_list_done(cb);
	return err;
}

static int no_end(struct netlink_callback *cb)
{
	NL_SET_ERR_MSG(cb->extack, "the blade's list has no end");
	return -EPROTO;
}

/* Set the call up for the next page.  Return: 0; 1: there is none; or an error. */
static int next_page(struct question *q, struct netlink_callback *cb)
{
	u64 cookie = q->call.cookie;
	u32 region = q->call.region;

	if (!q->kind->pages || !cookie)
		return 1;
	if (!q->kind->len && q->answers == COUNTER_PAGES_MAX)
		return no_end(cb);
	memset(&q->call, 0, sizeof(q->call));
	q->call.op = q->kind->op;
	q->call.region = region;
	q->call.cookie = cookie;
	q->pos = 0;
	return 0;
}

/* Make the call.  Return: 0: there is an answer; 1: the last one was complete; or an error. */
static int ask(struct question *q, struct netlink_callback *cb)
{
	struct weft_node *node = &weft_genl_list_rack(cb)->node;
	u32 region = q->call.region;
	u64 cookie;
	int err = q->answers ? next_page(q, cb) : 0;

	if (!err)
		err = weft_genl_turn(cb, 1);
	if (err)
		return err;
	cookie = q->call.cookie;
	if (q->kind->looks)
		err = weft_rpc_look(node, q->blade, &q->call);
	else
		err = weft_rpc_catalog(node, &q->call);
	q->call.region = region;
	q->answers++;
	/* this sentence also tells the reader that the error is the blade's, not this node's */
	if (err && (!q->kind->err || q->kind->err == err))
		weft_genl_say(cb->extack, q->kind->why);
	if (err)
		return q->kind->member ? weft_genl_answered(err, cb->extack) : err;
	/* cookies must grow, or a hostile blade would answer for ever */
	return q->kind->len && q->call.cookie && q->call.cookie <= cookie ? no_end(cb) : 0;
}

/* Put the entry @p; NULL: the first message.  Return: whether there was room. */
static bool put_message(struct sk_buff *skb, struct netlink_callback *cb,
			const struct question *q, const u8 *p)
{
	void *hdr = weft_genl_item(skb, cb, q->kind->cmd);
	int err = 0;

	if (!hdr)
		return false;
	if (p)
		err = q->kind->put(skb, q, p);
	else if (q->kind->about)
		err = nla_put_u32(skb, q->kind->about, q->about);
	return weft_genl_item_end(skb, hdr, err);
}

static bool is_shown(struct netlink_callback *cb, const struct question *q, const u8 *p)
{
	return q->kind->cmd != WEFT_CMD_LOST_GET || may_see(cb, get_unaligned_be32(p));
}

/* Put the rest of an answer.  Return: whether there was room for all of it. */
static bool put_answer(struct sk_buff *skb, struct netlink_callback *cb, struct question *q)
{
	while (q->kind->put && q->pos < q->call.list_len) {
		const u8 *p = q->call.list + q->pos;

		if (is_shown(cb, q, p) && !put_message(skb, cb, q, p))
			return false;
		q->pos += q->kind->len ?: WEFT_COUNTER_LEN + p[WEFT_COUNTER_LEN - 1];
	}
	return true;
}

int weft_genl_ask_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct question *q = weft_genl_list(cb);
	int err;

	if (!q->begun) {
		q->begun = true;
		return put_message(skb, cb, q, NULL) ? skb->len : -EMSGSIZE;
	}
	for (;;) {
		/* send what is in the buffer before the next wait */
		if ((q->answers && !put_answer(skb, cb, q)) || skb->len)
			return skb->len;
		err = ask(q, cb);
		if (err)
			return err > 0 ? 0 : err;
	}
}
