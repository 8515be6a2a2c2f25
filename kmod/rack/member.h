/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * This machine as a member of a rack: its configuration, joining and leaving, heartbeats.
 *
 * There is one node in each rack.  It is configured with weft_member_up(); the first
 * mount joins the rack, the last unmount leaves it.
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

/**
 * struct weft_member_status - what a configured node is doing
 * @joined: it is a member of its rack
 * @answered_ms: milliseconds since the first memory blade last answered
 * @life: number of this life
 * @key_set: the rack has a key
 * @fingerprint: of the key
 * @refused: the last message that was refused for who sent it, since the node is up
 * @members: bits of the nodes of the rack
 * @lease_ms: a node that is silent for so long is dead; 0: never is
 */
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

/**
 * struct weft_peer_info - another member
 * @id: nodes and blades
 * @addr: its address
 * @twin: of a blade: where it goes on if its machine dies; 0: nowhere
 * @view: of a blade with a twin: raised each time that it does; 0: not heard of yet
 */
struct weft_peer_info {
	u32 id;
	__be32 addr;
	__be32 twin;
	u32 view;
};

/**
 * struct weft_member_ops - what the layers above do
 * @forgotten: the rack has forgotten this node, and nobody has asked it for what it has: all of
 *	that is dropped
 * @back: it is a member again: the first blade is told what is open here.  Returns 0; else it is
 *	to be told again
 * @moved: a blade is somewhere else: what it was asked is asked there.  Any context
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
 * @node: which
 * @above: the layers above
 * @join_lock: joining and leaving, one at a time.  They ask the network with it, so nothing
 *	else takes it: commands of netlink must not wait for that
 * @lock: weft_node.up, @config, @life, @mounts; orders up and down.  While @mounts is not 0
 *	the node stays up as it is: who counts there may read these without it, but for what
 *	weft_member_tune() changes
 * @config: in use
 * @mounts: from before the attempt to join till after LEAVE
 * @life: number of this life
 * @dead_lock: weft_node.dead, @fenced; taken without another one
 * @fenced: when weft_node.dead last grew, ns
 * @lease_ms: a node that is silent for so long is dead; 0: never is.  Of @heartbeat,
 *	READ_ONCE
 * @joined: written, as the members, the failures and the last answer in @node, by join,
 *	leave and heartbeat, which exclude each other
 * @returning: the rack had forgotten this node, and has not heard since what is open here.  Of
 *	@heartbeat, while there is one
 * @heartbeat: once a second while it is a member
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
 * weft_member_up() - configure the node and open its socket
 * @cfg: see net/config.h
 * @extack: receives a sentence in case of an error; may be NULL
 *
 * Return: 0; -EBUSY if it is up already; -EINVAL, -ENODEV, -EADDRNOTAVAIL,
 * -EADDRINUSE and what the network says.
 */
int weft_member_up(struct weft_member *m, const struct weft_config *cfg,
		   struct netlink_ext_ack *extack);

/**
 * weft_member_down() - close the socket, forget the configuration
 *
 * Return: 0; -EBUSY while a file system is mounted; -ENOTCONN if it is not up.
 */
int weft_member_down(struct weft_member *m, struct netlink_ext_ack *extack);

/* Copy of the configuration in use.  Return: 0 or -ENOTCONN. */
int weft_member_config(struct weft_member *m, struct weft_config *cfg);

/**
 * weft_member_tune() - change a running node
 * @timeout_ms: new value, or 0 to leave it
 * @hold_us: new value, or -1 to leave it
 *
 * Return: 0; -EINVAL, -ENOTCONN.
 */
int weft_member_tune(struct weft_member *m, u32 timeout_ms, int hold_us,
		     struct netlink_ext_ack *extack);

/* Return: 0 or -ENOTCONN. */
int weft_member_status(struct weft_member *m, struct weft_member_status *status);

/**
 * weft_member_peers() - members that we know the address of
 * @peer: room for WEFT_PEERS_MAX
 *
 * Return: how many, or -ENOTCONN.
 */
int weft_member_peers(struct weft_member *m, struct weft_peer_info *peer);

/**
 * weft_member_join() - become a member of the rack, for a mount
 *
 * Takes a reference that weft_member_leave() gives back; weft_member_down() is
 * refused until then.
 *
 * Return: 0; -ENOTCONN: not up; -EEXIST: another node has our id (its address in
 * @other); -EAGAIN: the first blade was not ready for this node all the time; and what weft_rpc_catalog() says.
 */
int weft_member_join(struct weft_member *m, __be32 *other);
void weft_member_leave(struct weft_member *m);

/**
 * weft_member_fence() - the first blade says that nodes are dead
 * @dead: bits of them
 *
 * They are until the blade has taken them out of the rack.  Process context.
 *
 * Return: false if this node has left it.
 */
bool weft_member_fence(struct weft_member *m, u32 dead);

/* A peer is unknown, or our clock is wrong: ask the first blade at once.  Any context. */
void weft_member_refresh(struct weft_member *m);

/*
 * @node, @ops: stay the caller's.  When it goes nothing is mounted; it is taken down, if it
 * is up.
 */
void weft_member_init(struct weft_member *m, struct weft_node *node,
		      const struct weft_member_ops *ops);
void weft_member_exit(struct weft_member *m);

/* A memory blade whose twin has taken over: it is at another address now. */

/**
 * weft_moved_recv() - a blade says where it is
 * @msg: its CALL
 * @call: TWIN; overwritten by the reply
 *
 * It is answered if the blade is there as far as this node knows afterwards.  At once, whatever
 * else blades have asked for: that may wait for the one that is dead.  Softirq.
 */
void weft_moved_recv(struct weft_member *m, const struct weft_msg *msg, struct weft_call *call);

#endif /* WEFT_MEMBER_H */
