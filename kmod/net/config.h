/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a node takes part in a rack: what CONFIG_SET says, completed by rack/setup.c.  Plain data.
 */
#ifndef WEFT_CONFIG_H
#define WEFT_CONFIG_H

#include <linux/if.h>
#include <linux/types.h>

#include "core/tag.h"
#include "weft_netlink.h"
#include "weft_wire.h"

struct net;

#define WEFT_BLADES	(WEFT_BLADE_MAX - WEFT_BLADE_MIN + 1)

/* How a node takes part in a rack. */
struct weft_config {
	/*
	 * network namespace; weft_member_up() takes a reference of its own, and
	 * weft_member_config() hands out none
	 */
	struct net *net;
	u32 id;			/* of the node, WEFT_NODE_MIN..WEFT_NODE_MAX */
	u32 homes;		/* number of memory blades */
	/* their IPv4 addresses, ids WEFT_BLADE_MIN and up in this order */
	__be32 home[WEFT_BLADES];
	/* addresses of their twins, where they go on if their machines die; 0: none */
	__be32 twin[WEFT_BLADES];
	/*
	 * by which this machine knows the rack; differs from @rack if it is a node of that rack
	 * already
	 */
	u32 number;
	u32 rack;		/* number of the rack in messages */
	int ifindex;		/* interface that leads to the rack */
	char ifname[IFNAMSIZ];	/* its name, filled in by weft_member_up() */
	__be32 addr;		/* own IPv4 address; 0: the interface's first */
	__be32 group;		/* multicast address of the switch; 0: WEFT_WIRE_GROUP */
	/*
	 * the interface sends datagrams that lie in several pieces; filled in by
	 * weft_member_up()
	 */
	bool gathers;
	u32 mtu;		/* bytes; 0: the interface's, WEFT_MTU_MAX at most */
	/*
	 * how long a program waits for the network before it gets an error; 0:
	 * WEFT_TIMEOUT_MS_DEFAULT
	 */
	u32 timeout_ms;
	u32 hold_us; /* minimum stay of a block after a program got it; see blocks/block.h */
	bool hold_set;		/* @hold_us is given, even if it is 0 */
	bool key_set;		/* the rack has a key */
	u8 key[WEFT_KEY_LEN];	/* of the rack; weft_member_config() does not hand it out */
};

#endif /* WEFT_CONFIG_H */
