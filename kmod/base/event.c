// SPDX-License-Identifier: GPL-2.0-only
/* Makes events of what the layers notice, see event.h. */
#include <linux/sched.h>

#include "base/event.h"
#include "weft_netlink.h"

static void (*listening)(const struct weft_event *event, gfp_t gfp);
static BLOCKING_NOTIFIER_HEAD(chain);

void weft_event_listen(void (*listener)(const struct weft_event *event, gfp_t gfp))
{
	WRITE_ONCE(listening, listener);
}

static void tell(const struct weft_event *event, gfp_t gfp)
{
	void (*listener)(const struct weft_event *event, gfp_t gfp) = READ_ONCE(listening);

	if (listener)
		listener(event, gfp);
}

void weft_event_created(const struct weft_node *node, u32 region, const char *name, size_t len)
{
	const struct weft_event e = {
		.node = node, .kind = WEFT_EVENT_KIND_REGION_CREATED, .region = region, .name = name,
		.name_len = len, .process = true,
	};

	tell(&e, GFP_KERNEL);
}

void weft_event_removed(const struct weft_node *node, u32 region, const char *name,
			size_t len, bool here)
{
	const struct weft_event e = {
		.node = node, .kind = WEFT_EVENT_KIND_REGION_REMOVED, .region = region, .name = name,
		.name_len = len, .process = here,
	};

	tell(&e, GFP_KERNEL);
}

void weft_event_abandoned(const struct weft_node *node, u32 region, u64 offset, u32 holds)
{
	const struct weft_event e = {
		.node = node, .kind = WEFT_EVENT_KIND_LOCK_ABANDONED, .region = region,
		.has_offset = true, .offset = offset, .count = holds,
		/* a kernel thread settles what could not be settled at once */
		.process = !(current->flags & PF_KTHREAD),
	};

	/* the caller holds the mutex of the region's slots, which inode eviction takes */
	tell(&e, GFP_NOFS);
}

void weft_event_owner_died(const struct weft_node *node, u32 region, u64 offset)
{
	const struct weft_event e = {
		.node = node, .kind = WEFT_EVENT_KIND_LOCK_OWNER_DIED, .region = region,
		.has_offset = true, .offset = offset,
	};

	tell(&e, GFP_ATOMIC);
}

void weft_event_lost(const struct weft_node *node, u32 region, u64 blocks)
{
	const struct weft_event e = {
		.node = node, .kind = WEFT_EVENT_KIND_BLOCKS_LOST, .region = region, .count = blocks,
	};

	/* inode eviction runs when memory is short, too */
	tell(&e, GFP_NOFS);
}

void weft_event_failed(const struct weft_node *node, u32 region, u64 offset, int err)
{
	const struct weft_event e = {
		.node = node, .kind = WEFT_EVENT_KIND_ACCESS_FAILED, .region = region,
		.has_offset = true, .offset = offset, .err = (u32)-err, .process = true,
	};

	/* memory may be what the access failed for */
	tell(&e, GFP_NOWAIT | __GFP_NOWARN);
}

void weft_event_unanswered(const struct weft_node *node, u32 region, u64 offset, u32 tries)
{
	const struct weft_event e = {
		.node = node, .kind = WEFT_EVENT_KIND_UNANSWERED, .region = region,
		.has_offset = true, .offset = offset, .count = tries,
	};

	tell(&e, GFP_ATOMIC);
}

void weft_event_dead(const struct weft_node *node, u32 member)
{
	const struct weft_event e = {
		.node = node, .kind = WEFT_EVENT_KIND_NODE_DEAD, .member = member,
	};

	tell(&e, GFP_KERNEL);
}

void weft_event_moved(const struct weft_node *node, u32 member, __be32 addr)
{
	const struct weft_event e = {
		.node = node, .kind = WEFT_EVENT_KIND_BLADE_MOVED, .member = member,
		.addr = addr,
	};

	tell(&e, GFP_ATOMIC);
}

/* --- membership -------------------------------------------------------------- */

int weft_node_notifier_register(struct notifier_block *nb)
{
	return blocking_notifier_chain_register(&chain, nb);
}

int weft_node_notifier_unregister(struct notifier_block *nb)
{
	return blocking_notifier_chain_unregister(&chain, nb);
}

void weft_node_event(enum weft_node_event_type type, const struct weft_node_event *event)
{
	blocking_notifier_call_chain(&chain, type, (void *)event);
}
