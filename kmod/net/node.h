/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * This node as the lower layers see it: its number, its home blades, its key, and the
 * nodes that are in the rack with it.  rack/member.c writes all of it.
 */
#ifndef WEFT_NODE_H
#define WEFT_NODE_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "core/line.h"
#include "core/tag.h"

/**
 * struct weft_node - this node
 * @up: it is configured, and its socket is open
 * @id: WEFT_NODE_MIN..WEFT_NODE_MAX
 * @homes: number of memory blades
 * @ifindex: interface that leads to the rack
 * @rack: number of the rack
 * @fragment: bytes of payload in a full fragment
 * @timeout_ms: how long a program waits for the network.  READ_ONCE
 * @hold_us: how long a block stays after a program got it.  READ_ONCE
 * @key: of the rack; not set: it has none
 * @seq: the last sequence number that was given out
 * @members: bits of the nodes in the rack.  READ_ONCE
 * @members_asked: ns, no later than when the first blade was asked for them
 * @failures: heartbeats in a row that the first blade did not answer.  READ_ONCE
 * @answered: when it last answered, jiffies.  READ_ONCE
 *
 * All but those that say READ_ONCE, @seq and @members_asked are constant while @up.
 */
struct weft_node {
	bool up;
	u8 id;
	u8 homes;
	int ifindex;
	u32 rack;
	u32 fragment;
	u32 timeout_ms;
	u32 hold_us;
	struct weft_key key;
	atomic_t seq;
	u32 members;
	u64 members_asked;
	unsigned int failures;
	unsigned long answered;
};

extern struct weft_node weft_node;

#define WEFT_HEARTBEAT_FAILURES	3	/* in a row: the first blade is lost */

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

/*
 * Bits of nodes that may have been in the rack at @since (ns) and still are: all, if
 * no answer of the first blade has said so since.  Any context.
 */
u32 weft_node_members(u64 since);

/*
 * Is this node cut off from its rack?  The first memory blade has missed heartbeats for
 * the time that programs are to wait.  Any context.
 */
bool weft_node_cut_off(void);

#endif /* WEFT_NODE_H */
