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

#define TELL(gfp, n, what, ...) \
	tell(&(const struct weft_event){ .node = (n), .kind = WEFT_EVENT_KIND_##what, __VA_ARGS__ }, gfp)

void weft_event_created(const struct weft_node *node, u32 region, const char *name, size_t len)
{
	TELL(GFP_KERNEL, node, REGION_CREATED, .region = region, .name = name, .name_len = len,
	     .process = true);
}

void weft_event_removed(const struct weft_node *node, u32 region, const char *name, size_t len,
			bool here)
{
	TELL(GFP_KERNEL, node, REGION_REMOVED, .region = region, .name = name, .name_len = len,
	     .process = here);
}

void weft_event_abandoned(const struct weft_node *node, u32 region, u64 offset, u32 holds)
{
	/*
	 * GFP_NOFS: the caller holds the mutex of the region's slots, which inode eviction takes.
	 * A kernel thread settles what could not be settled at once.
	 */
	TELL(GFP_NOFS, node, LOCK_ABANDONED, .region = region, .has_offset = true,
	     .offset = offset, .count = holds, .process = !(current->flags & PF_KTHREAD));
}

void weft_event_owner_died(const struct weft_node *node, u32 region, u64 offset)
{
	TELL(GFP_ATOMIC, node, LOCK_OWNER_DIED, .region = region, .has_offset = true,
	     .offset = offset);
}

void weft_event_lost(const struct weft_node *node, u32 region, u64 blocks)
{
	/* GFP_NOFS: inode eviction runs when memory is short, too */
	TELL(GFP_NOFS, node, BLOCKS_LOST, .region = region, .count = blocks);
}

void weft_event_failed(const struct weft_node *node, u32 region, u64 offset, int err)
{
	/* GFP_NOWAIT: memory may be what the access failed for */
	TELL(GFP_NOWAIT | __GFP_NOWARN, node, ACCESS_FAILED, .region = region,
	     .has_offset = true, .offset = offset, .err = (u32)-err, .process = true);
}

void weft_event_unanswered(const struct weft_node *node, u32 region, u64 offset, u32 tries)
{
	TELL(GFP_ATOMIC, node, UNANSWERED, .region = region, .has_offset = true,
	     .offset = offset, .count = tries);
}

void weft_event_dead(const struct weft_node *node, u32 member)
{
	TELL(GFP_KERNEL, node, NODE_DEAD, .member = member);
}

void weft_event_moved(const struct weft_node *node, u32 member, __be32 addr)
{
	TELL(GFP_ATOMIC, node, BLADE_MOVED, .member = member, .addr = addr);
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
