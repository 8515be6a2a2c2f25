/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands of the netlink family that members of the rack are asked for: counters of a blade;
 * nodes that die, and blocks that are lost by that; blades that come and go, and where regions
 * are to be at home.
 */
#ifndef WEFT_KMOD_NETLINK_ASK_H
#define WEFT_KMOD_NETLINK_ASK_H

struct netlink_callback;
struct sk_buff;

/* Of all of them: the message says which one it is. */
int weft_genl_ask_start(struct netlink_callback *cb);
int weft_genl_ask_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* WEFT_KMOD_NETLINK_ASK_H */
