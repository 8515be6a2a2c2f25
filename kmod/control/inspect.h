/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this node has of a rack, one after the other, for the netlink family.
 *
 * Nothing is kept between two calls, and no reference to an inode is ever taken:
 * a list that somebody reads slowly must not hold up unmounting.  So what comes
 * and goes meanwhile is in the list or not.  A lock is held for one object only.
 * Process context.
 */
#ifndef WEFT_INSPECT_H
#define WEFT_INSPECT_H

#include "core/call.h"

struct weft_rack;

/**
 * struct weft_region_info - a region that this node knows
 * @region: its number
 * @block: bytes of a block
 * @lines: blocks in the cache
 * @locks: that programs have open
 * @size: bytes
 * @policy: WEFT_POLICY_*
 * @nodes: bits of those that may use it, 0: all
 * @homes: bits of the blades that are homes of its lines
 * @gone: it does not exist any more
 * @name: "" if it is not in the directory any more
 */
struct weft_region_info {
	u32 region;
	u32 block;
	u32 lines;
	u32 locks;
	u64 size;
	u32 policy;
	u32 nodes;
	u32 homes;
	bool gone;
	char name[WEFT_NAME_MAX + 1];
};

/**
 * struct weft_line_info - a block in the cache
 * @region: of which region
 * @index: number of the block
 * @state: WEFT_I, WEFT_S or WEFT_M
 * @op: enum weft_op, what the node is asking for
 * @dirty: the home does not have its contents
 * @revoking: the programs are losing it
 * @ahead: it was read ahead, and nobody came for it yet
 * @waiters: threads that wait for it, or are just using it
 * @misses: how often it came
 * @revocations: how often another node took it, or the right to write it
 */
struct weft_line_info {
	u32 region;
	u64 index;
	u8 state;
	u8 op;
	bool dirty;
	bool revoking;
	bool ahead;
	u32 waiters;
	u32 misses;
	u32 revocations;
};

/**
 * struct weft_lock_info - a lock that the node has, or asks for
 * @region: of which region
 * @offset: where in it
 * @state: WEFT_I, WEFT_S or WEFT_M
 * @want: the same, what the node is asking for
 * @open: programs have it open
 * @writer: a program holds it to write
 * @tenured: this node keeps the queue
 * @revoking: the node has to give it up
 * @readers: how often programs hold it to read
 * @waiters: threads of this node that wait for it in the kernel
 * @queue: other nodes that wait for it, as far as this one knows
 * @grants: how often it came
 * @hand_overs: how often it was handed over
 */
struct weft_lock_info {
	u32 region;
	u64 offset;
	u8 state;
	u8 want;
	bool open;
	bool writer;
	bool tenured;
	bool revoking;
	u32 readers;
	u32 waiters;
	u32 queue;
	u32 grants;
	u32 hand_overs;
};

/*
 * The first one at or after the one that is named, which is set to it.  Return:
 * false: there is none.
 */
bool weft_inspect_region(struct weft_rack *rack, u32 *region,
			 struct weft_region_info *info);
bool weft_inspect_line(struct weft_rack *rack, u32 region, u64 *index,
		       struct weft_line_info *info);

/* By the names of their lines, up to and with @last. */
bool weft_inspect_lock(struct weft_rack *rack, u64 *key, u64 last,
		       struct weft_lock_info *info);

/**
 * weft_inspect_allowed() - may the current credentials see that?
 * @contents: what is in the region, as who may read the file; else that it is there, as who
 *	may list the directory
 */
bool weft_inspect_allowed(struct weft_rack *rack, u32 region, bool contents);

#endif /* WEFT_INSPECT_H */
