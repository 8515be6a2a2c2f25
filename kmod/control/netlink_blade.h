/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the netlink family does about memory blades that come and go: lists them, says what is to
 * become of one, and where regions are to be at home.
 */
#ifndef WEFT_NETLINK_BLADE_H
#define WEFT_NETLINK_BLADE_H

struct netlink_callback;
struct sk_buff;

int weft_genl_blades_start(struct netlink_callback *cb);
int weft_genl_blades_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_blade_set_start(struct netlink_callback *cb);
int weft_genl_blade_set_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weft_genl_spread_start(struct netlink_callback *cb);
int weft_genl_spread_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* WEFT_NETLINK_BLADE_H */
