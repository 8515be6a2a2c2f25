/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots of regions, blocks and locks of this node, one by one, for control/netlink_list. May
 * take no reference to an inode and keep nothing between two calls: a slow reader of a list must
 * not hold up an unmount.  Process context.
 */
#ifndef WEFT_INSPECT_H
#define WEFT_INSPECT_H

#include "core/call.h"

struct weft_rack;

/**
 * struct weft_region_info - a region that this node knows
 * @region: its number
 * @block: bytes of a block
 * @lines: number of blocks in the cache
 * @locks: number of locks that programs have open
 * @size: bytes
 * @policy: WEFT_POLICY_*
 * @nodes: bits of the nodes that may use it, 0: all
 * @homes: bits of the blades that are its homes
 * @gone: the catalog has deleted it
 * @name: "": it has no name in the directory any more
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
 * @op: enum weft_op, the request that is outstanding
 * @dirty: the home does not have its contents
 * @revoking: its mappings are being revoked
 * @ahead: it was read ahead, and no program has used it yet
 * @waiters: threads that wait for it, or are just using it
 * @misses: times that it, or the permission to write it, was fetched
 * @revocations: times that another node took it, or the permission to write it
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
 * @want: the permission that the node requests, as @state
 * @open: programs have it open
 * @writer: a program holds it to write
 * @tenured: this node keeps the queue
 * @revoking: the node has to give it up
 * @readers: number of read locks of programs
 * @waiters: threads of this node that wait for it in the kernel
 * @queue: other nodes in the queue that this node knows of
 * @grants: times that it was granted to this node
 * @hand_overs: times that this node handed it over
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
 * The first object at or after @region, @index or @key, which are set to it.
 * Return: false: there is none.
 */
bool weft_inspect_region(struct weft_rack *rack, u32 *region,
			 struct weft_region_info *info);
bool weft_inspect_line(struct weft_rack *rack, u32 region, u64 *index,
		       struct weft_line_info *info);

/* Locks by the names of their lines, up to @last, inclusive. */
bool weft_inspect_lock(struct weft_rack *rack, u64 *key, u64 last,
		       struct weft_lock_info *info);

/**
 * weft_inspect_allowed() - may the current credentials see a region?
 * @contents: its blocks and locks, which needs the permission to read the file; else only that it
 *	exists, which needs the permission to list the directory
 */
bool weft_inspect_allowed(struct weft_rack *rack, u32 region, bool contents);

#endif /* WEFT_INSPECT_H */
