/* SPDX-License-Identifier: GPL-2.0-only */
/* How a node takes part in a rack, as netlink sets it. */
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
 * @id: WEFT_NODE_MIN..WEFT_NODE_MAX
 * @homes: number of memory blades
 * @home: their IPv4 addresses, ids WEFT_BLADE_MIN and up in this order
 * @twin: of each of them, where it goes on if its machine dies; 0: nowhere
 * @number: that this machine gives the rack; another one than @rack if it is a node of
 *	that already
 * @rack: number of the rack, as messages say it
 * @ifindex: interface that leads to the rack
 * @ifname: its name, filled in by weft_member_up()
 * @addr: own IPv4 address; 0: the interface's first
 * @group: multicast address of the switch; 0: WEFT_WIRE_GROUP
 * @gathers: the interface sends datagrams that are in several pieces; filled in by
 *	weft_member_up()
 * @mtu: bytes; 0: the interface's, or WEFT_MTU_MAX if that is less
 * @timeout_ms: how long a program waits for the network before it gets an error;
 *	0: WEFT_TIMEOUT_MS_DEFAULT
 * @hold_us: how long a block stays after a program got it; see blocks/block.h
 * @hold_set: @hold_us is given, it may be 0
 * @key_set: the rack has a key
 * @key: it; weft_member_config() does not hand it out
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
