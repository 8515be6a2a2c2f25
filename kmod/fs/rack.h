/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct weft_rack: all that this machine has of a rack: node, cache, locks, membership.
 * control/main makes and frees it, fs/racks lists it; fs/ and control/ reach the layers through
 * it.
 */
#ifndef WEFT_RACK_H
#define WEFT_RACK_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "blocks/cache.h"
#include "locks/lockres.h"
#include "net/node.h"
#include "rack/member.h"

struct weft_openstate;
struct weft_callback;
struct weft_told;

/**
 * struct weft_rack - a rack that this machine is, or was, a node of
 * @number: by which this machine knows it; constant.  Messages carry the number in @node
 * @refs: of the list, of mounts, of netlink commands, of netlink lists being read
 * @list: see racks.h
 * @node: this machine as a node of the rack
 * @cache: its blocks
 * @locks: its locks
 * @member: membership
 * @callback: calls of its blades, see callback.h
 * @opened: CLOSE calls in flight, see openstate.h
 * @home_wq: gives back blocks of unused inodes, tells times of writes, repeats requests (@again)
 * @renewed: locks and OPENs that recoveries have repeated so far
 * @told: what listeners to events were told, see control/netlink_event.h
 * @sweep: looks up names again, see dir.c
 * @sweep_next: region that @sweep looked at last
 * @again: repeats requests that a dead node or a recovering blade has not answered; see callback.c
 * @again_region: the region of these, 0: all.  READ_ONCE
 * @again_ms: delay of @again, doubled each time.  READ_ONCE
 * @instance: bit 0: a superblock uses the rack, see super.c
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
