/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * This machine as a member of a rack: configuration, membership, sequence
 * numbers.  What netlink needs of the module is declared here and in stats.h.
 *
 * There is one node a machine.  It is configured with weft_node_up(); the first
 * mount joins the rack, the last unmount leaves it.
 */
#ifndef WEFT_NODE_H
#define WEFT_NODE_H

#include <linux/atomic.h>
#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <linux/types.h>

#include "call.h"
#include "refused.h"
#include "weft_netlink.h"

struct net;

#define WEFT_BLADES	(WEFT_BLADE_MAX - WEFT_BLADE_MIN + 1)

/**
 * struct weft_config - how a node takes part in a rack
 * @net: network namespace; weft_node_up() takes a reference of its own, and
 *	weft_node_config_get() hands out none
 * @id: WEFT_NODE_MIN..WEFT_NODE_MAX
 * @homes: number of memory blades
 * @home: their IPv4 addresses, ids WEFT_BLADE_MIN and up in this order
 * @rack: number of the rack
 * @ifindex: interface that leads to the rack
 * @ifname: its name, filled in by weft_node_up()
 * @addr: own IPv4 address; 0: the interface's first
 * @group: multicast address of the switch; 0: WEFT_WIRE_GROUP
 * @mtu: bytes; 0: the interface's, or WEFT_MTU_MAX if that is less
 * @timeout_ms: how long a program waits for the network before it gets an error;
 *	0: WEFT_TIMEOUT_MS_DEFAULT
 * @hold_us: how long a block stays after a program got it; see cache.h
 * @hold_set: @hold_us is given, it may be 0
 * @key_set: the rack has a key
 * @key: it; weft_node_config_get() does not hand it out
 */
struct weft_config {
	struct net *net;
	u32 id;
	u32 homes;
	__be32 home[WEFT_BLADES];
	u32 rack;
	int ifindex;
	char ifname[IFNAMSIZ];
	__be32 addr;
	__be32 group;
	u32 mtu;
	u32 timeout_ms;
	u32 hold_us;
	bool hold_set;
	bool key_set;
	u8 key[WEFT_KEY_LEN];
};

/**
 * struct weft_node_status - what a configured node is doing
 * @joined: it is a member of its rack
 * @answered_ms: milliseconds since the first memory blade last answered
 * @life: number of this life
 * @key_set: the rack has a key
 * @fingerprint: of the key
 * @refused: the last message that was refused for who sent it, since the node is up
 * @members: bits of the nodes of the rack
 * @inodes: regions that are known here, also unlinked ones that are still open
 * @lines: blocks in the cache
 * @cache_bytes: their size
 * @cache_max: bytes that the cache may take
 */
struct weft_node_status {
	bool joined;
	u32 answered_ms;
	u32 life;
	bool key_set;
	u32 fingerprint;
	struct weft_refused refused;
	u32 members;
	u64 inodes;
	u64 lines;
	u64 cache_bytes;
	u64 cache_max;
};

/**
 * struct weft_peer_info - another member
 * @id: nodes and blades
 * @addr: its address
 */
struct weft_peer_info {
	u32 id;
	__be32 addr;
};

#define WEFT_PEERS_MAX	(WEFT_BLADE_MAX + 1)

/**
 * weft_node_up() - configure the node and open its socket
 * @cfg: as above
 * @extack: receives a sentence in case of an error; may be NULL
 *
 * Return: 0; -EBUSY if it is up already; -EINVAL, -ENODEV, -EADDRNOTAVAIL,
 * -EADDRINUSE and what the network says.
 */
int weft_node_up(const struct weft_config *cfg, struct netlink_ext_ack *extack);

/**
 * weft_node_down() - close the socket, forget the configuration
 *
 * Return: 0; -EBUSY while a file system is mounted; -ENOTCONN if it is not up.
 */
int weft_node_down(struct netlink_ext_ack *extack);

/* Copy of the configuration in use.  Return: 0 or -ENOTCONN. */
int weft_node_config_get(struct weft_config *cfg);

/**
 * weft_node_tune() - change a running node
 * @timeout_ms: new value, or 0 to leave it
 * @hold_us: new value, or -1 to leave it
 *
 * Return: 0; -EINVAL, -ENOTCONN.
 */
