/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that this machine has of a rack: itself as a node of it, the cache, the locks, its
 * membership.
 */
#ifndef WEFT_RACK_H
#define WEFT_RACK_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "blocks/cache.h"
#include "locks/klock.h"
#include "net/node.h"
#include "rack/member.h"

struct weft_openstate;
struct weft_callback;
struct weft_told;

/**
 * struct weft_rack - a rack
 * @number: of all racks of this machine it has this one; constant.  Messages say that of
 *	@node
 * @refs: of the list, of mounts, of netlink commands and lists that are half read
 * @list: see racks.h
 * @node: this machine in it
 * @cache: blocks that it has
 * @locks: locks that it has
 * @member: joining it, leaving it
 * @callback: calls of its blades, see callback.h
 * @opened: regions that its first blade knows to be open here, see openstate.h
 * @home_wq: what inodes that no program uses any more have to tell
 * @renewed: locks and open regions that renewals of directories are done with
 * @told: what listeners to events were told, see control/netlink_event.h
 * @sweep: looks names up again, see dir.c
 * @sweep_next: the region that it looked at last
 * @again: after the death of a node, what it did not answer is asked for again; see callback.c
 * @again_region: of this region; 0: of all.  READ_ONCE
 * @again_ms: until then; of @again, and of who begins anew.  READ_ONCE
 * @instance: bit 0: it is mounted, see super.c
 */
struct weft_rack {
	u32 number;
	refcount_t refs;
	struct list_head list;
	struct weft_node node;
	struct weft_cache cache;
	struct weft_locks locks;
	struct weft_member member;
	struct weft_callback *callback;
	struct weft_openstate *opened;
	struct weft_told *told;
	struct workqueue_struct *home_wq;
	atomic64_t renewed;
	struct delayed_work sweep;
	u32 sweep_next;
	struct delayed_work again;
	u32 again_region;
	unsigned int again_ms;
	unsigned long instance;
};

#endif /* WEFT_RACK_H */
