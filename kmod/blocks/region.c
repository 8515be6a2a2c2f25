// SPDX-License-Identifier: GPL-2.0-only
/* Regions, and the table that finds them; see region.h. */
#include "blocks/region.h"
#include "weft_wire.h"

void weft_region_init(struct weft_region *r, struct weft_cache *cache,
		      struct address_space *mapping,
		      int (*refresh)(struct weft_region *region))
{
	*r = (struct weft_region){
		.cache = cache, .block_shift = PAGE_SHIFT, .mapping = mapping, .refresh = refresh,
	};
	xa_init(&r->blocks);
}

int weft_region_add(struct weft_regions *regions, struct weft_region *r, u32 id, u8 block_shift)
{
	int err;

	r->id = id;
	r->block_shift = block_shift;
	err = xa_err(xa_store(&regions->table, id, r, GFP_KERNEL));
	if (!err)
		atomic_inc(&regions->n);
	return err;
}

void weft_region_remove(struct weft_regions *regions, struct weft_region *r)
{
	if (xa_cmpxchg(&regions->table, r->id, r, NULL, GFP_KERNEL) == r)
		atomic_dec(&regions->n);
}

struct weft_region *weft_region_next(struct weft_regions *regions, u32 *id)
{
	unsigned long at = *id;
	struct weft_region *r;

	r = xa_find(&regions->table, &at, WEFT_REGION_MAX, XA_PRESENT);
	*id = (u32)at;
	return r;
}
