/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the netlink family does about nodes that die: takes one for dead, lists the blocks
 * that are lost.
 */
#ifndef WEFT_NETLINK_DEAD_H
#define WEFT_NETLINK_DEAD_H

struct netlink_callback;
struct sk_buff;

int weft_genl_fence_start(struct netlink_callback *cb);
int weft_genl_fence_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_lost_start(struct netlink_callback *cb);
int weft_genl_lost_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* WEFT_NETLINK_DEAD_H */
