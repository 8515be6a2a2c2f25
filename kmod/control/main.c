// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module init and exit; making and freeing a rack, for fs/racks; and the calls upwards: what a
 * layer has for one above it arrives here and is passed on.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "blocks/arrive.h"
#include "blocks/evict.h"
#include "blocks/pages.h"
#include "control/netlink.h"
#include "control/netlink_event.h"
#include "fs/callback.h"
#include "fs/dir.h"
#include "fs/lifetime.h"
#include "fs/openstate.h"
#include "fs/rack.h"
#include "fs/racks.h"
#include "fs/recovery.h"
#include "fs/super.h"
#include "locks/arrive.h"
#include "locks/lockres.h"
#include "locks/release.h"
#include "locks/slots.h"
#include "net/outbox.h"
#include "net/recv.h"
#include "net/transport.h"
#include "weft_version.h"

#define HOME_WORKERS	16	/* of weft_rack.home_wq: inodes that it serves at a time */

static struct weft_rack *rack_of(struct weft_node *node)
{
	return container_of(node, struct weft_rack, node);
}

static void recv_block(struct weft_node *node, const struct weft_packet *packet)
{
	weft_block_recv(&rack_of(node)->cache, packet);
}

static void recv_lock(struct weft_node *node, const struct weft_msg *msg)
{
	weft_lockres_recv(&rack_of(node)->locks, msg);
}

static void recv_call(struct weft_node *node, const struct weft_msg *msg)
{
	weft_callback_recv(rack_of(node), msg);
}

static void posted_closed(struct weft_node *node, struct weft_posted *posted)
{
	weft_block_closed(&rack_of(node)->cache, posted);
}

static const struct weft_receivers receivers = {
	.block = recv_block,
	.lock = recv_lock,
	.call = recv_call,
	.closed = posted_closed,
};

static void refresh(struct weft_node *node)
{
	weft_member_refresh(&rack_of(node)->member);
}

static void forgotten(struct weft_member *m)
{
	(void)weft_callback_run(container_of(m, struct weft_rack, member), weft_recover_all_lost);
}

static int back(struct weft_member *m)
{
	return weft_callback_run(container_of(m, struct weft_rack, member), weft_recover_opens);
}

static void moved(struct weft_member *m)
{
	weft_callback_again(container_of(m, struct weft_rack, member), 0);
}

static const struct weft_member_ops member_ops = {
	.forgotten = forgotten,
	.back = back,
	.moved = moved,
};

static void rack_free(struct weft_rack *rack)
{
	/* after this no message arrives; the callbacks that have arrived are still answered */
	weft_member_exit(&rack->member);
	weft_callback_free(rack->callback);
	weft_openstate_free(rack->opened);
	weft_told_free(rack->told);
	if (rack->home_wq)
		destroy_workqueue(rack->home_wq);
	weft_locks_exit(&rack->locks);
	weft_cache_exit(&rack->cache);
	weft_node_exit(&rack->node);
	kfree(rack);
}

/* The quicker ones first. */
static const struct weft_transport *const transports[] = {
	&weft_memory, &weft_module_transport, &weft_udp, NULL
};

static struct weft_rack *rack_make(u32 number)
{
	struct weft_rack *rack = kzalloc(sizeof(*rack), GFP_KERNEL);

	if (!rack)
		return NULL;
	rack->number = number;
	if (weft_node_init(&rack->node, &receivers, refresh))
		goto no_node;
	if (weft_cache_init(&rack->cache, &rack->node))
		goto no_cache;
	weft_locks_init(&rack->locks, &rack->node, &rack->cache.regions);
	weft_member_init(&rack->member, &rack->node, &member_ops);
	weft_dir_init(rack);
	rack->node.transports = transports;
	/* WQ_MEM_RECLAIM: inodes that reclaim finds unused write their blocks home here */
	rack->home_wq = alloc_workqueue("weft-home", WQ_UNBOUND | WQ_MEM_RECLAIM, HOME_WORKERS);
	rack->callback = weft_callback_new(rack);
	rack->opened = weft_openstate_new();
	rack->told = weft_told_new(rack);
	if (rack->home_wq && rack->callback && rack->opened && rack->told)
		return rack;
	rack_free(rack);
	return NULL;

no_cache:
	weft_node_exit(&rack->node);
no_node:
	kfree(rack);
	return NULL;
}

static const struct weft_rack_ops rack_ops = {
	.make = rack_make,
	.free = rack_free,
};

static int racks_init(void)
{
	return weft_racks_init(&rack_ops);
}

/* In this order, and back. */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} parts[] = {
	{ weft_lifetime_init, weft_lifetime_exit },
	{ weft_lockres_init, weft_lockres_exit },
	{ weft_release_setup, weft_release_cleanup },
	{ weft_packet_init, weft_packet_exit },
	{ weft_outbox_setup, weft_outbox_cleanup },
	{ racks_init, weft_racks_exit },
	{ weft_super_init, weft_super_exit },
	{ weft_netlink_init, weft_netlink_exit },
};

/* Nothing is mounted: a mount has a reference to the module. */
static void exit_parts(size_t n)
{
	while (n--)
		parts[n].exit();
}

static int __init weft_init(void)
{
	size_t n;
	int err;

	weft_pages_init();
	for (n = 0; n < ARRAY_SIZE(parts); n++) {
		err = parts[n].init();
		if (err) {
			exit_parts(n);
			return err;
		}
	}
	return 0;
}

static void __exit weft_exit(void)
{
	exit_parts(ARRAY_SIZE(parts));
	weft_lockquota_exit();
}

module_init(weft_init);
module_exit(weft_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION(WEFT_VERSION);
MODULE_DESCRIPTION("One coherent memory for the machines of a rack");
