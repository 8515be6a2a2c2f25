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

/**
 * weft_rack_init() - a rack that this machine is not a member of yet
 * @number: its own
 * @receivers: what messages are for
 * @ops: what its membership has for the layers above
 * @refresh: see struct weft_node
 *
 * What the layers above it have there (its recall, opened, sweep and told) is still to be
 * made.
 *
 * Return: 0 or -ENOMEM.
 */
int weft_rack_init(struct weft_rack *rack, u32 number,
		   const struct weft_receivers *receivers, const struct weft_member_ops *ops,
		   void (*refresh)(struct weft_node *node));

/* It is left, nothing of it is mounted, and no message of it is worked on. */
void weft_rack_exit(struct weft_rack *rack);

#endif /* WEFT_RACK_H */
