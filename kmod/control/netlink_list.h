/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink lists of what this node has: counters, histograms, members, regions, blocks, locks; and
 * the counters of the switch.  Called by generic netlink through the table of control/netlink.
 */
#ifndef WEFT_KMOD_NETLINK_LIST_H
#define WEFT_KMOD_NETLINK_LIST_H

struct netlink_callback;
struct sk_buff;

/* genl_ops .start and .dumpit of all these commands: the message says which one it is. */
int weft_genl_node_start(struct netlink_callback *cb);
int weft_genl_node_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* WEFT_KMOD_NETLINK_LIST_H */
