// SPDX-License-Identifier: GPL-2.0-only
/* What all commands of the netlink family need, see genl.h. */
#include <linux/slab.h>

#include "control/genl.h"
#include "fs/rack.h"
#include "fs/racks.h"

const struct genl_family *weft_genl_family __ro_after_init;

/* An attribute that is given more than once counts the last time. */
static const struct nlattr *last_of(const struct nlmsghdr *request, int type)
{
	const struct nlattr *attr, *last = NULL;
	int rem;

	nlmsg_for_each_attr(attr, request, GENL_HDRLEN, rem) {
		if (nla_type(attr) == type)
			last = attr;
	}
	return last;
}

struct weft_rack *weft_genl_rack(const struct nlmsghdr *request, int type,
				 struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = last_of(request, type);
	struct weft_rack *rack;

	/* checked against the policy before */
	rack = attr ? weft_racks_find(nla_get_u32(attr)) : weft_racks_only();
	if (rack)
		return rack;
	if (attr) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "RACK: this machine is not in this rack");
		return ERR_PTR(-ENOTCONN);
	}
	NL_SET_ERR_MSG(extack, "RACK is missing: this machine is in several racks");
	return ERR_PTR(-ENOTUNIQ);
}

void *weft_genl_list(const struct netlink_callback *cb)
{
	return (void *)cb->args[0];
}

struct weft_rack *weft_genl_list_rack(const struct netlink_callback *cb)
{
	return (void *)cb->args[1];
}

void *weft_genl_list_new(struct netlink_callback *cb, size_t size, int type)
{
	struct weft_rack *rack = type ? weft_genl_rack(cb->nlh, type, cb->extack) : NULL;
	void *list;

	if (IS_ERR(rack))
		return rack;
	cb->args[1] = (long)rack;
	list = kzalloc(size, GFP_KERNEL);
	cb->args[0] = (long)list;
	if (list)
		return list;
	weft_genl_list_done(cb);
	return ERR_PTR(-ENOMEM);
}

int weft_genl_member_config(struct netlink_callback *cb, struct weft_config *cfg)
{
	struct weft_member *m = &weft_genl_list_rack(cb)->member;
	struct weft_member_status status;

	if (weft_member_config(m, cfg) || weft_member_status(m, &status))
		return weft_genl_not_up(cb->extack);
	if (status.joined)
		return 0;
	NL_SET_ERR_MSG(cb->extack, "the node has not joined its rack");
	return -ENONET;
}

bool weft_genl_has_blade(struct netlink_callback *cb, const struct weft_config *cfg, u32 id)
{
	const struct weft_peers *peers = &weft_genl_list_rack(cb)->node.peers;

	return id - WEFT_BLADE_MIN < cfg->homes || weft_peer_addr(peers, id);
}

int weft_genl_answered(int err, struct netlink_ext_ack *extack)
{
	if (err == -ETIMEDOUT)
		NL_SET_ERR_MSG(extack, "the blade does not answer");
	if (err != -ENOTCONN)
		return err;
	NL_SET_ERR_MSG(extack, "the rack does not know this node any more");
	return -ENONET;
}

int weft_genl_list_done(struct netlink_callback *cb)
{
	if (weft_genl_list_rack(cb))
		weft_racks_put(weft_genl_list_rack(cb));
	kfree(weft_genl_list(cb));
	return 0;
}

void *weft_genl_item(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   weft_genl_family, NLM_F_MULTI, cmd);
}
