/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists that the netlink family gives out: netlink.c's operations for them. */
#ifndef WEFT_KMOD_NETLINK_LIST_H
#define WEFT_KMOD_NETLINK_LIST_H

#include <linux/netlink.h>
#include <net/genetlink.h>

extern struct genl_family weft_genl_family;

static inline int weft_genl_not_up(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "the node is not set up");
	return -ENOTCONN;
}

int weft_genl_stats_start(struct netlink_callback *cb);
int weft_genl_stats_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_switch_start(struct netlink_callback *cb);
int weft_genl_switch_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_blade_start(struct netlink_callback *cb);
int weft_genl_blade_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_peer_start(struct netlink_callback *cb);
int weft_genl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_hist_start(struct netlink_callback *cb);
int weft_genl_hist_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink_cache.c */
int weft_genl_region_start(struct netlink_callback *cb);
int weft_genl_region_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_line_start(struct netlink_callback *cb);
int weft_genl_line_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_lock_start(struct netlink_callback *cb);
int weft_genl_lock_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* State of a list, zeroed memory that weft_genl_list_done() frees. */
void *weft_genl_list(const struct netlink_callback *cb);
void *weft_genl_list_new(struct netlink_callback *cb, size_t size);

/* Begins a message of a list.  Return: NULL if the buffer is full. */
void *weft_genl_item(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);

/* The end of any of them. */
int weft_genl_list_done(struct netlink_callback *cb);

#endif /* WEFT_KMOD_NETLINK_LIST_H */
