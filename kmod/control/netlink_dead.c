// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that die, see netlink_dead.h.
 *
 * Both commands ask blades over the network, so they are lists that begin with a message of
 * their own, as those of netlink_list.c: the question goes out in the second call, which
 * nobody else has to wait for, and which can be killed.
 */
#include <net/genetlink.h>

#include "control/genl.h"
#include "control/netlink_dead.h"
#include "fs/rack.h"
#include "net/rpc.h"
#include "weft_netlink.h"

/* --- A node is to be taken for dead ------------------------------------------- */

/**
 * struct weft_genl_fence - the command
 * @id: of the node
 * @begun: the first message is out
 * @asked: the blade has answered
 */
struct weft_genl_fence {
	u32 id;
	bool begun;
	bool asked;
};

/* The node that the request names; an error if it names none, or this one. */
static int which_node(struct netlink_callback *cb)
{
	const struct nlattr *id = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, WEFT_A_PEER_ID);
	struct weft_config cfg;
	int err = weft_genl_member_config(cb, &cfg);

	if (err)
		return err;
	if (!id) {
		NL_SET_ERR_MSG(cb->extack, "ID is missing: the number of the node");
		return -EINVAL;
	}
	/* checked against the policy before we are called */
	if (nla_get_u32(id) != cfg.id)
		return (int)nla_get_u32(id);
	NL_SET_ERR_MSG(cb->extack, "ID: this node does not take itself for dead");
	return -EDEADLK;
}

int weft_genl_fence_start(struct netlink_callback *cb)
{
	struct weft_genl_fence *f = weft_genl_list_new(cb, sizeof(*f), WEFT_A_PEER_RACK);
	int id;

	if (IS_ERR(f))
		return PTR_ERR(f);
	id = which_node(cb);
	/* done is not called for what could not start */
	if (id < 0) {
		weft_genl_list_done(cb);
		return id;
	}
	f->id = (u32)id;
	return 0;
}

static int ask_fence(struct weft_node *node, u32 id, struct netlink_ext_ack *extack)
{
	struct weft_call *call = kzalloc(sizeof(*call), GFP_KERNEL);
	int err;

	if (!call)
		return -ENOMEM;
	call->op = WEFT_CALL_FENCE_NODE;
	call->members = weft_node_bit(id);
	err = weft_rpc_catalog(node, call);
	kfree(call);
	if (err == -ENOENT)
		NL_SET_ERR_MSG(extack, "ID: the rack has no such node");
	return weft_genl_answered(err, extack);
}

int weft_genl_fence_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_fence *f = weft_genl_list(cb);
	void *hdr;
	int err;

	if (!f->begun) {
		f->begun = true;
		hdr = weft_genl_item(skb, cb, WEFT_CMD_NODE_FENCE);
		if (!hdr || nla_put_u32(skb, WEFT_A_PEER_ID, f->id))
			return -EMSGSIZE;
		genlmsg_end(skb, hdr);
		return skb->len;
	}
	if (f->asked)
		return 0;
	err = ask_fence(&weft_genl_list_rack(cb)->node, f->id, cb->extack);
	f->asked = !err;
	return err;
}

/* --- Blocks that are lost ------------------------------------------------------ */

/**
 * struct weft_genl_lost - list of the blocks that are lost at a blade
 * @blade: which
 * @region: only of this one; 0: of all
 * @begun: the first message is out
 * @asked: @call is an answer
 * @pos: what was put of the list in @call
 * @call: the last answer
 */
struct weft_genl_lost {
	u32 blade;
	u32 region;
	bool begun;
	bool asked;
	u32 pos;
	struct weft_call call;
};

/* What the node does not know, only the privileged may: nobody can say who may read it. */
static bool may_see(const struct netlink_callback *cb, u32 region)
{
	return weft_genl_privileged(cb) || weft_genl_sees(cb, region, true);
}

