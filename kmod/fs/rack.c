// SPDX-License-Identifier: GPL-2.0-only
/* All that this machine has of a rack, see rack.h. */
#include "blocks/evict.h"
#include "fs/rack.h"

#define FLUSH_MAX	16	/* inodes whose blocks go home, or whose times are told */

int weft_rack_init(struct weft_rack *rack, u32 number,
		   const struct weft_receivers *receivers, const struct weft_member_ops *ops,
		   void (*refresh)(struct weft_node *node))
{
	int err;

	memset(rack, 0, sizeof(*rack));
	rack->number = number;
	err = weft_node_init(&rack->node, receivers, refresh);
	if (err)
		return err;
	err = weft_cache_init(&rack->cache, &rack->node);
	if (err) {
		weft_node_exit(&rack->node);
		return err;
	}
	weft_locks_init(&rack->locks, &rack->node, &rack->cache.regions);
	weft_member_init(&rack->member, &rack->node, ops);
	/* memory may depend on it */
	rack->home_wq = alloc_workqueue("weft-home", WQ_UNBOUND | WQ_MEM_RECLAIM, FLUSH_MAX);
	if (rack->home_wq)
		return 0;
	weft_rack_exit(rack);
	return -ENOMEM;
}

void weft_rack_exit(struct weft_rack *rack)
{
	weft_member_exit(&rack->member);
	if (rack->home_wq)
		destroy_workqueue(rack->home_wq);
	weft_locks_exit(&rack->locks);
	weft_cache_exit(&rack->cache);
	weft_node_exit(&rack->node);
}
