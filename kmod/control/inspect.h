/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots of regions, blocks and locks of this node, one by one, for control/netlink_list.  May
 * take no reference to an inode and keep nothing between two calls: a slow reader of a list must
 * not hold up an unmount.  Process context.
 */
#ifndef WEFT_INSPECT_H
#define WEFT_INSPECT_H

#include "core/call.h"

struct weft_rack;

/*
 * A region.  Fields are the attributes WEFT_A_REGION_* of uapi/weft_netlink.h; @name is "" if the
 * region has no name any more.
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

/* A block in the cache: WEFT_A_LINE_*. */
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

/* A lock that the node has, or requests: WEFT_A_LOCK_*. */
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
bool weft_inspect_region(struct weft_rack *rack, u32 *region, struct weft_region_info *info);
bool weft_inspect_line(struct weft_rack *rack, u32 region, u64 *index,
		       struct weft_line_info *info);

/* Locks by the names of their lines, up to @last, inclusive. */
bool weft_inspect_lock(struct weft_rack *rack, u64 *key, u64 last, struct weft_lock_info *info);

/**
 * weft_inspect_allowed() - may the current credentials see a region?
 * @contents: its blocks and locks, which needs the permission to read the file; else only that it
 *	exists, which needs the permission to list the directory
 */
bool weft_inspect_allowed(struct weft_rack *rack, u32 region, bool contents);

#endif /* WEFT_INSPECT_H */
