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

/**
 * struct weft_config - how a node takes part in a rack
 * @net: network namespace; weft_member_up() takes a reference of its own, and
 *	weft_member_config() hands out none
 * @id: of the node, WEFT_NODE_MIN..WEFT_NODE_MAX
 * @homes: number of memory blades
 * @home: their IPv4 addresses, ids WEFT_BLADE_MIN and up in this order
 * @twin: addresses of their twins, where they go on if their machines die; 0: none
 * @number: by which this machine knows the rack; differs from @rack if it is a node of that rack
 *	already
 * @rack: number of the rack in messages
 * @ifindex: interface that leads to the rack
 * @ifname: its name, filled in by weft_member_up()
 * @addr: own IPv4 address; 0: the interface's first
 * @group: multicast address of the switch; 0: WEFT_WIRE_GROUP
 * @gathers: the interface sends datagrams that lie in several pieces; filled in by
 *	weft_member_up()
 * @mtu: bytes; 0: the interface's, WEFT_MTU_MAX at most
 * @timeout_ms: how long a program waits for the network before it gets an error;
 *	0: WEFT_TIMEOUT_MS_DEFAULT
 * @hold_us: minimum stay of a block after a program got it; see blocks/block.h
 * @hold_set: @hold_us is given, even if it is 0
 * @key_set: the rack has a key
 * @key: of the rack; weft_member_config() does not hand it out
 */
struct weft_config {
	struct net *net;
	u32 id;
	u32 homes;
	__be32 home[WEFT_BLADES];
	__be32 twin[WEFT_BLADES];
	u32 number;
	u32 rack;
	int ifindex;
	char ifname[IFNAMSIZ];
	__be32 addr;
	__be32 group;
	bool gathers;
	u32 mtu;
	u32 timeout_ms;
	u32 hold_us;
	bool hold_set;
	bool key_set;
	u8 key[WEFT_KEY_LEN];
};

#endif /* WEFT_CONFIG_H */
