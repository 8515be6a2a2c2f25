// SPDX-License-Identifier: GPL-2.0-only
/* What all commands of the netlink family need, see genl.h. */
#include <linux/slab.h>

#include "control/genl.h"

const struct genl_family *weft_genl_family __ro_after_init;

void *weft_genl_list(const struct netlink_callback *cb)
{
	return (void *)cb->args[0];
}

void *weft_genl_list_new(struct netlink_callback *cb, size_t size)
{
	void *list = kzalloc(size, GFP_KERNEL);

	cb->args[0] = (long)list;
	return list;
}

int weft_genl_list_done(struct netlink_callback *cb)
{
	kfree(weft_genl_list(cb));
	return 0;
}

void *weft_genl_item(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   weft_genl_family, NLM_F_MULTI, cmd);
}