static int which_lost(struct netlink_callback *cb, struct weft_genl_lost *l)
{
	const struct nlattr *attr;
	struct weft_config cfg;
	int err = weft_genl_member_config(cb, &cfg);

	if (err)
		return err;
	attr = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, WEFT_A_LOST_REGION);
	l->region = attr ? nla_get_u32(attr) : 0;
	if (attr && !may_see(cb, l->region)) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attr, "REGION: this node knows no such region");
		return -ENOENT;
	}
	attr = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, WEFT_A_LOST_MEMBER);
	l->blade = attr ? nla_get_u32(attr) : WEFT_BLADE_MIN;
	if (weft_genl_has_blade(cb, &cfg, l->blade))
		return 0;
	NL_SET_ERR_MSG_ATTR(cb->extack, attr, "MEMBER: this rack has no such memory blade");
	return -ENODEV;
}

int weft_genl_lost_start(struct netlink_callback *cb)
{
	struct weft_genl_lost *l = weft_genl_list_new(cb, sizeof(*l), WEFT_A_LOST_RACK);
	int err;

	if (IS_ERR(l))
		return PTR_ERR(l);
	err = which_lost(cb, l);
	if (err)
		weft_genl_list_done(cb);
	return err;
}

/* Gets the next page.  Return: 0; 1 if there is none; or an error. */
static int ask_lost(struct weft_genl_lost *l, struct netlink_callback *cb)
{
	u64 cookie = l->asked ? l->call.cookie : 0;
	int err;

	if (l->asked && !cookie)
		return 1;
	err = weft_genl_turn(cb, 1);
	if (err)
		return err;
	memset(&l->call, 0, sizeof(l->call));
	l->call.op = WEFT_CALL_LOST;
	l->call.region = l->region;
	l->call.cookie = cookie;
	l->pos = 0;
	err = weft_rpc_look(&weft_genl_list_rack(cb)->node, l->blade, &l->call);
	if (err == -ENOENT)
		NL_SET_ERR_MSG(cb->extack, "REGION: the blade knows no such region");
	if (err)
		return weft_genl_answered(err, cb->extack);
	l->asked = true;
	/* so that it comes to an end */
	if (l->call.cookie && l->call.cookie <= cookie) {
		NL_SET_ERR_MSG(cb->extack, "the blade's list has no end");
		return -EPROTO;
	}
	return 0;
}

/* Return: 0; -EMSGSIZE: there is no room. */
static int put_lost(struct sk_buff *skb, struct netlink_callback *cb,
		    const struct weft_genl_lost *l)
{
	const u8 *p = l->call.list + l->pos;
	u32 block = get_unaligned_be32(p + 4);
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_LOST_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, WEFT_A_LOST_MEMBER, l->blade) ||
	    nla_put_u32(skb, WEFT_A_LOST_REGION, get_unaligned_be32(p)) ||
	    nla_put_u32(skb, WEFT_A_LOST_BLOCK, block) ||
	    nla_put_u64_64bit(skb, WEFT_A_LOST_OFFSET, get_unaligned_be64(p + 8) * block,
			      WEFT_A_LOST_PAD) ||
	    nla_put_u64_64bit(skb, WEFT_A_LOST_LENGTH, get_unaligned_be64(p + 16) * block,
			      WEFT_A_LOST_PAD)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* The first message, with the blade alone. */
static int begin_lost(struct sk_buff *skb, struct netlink_callback *cb, u32 blade)
{
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_LOST_GET);

	if (!hdr || nla_put_u32(skb, WEFT_A_LOST_MEMBER, blade))
		return -EMSGSIZE;
	genlmsg_end(skb, hdr);
	return skb->len;
}

int weft_genl_lost_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_lost *l = weft_genl_list(cb);
	int err;

	if (!l->begun) {
		l->begun = true;
		return begin_lost(skb, cb, l->blade);
	}
	for (;;) {
		if (!l->asked || l->pos == l->call.list_len) {
			/* what is in the buffer goes out before the next wait */
			if (skb->len)
				return skb->len;
			err = ask_lost(l, cb);
			if (err)
				return err > 0 ? 0 : err;
			continue;
		}
		if (may_see(cb, get_unaligned_be32(l->call.list + l->pos)) &&
		    put_lost(skb, cb, l))
			return skb->len;
		l->pos += WEFT_LOST_LEN;
	}
}