int weft_node_tune(u32 timeout_ms, int hold_us, struct netlink_ext_ack *extack);

/* Return: 0 or -ENOTCONN. */
int weft_node_status(struct weft_node_status *status);

/**
 * weft_node_peers() - members that we know the address of
 * @peer: room for WEFT_PEERS_MAX
 *
 * Return: how many, or -ENOTCONN.
 */
int weft_node_peers(struct weft_peer_info *peer);

/**
 * weft_node_call() - ask the first memory blade
 * @call: the question; overwritten by the answer
 *
 * Sleeps, can be killed.
 *
 * Return: 0; -EINTR; -ETIMEDOUT: no answer; -ENOTCONN: not up; the negative of
 * the errno that the blade answered; -EPROTO for an answer that makes no sense.
 */
int weft_node_call(struct weft_call *call);

/**
 * weft_node_call_blade() - the same to any blade, for its statistics
 * @blade: WEFT_BLADE_MIN and up
 */
int weft_node_call_blade(u32 blade, struct weft_call *call);

/**
 * weft_node_switch_count() - counters of the directory in the switch
 * @count: WEFT_COUNT_*
 *
 * Return: 0; -ENXIO: no P4 switch answers; -EINTR, -ENOTCONN.
 */
int weft_node_switch_count(u64 count[WEFT_COUNTERS]);

/*
 * Events, by a chain that may sleep.  Data is a struct weft_node_event.  Some are told
 * with the node's lock held: who is called takes all from the data and asks nothing here.
 */
enum weft_node_event_type {
	WEFT_EVENT_UP,
	WEFT_EVENT_DOWN,
	WEFT_EVENT_JOINED,	/* with the members that there are */
	WEFT_EVENT_LEFT,
	WEFT_EVENT_MEMBERS,	/* someone joined or left */
	WEFT_EVENT_BLADE_LOST,	/* the first memory blade does not answer */
	WEFT_EVENT_BLADE_BACK,
	WEFT_EVENT_BLOCKS_LOST,	/* modified blocks could not be written home */
};

struct weft_node_event {
	u32 members;
	u32 blade;
	u64 blocks;
};

int weft_node_notifier_register(struct notifier_block *nb);
int weft_node_notifier_unregister(struct notifier_block *nb);

/* --- for the rest of the module ------------------------------------------ */

/* What the fast paths read of the configuration; constant while up. */
struct weft_node {
	bool up;
	u8 id;
	u8 homes;
	int ifindex;		/* of the rack's interface */
	u32 rack;
	u32 fragment;		/* bytes of payload in a full fragment */
	u32 timeout_ms;		/* READ_ONCE */
	u32 hold_us;		/* READ_ONCE */
	struct weft_key key;	/* not set: the rack has none */
	atomic_t seq;
};

extern struct weft_node weft_node;

/* A sequence number that this node has not used in this life. */
static inline u32 weft_node_seq(void)
{
	return (u32)atomic_inc_return(&weft_node.seq);
}

/* Member that is the home of a line. */
static inline u8 weft_node_home(u64 key)
{
	return (u8)(WEFT_BLADE_MIN + weft_line_home(key, weft_node.homes));
}

/**
 * weft_node_join() - become a member of the rack, for a mount
 *
 * Takes a reference that weft_node_leave() gives back; weft_node_down() is
 * refused until then.
 *
 * Return: 0; -ENOTCONN: not up; -EEXIST: another node has our id (its address in
 * @other); and what weft_node_call() says.
 */
int weft_node_join(__be32 *other);
void weft_node_leave(void);

/*
 * Bits of nodes that may have been in the rack at @since (ns) and still are: all, if
 * nobody has said so since.  Any context.
 */
u32 weft_node_members(u64 since);

/*
 * Is this node cut off from its rack?  The first memory blade has missed
 * heartbeats for the time that programs are to wait.  Any context.
 */
bool weft_node_cut_off(void);

/*
 * Somebody of whom we have no address sends or wants an answer, or somebody's clock is
 * not ours: ask.  Any context.
 */
void weft_node_refresh_peers(void);

void weft_node_event(enum weft_node_event_type type,
		     const struct weft_node_event *event);

int weft_node_init(void);
void weft_node_exit(void);

#endif /* WEFT_NODE_H */
