/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink commands that a blade answers: counters of a blade, fencing of a node, lost blocks,
 * blades of the rack, homes of regions.  Called by generic netlink through the table of
 * control/netlink.  The first call of a list must not wait for the network.
 */
#ifndef WEFT_KMOD_NETLINK_ASK_H
#define WEFT_KMOD_NETLINK_ASK_H

struct netlink_callback;
struct sk_buff;

/* genl_ops .start and .dumpit of all these commands: the message says which one it is. */
int weft_genl_ask_start(struct netlink_callback *cb);
int weft_genl_ask_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* WEFT_KMOD_NETLINK_ASK_H */
