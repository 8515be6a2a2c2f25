// SPDX-License-Identifier: GPL-2.0-only
/* All that this machine has of a rack, see rack.h. */
#include "blocks/evict.h"
#include "fs/rack.h"

struct weft_rack weft_rack;

int weft_rack_init(struct weft_rack *rack, const struct weft_receivers *receivers,
		   const struct weft_member_ops *ops,
		   void (*refresh)(struct weft_node *node))
{
	int err = weft_node_init(&rack->node, receivers, refresh);

	if (err)
		return err;
	err = weft_cache_init(&rack->cache, &rack->node);
	if (err) {
		weft_node_exit(&rack->node);
		return err;
	}
	weft_locks_init(&rack->locks, &rack->node);
	weft_member_init(&rack->member, &rack->node, ops);
	return 0;
}

void weft_rack_exit(struct weft_rack *rack)
{
	weft_member_exit(&rack->member);
	weft_locks_exit(&rack->locks);
	weft_cache_exit(&rack->cache);
	weft_node_exit(&rack->node);
}
