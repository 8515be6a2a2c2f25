/* SPDX-License-Identifier: GPL-2.0-only */
/* What all commands of the netlink family need. */
#ifndef WEFT_GENL_H
#define WEFT_GENL_H

#include <linux/netlink.h>
#include <net/genetlink.h>

/* The family, from weft_netlink_init() on. */
extern const struct genl_family *weft_genl_family;

static inline int weft_genl_not_up(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "the node is not set up");
	return -ENOTCONN;
}

/*
 * Every list keeps its state in memory of its own, from start to done; it is filled at the
 * start or by the first question, so that all messages of a list tell of the same moment.
 */

/* State of a list, zeroed memory that weft_genl_list_done() frees. */
void *weft_genl_list(const struct netlink_callback *cb);
void *weft_genl_list_new(struct netlink_callback *cb, size_t size);

/* Begins a message of a list.  Return: NULL if the buffer is full. */
void *weft_genl_item(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);

/* The end of any of them. */
int weft_genl_list_done(struct netlink_callback *cb);

#endif /* WEFT_GENL_H */
