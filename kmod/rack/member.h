/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Membership of this machine in a rack: configuration, JOIN and LEAVE, heartbeats, dead nodes.
 * fs/racks configures it, fs/super joins and leaves, netlink asks; fs/callback passes FENCE and
 * TWIN. Commands of netlink must not wait for the network here (@join_lock).
 */
#ifndef WEFT_MEMBER_H
#define WEFT_MEMBER_H

#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "net/config.h"
#include "net/node.h"

struct weft_call;
struct weft_member;
struct weft_msg;
struct weft_node;

/* State of a node that is up: the attributes WEFT_A_STATUS_* of uapi/weft_netlink.h. */
struct weft_member_status {
	bool joined;
	u32 answered_ms;
	u32 life;
	bool key_set;
	u32 fingerprint;
	struct weft_refused refused;
	u32 members;
	u32 lease_ms;
};

/* A member whose address is known: WEFT_A_PEER_*; @twin: 0: none; @view: 0: not known. */
struct weft_peer_info {
	u32 id;
	__be32 addr;
	__be32 twin;
	u32 view;
};

/**
 * struct weft_member_ops - calls of the layers above
 * @forgotten: the rack has forgotten this node: drop all lines
 * @back: it is a member again: repeat OPENs.  Returns 0; else it is called again
 * @moved: the twin of a blade has taken over: repeat requests to it.  Any context
 *
 * The first two in process context, under no lock.
 */
struct weft_member_ops {
	void (*forgotten)(struct weft_member *m);
	int (*back)(struct weft_member *m);
	void (*moved)(struct weft_member *m);
};

/**
 * struct weft_member - a node as a member of its rack
 * @node: the node
 * @above: calls of the layers above
 * @join_lock: held for a JOIN or LEAVE, and while it waits for the answer.  Nothing else may take
 *	it: commands of netlink must not wait for the network
 * @lock: weft_node.up, @config, @life, @mounts; orders up and down.  While @mounts is not 0 the
 *	node stays up with its configuration: a mount may read these without the lock, but for the
 *	two values that weft_member_tune() changes
 * @config: in use
 * @mounts: counted from before the first JOIN until after LEAVE
 * @life: number of this life
 * @dead_lock: weft_node.dead, @fenced; innermost
 * @fenced: when weft_node.dead last grew, ns
 * @lease_ms: silence after which a node is declared dead; 0: never.  Written by @heartbeat,
 *	READ_ONCE
 * @joined: written by join, leave and heartbeat, which exclude each other; as the members, the
 *	failures and the last answer in @node
 * @returning: the rack had forgotten this node, and weft_member_ops.back() is due.  Of @heartbeat
 * @heartbeat: PEERS to the first blade, while it is a member
 */
struct weft_member {
	struct weft_node *node;
	const struct weft_member_ops *above;
	struct mutex join_lock;
	struct mutex lock;
	struct weft_config config;
	unsigned int mounts;
	u32 life;
	spinlock_t dead_lock;
	u64 fenced;
	u32 lease_ms;
	bool joined;
	bool returning;
	struct delayed_work heartbeat;
};

/**
 * weft_member_up() - configure the node and open its transports
 * @cfg: see net/config.h
 * @extack: receives a sentence for an error; may be NULL
 *
 * Return: 0; -EBUSY: it is up already; -EINVAL, -ENODEV, -EADDRNOTAVAIL: of the interface;
 * as weft_transport_open().
 */
int weft_member_up(struct weft_member *m, const struct weft_config *cfg,
		   struct netlink_ext_ack *extack);

/**
 * weft_member_down() - close the transports, forget configuration and key
 *
 * Return: 0; -EBUSY while a file system is mounted; -ENOTCONN if it is not up.
 */
int weft_member_down(struct weft_member *m, struct netlink_ext_ack *extack);

/* Copy of the configuration in use.  Return: 0 or -ENOTCONN. */
int weft_member_config(struct weft_member *m, struct weft_config *cfg);

/**
 * weft_member_tune() - change a node that is up
 * @timeout_ms: new value; 0: keep it
 * @hold_us: new value; -1: keep it
 *
 * The caller has checked the values.  Return: 0 or -ENOTCONN.
 */
int weft_member_tune(struct weft_member *m, u32 timeout_ms, int hold_us,
		     struct netlink_ext_ack *extack);

/* Return: 0 or -ENOTCONN. */
int weft_member_status(struct weft_member *m, struct weft_member_status *status);

/**
 * weft_member_peers() - members whose addresses this node knows, this node among them
 * @peer: room for WEFT_PEERS_MAX
 *
 * Return: how many, or -ENOTCONN.
 */
int weft_member_peers(struct weft_member *m, struct weft_peer_info *peer);

/**
 * weft_member_join() - JOIN the rack, for a mount
 * @other: out, with -EEXIST: address of the node that has this id
 *
 * weft_member_down() is refused until weft_member_leave().  Sleeps; killable.
 *
 * Return: 0; -ENOTCONN: not up; -EEXIST; -EAGAIN: the first blade was not ready for this node
 * until the time-out; -EINTR; as weft_rpc_call().
 */
int weft_member_join(struct weft_member *m, __be32 *other);
void weft_member_leave(struct weft_member *m);

/**
 * weft_member_fence() - take messages from dead nodes no more
 * @dead: bits of nodes that the first blade has declared dead
 *
 * Until the blade has removed them from the rack.  Process context.
 *
 * Return: false if this node has left the rack.
 */
bool weft_member_fence(struct weft_member *m, u32 dead);

/* Send a heartbeat now: a peer is unknown here, or this clock is wrong.  Any context. */
void weft_member_refresh(struct weft_member *m);

/*
 * @node, @ops: stay the caller's.  weft_member_exit(), with nothing mounted, takes the node down
 * if it is up.
 */
void weft_member_init(struct weft_member *m, struct weft_node *node,
		      const struct weft_member_ops *ops);
void weft_member_exit(struct weft_member *m);

/**
 * weft_moved_recv() - TWIN: the twin of a blade has taken over, at another address
 * @msg: its CALL
 * @call: the call in @msg; overwritten by the reply
 *
 * Replies if the address is that of the newest view.  Not by the queue of fs/callback, whose calls
 * may be waiting for the blade that died.  Softirq.
 */
void weft_moved_recv(struct weft_member *m, const struct weft_msg *msg, struct weft_call *call);

#endif /* WEFT_MEMBER_H */
