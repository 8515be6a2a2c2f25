// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory blades that come and go, see netlink_blade.h.
 *
 * All commands ask the first blade over the network, so they are lists that begin with a
 * message of their own, as those of netlink_dead.c.
 */
#include <linux/build_bug.h>
#include <net/genetlink.h>

#include "control/genl.h"
#include "control/netlink_blade.h"
#include "fs/rack.h"
#include "net/rpc.h"
#include "weft_netlink.h"

static_assert((int)WEFT_BLADE_ADD == (int)WEFT_BLADE_ACTION_ADD &&
	      (int)WEFT_BLADE_DRAIN == (int)WEFT_BLADE_ACTION_DRAIN &&
	      (int)WEFT_BLADE_USE == (int)WEFT_BLADE_ACTION_USE,
	      "actions are numbered as in messages");

/**
 * struct weft_genl_asking - a command that the first blade is asked for
 * @begun: the first message is out
 * @asked: @call is the answer
 * @pos: what was put of the list in @call
 * @call: what is asked; the answer
 */
struct weft_genl_asking {
	bool begun;
	bool asked;
	u32 pos;
	struct weft_call call;
};

/* @type: the attribute that names the rack. */
static struct weft_genl_asking *new_asking(struct netlink_callback *cb, int type, u16 op)
{
	struct weft_genl_asking *a = weft_genl_list_new(cb, sizeof(*a), type);
	struct weft_config cfg;
	int err;

	if (IS_ERR(a))
		return a;
	a->call.op = op;
	err = weft_genl_member_config(cb, &cfg);
	if (!err)
		return a;
	/* done is not called for what could not start */
	weft_genl_list_done(cb);
	return ERR_PTR(err);
}

static int ask(struct weft_genl_asking *a, struct netlink_callback *cb)
{
	struct weft_node *node = &weft_genl_list_rack(cb)->node;
	bool looks = a->call.op == WEFT_CALL_BLADE && !a->call.valid;
	int err = weft_genl_turn(cb, 1);

	if (err)
		return err;
	if (looks)
		err = weft_rpc_look(node, WEFT_BLADE_MIN, &a->call);
	else
		err = weft_rpc_catalog(node, &a->call);
	a->asked = !err;
	/* who reads this knows then that the request made sense here */
	if (err)
		NL_SET_ERR_MSG(cb->extack, "the first blade refuses");
	return weft_genl_answered(err, cb->extack);
}

static const struct nlattr *attr_of(struct netlink_callback *cb, int type)
{
	/* checked against the policy before we are called */
	return nlmsg_find_attr(cb->nlh, GENL_HDRLEN, type);
}

/* --- The blades ----------------------------------------------------------------- */

int weft_genl_blades_start(struct netlink_callback *cb)
{
	return PTR_ERR_OR_ZERO(new_asking(cb, WEFT_A_BLADE_RACK, WEFT_CALL_BLADE));
}

/* Return: 0; -EMSGSIZE: there is no room. */
static int put_blade(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct weft_genl_asking *a)
{
	const u8 *p = a->call.list + a->pos;
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_BLADE_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, WEFT_A_BLADE_MEMBER, p[0]) ||
	    nla_put_in_addr(skb, WEFT_A_BLADE_ADDRESS, cpu_to_be32(get_unaligned_be32(p + 4))) ||
	    (p[1] & WEFT_BLADE_IN && nla_put_flag(skb, WEFT_A_BLADE_JOINED)) ||
	    (p[1] & WEFT_BLADE_DRAINS && nla_put_flag(skb, WEFT_A_BLADE_DRAINS)) ||
	    nla_put_u64_64bit(skb, WEFT_A_BLADE_BYTES, get_unaligned_be64(p + 8),
			      WEFT_A_BLADE_PAD) ||
	    nla_put_u64_64bit(skb, WEFT_A_BLADE_NEEDED, get_unaligned_be64(p + 16),
			      WEFT_A_BLADE_PAD) ||
	    nla_put_u32(skb, WEFT_A_BLADE_REGIONS, get_unaligned_be32(p + 24))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int weft_genl_blades_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_asking *a = weft_genl_list(cb);
	void *hdr;
	int err;

	if (!a->begun) {
		a->begun = true;
		hdr = weft_genl_item(skb, cb, WEFT_CMD_BLADE_GET);
		if (!hdr)
			return -EMSGSIZE;
		genlmsg_end(skb, hdr);
		return skb->len;
	}
	if (!a->asked) {
		err = ask(a, cb);
		if (err)
			return err;
	}
	for (; a->pos < a->call.list_len; a->pos += WEFT_BLADE_LEN) {
		if (put_blade(skb, cb, a))
			break;
	}
	return skb->len;
}

/* --- What is to be done --------------------------------------------------------- */

/* The only message, with what it is about; then the answer is awaited. */
static int do_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, int type, u32 value)
{
	struct weft_genl_asking *a = weft_genl_list(cb);
	void *hdr;

	if (a->begun)
		return a->asked ? 0 : ask(a, cb);
	a->begun = true;
	hdr = weft_genl_item(skb, cb, cmd);
	if (!hdr || nla_put_u32(skb, type, value))
		return -EMSGSIZE;
	genlmsg_end(skb, hdr);
	return skb->len;
}

static int take_blade(struct netlink_callback *cb, struct weft_call *call)
{
	const struct nlattr *member = attr_of(cb, WEFT_A_BLADE_MEMBER);
	const struct nlattr *action = attr_of(cb, WEFT_A_BLADE_ACTION);
	const struct nlattr *addr = attr_of(cb, WEFT_A_BLADE_ADDRESS);

	if (!member || !action) {
		NL_SET_ERR_MSG(cb->extack, "MEMBER or ACTION is missing: which blade, and what is to become of it");
		return -EINVAL;
	}
	call->node = nla_get_u32(member);
	call->valid = nla_get_u32(action);
	if (addr)
		call->addr = be32_to_cpu(nla_get_in_addr(addr));
	if (call->valid != WEFT_BLADE_ADD || call->addr)
		return 0;
	NL_SET_ERR_MSG(cb->extack, "ADDRESS is missing: where the blade is");
	return -EINVAL;
}

int weft_genl_blade_set_start(struct netlink_callback *cb)
{
	struct weft_genl_asking *a = new_asking(cb, WEFT_A_BLADE_RACK, WEFT_CALL_BLADE);
	int err;

	if (IS_ERR(a))
		return PTR_ERR(a);
	err = take_blade(cb, &a->call);
	if (err)
		weft_genl_list_done(cb);
	return err;
}

int weft_genl_blade_set_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct weft_genl_asking *a = weft_genl_list(cb);

	return do_dump(skb, cb, WEFT_CMD_BLADE_SET, WEFT_A_BLADE_MEMBER, a->call.node);
}

int weft_genl_spread_start(struct netlink_callback *cb)
{
	struct weft_genl_asking *a = new_asking(cb, WEFT_A_REGION_RACK, WEFT_CALL_SPREAD);
	const struct nlattr *attr;

	if (IS_ERR(a))
		return PTR_ERR(a);
	attr = attr_of(cb, WEFT_A_REGION_ID);
	if (attr)
		a->call.region = nla_get_u32(attr);
	attr = attr_of(cb, WEFT_A_REGION_HOMES);
	if (attr)
		a->call.homes = nla_get_u32(attr);
	return 0;
}

int weft_genl_spread_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct weft_genl_asking *a = weft_genl_list(cb);

	return do_dump(skb, cb, WEFT_CMD_REGION_SPREAD, WEFT_A_REGION_ID, a->call.region);
}
