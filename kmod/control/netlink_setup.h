/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands of the netlink family that set a node up, take it down, and change it. */
#ifndef WEFT_NETLINK_SETUP_H
#define WEFT_NETLINK_SETUP_H

struct genl_info;
struct sk_buff;

int weft_genl_config_set(struct sk_buff *skb, struct genl_info *info);
int weft_genl_config_clear(struct sk_buff *skb, struct genl_info *info);
int weft_genl_tune(struct sk_buff *skb, struct genl_info *info);

#endif /* WEFT_NETLINK_SETUP_H */
