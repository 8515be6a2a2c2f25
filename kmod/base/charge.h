/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whom the memory of the cache is charged to.
 *
 * A block in the cache is the node's: it stays when the program that faulted first has
 * ended, serves programs of all control groups, and goes when the cache needs room or
 * another node wants it, not when that program's group is short of memory.  Charged to
 * that group it would be memory that the group cannot get back: its programs would be
 * killed for a cache that "mount -o cache=" bounds for the whole node.  So pages of the
 * cache, and what inodes need as long as there are such pages, belong to the root group.
 *
 * What a program asks the kernel to keep for itself, its locks above all, is charged to
 * its group as usual (GFP_KERNEL_ACCOUNT).
 */
#ifndef WEFT_CHARGE_H
#define WEFT_CHARGE_H

#include <linux/memcontrol.h>
#include <linux/sched/mm.h>

/* The root group; NULL: the kernel knows no groups. */
extern struct mem_cgroup *weft_charge_root;

/* From here on this thread's allocations are the node's.  Nests. */
static inline struct mem_cgroup *weft_charge_node(void)
{
	return set_active_memcg(weft_charge_root);
}

/* @old: what weft_charge_node() returned. */
static inline void weft_charge_end(struct mem_cgroup *old)
{
	set_active_memcg(old);
}

/* When the module is loaded. */
void weft_charge_init(void);

#endif /* WEFT_CHARGE_H */
