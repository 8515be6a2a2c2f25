/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of regions, blocks and locks that the netlink family gives out. */
#ifndef WEFT_KMOD_NETLINK_CACHE_H
#define WEFT_KMOD_NETLINK_CACHE_H

struct netlink_callback;
struct sk_buff;

int weft_genl_region_start(struct netlink_callback *cb);
int weft_genl_region_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_line_start(struct netlink_callback *cb);
int weft_genl_line_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_lock_start(struct netlink_callback *cb);
int weft_genl_lock_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* WEFT_KMOD_NETLINK_CACHE_H */
