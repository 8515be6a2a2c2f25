/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of what this node has that the netlink family gives out. */
#ifndef WEFT_KMOD_NETLINK_LIST_H
#define WEFT_KMOD_NETLINK_LIST_H

struct netlink_callback;
struct sk_buff;

int weft_genl_stats_start(struct netlink_callback *cb);
int weft_genl_stats_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_switch_start(struct netlink_callback *cb);
int weft_genl_switch_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_peer_start(struct netlink_callback *cb);
int weft_genl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_hist_start(struct netlink_callback *cb);
int weft_genl_hist_dump(struct sk_buff *skb, struct netlink_callback *cb);

int weft_genl_region_start(struct netlink_callback *cb);
int weft_genl_region_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_line_start(struct netlink_callback *cb);
int weft_genl_line_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_lock_start(struct netlink_callback *cb);
int weft_genl_lock_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* WEFT_KMOD_NETLINK_LIST_H */
