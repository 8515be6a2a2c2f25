// SPDX-License-Identifier: GPL-2.0-only
/* The table of regions, see region.h. */
#include "blocks/region.h"
#include "weft_wire.h"

/* By their numbers.  Looked up under RCU. */
static DEFINE_XARRAY(regions);
static atomic_t count = ATOMIC_INIT(0);

void weft_region_init(struct weft_region *r, struct address_space *mapping,
		      int (*refresh)(struct weft_region *region))
{
	r->id = 0;
	r->block_shift = PAGE_SHIFT;
	r->mapping = mapping;
	xa_init(&r->blocks);
	atomic_set(&r->nr_blocks, 0);
	r->refresh = refresh;
}

int weft_region_add(struct weft_region *r, u32 id, u8 block_shift)
{
	int err;

	r->id = id;
	r->block_shift = block_shift;
	err = xa_err(xa_store(&regions, id, r, GFP_KERNEL));
	if (!err)
		atomic_inc(&count);
	return err;
}

void weft_region_remove(struct weft_region *r)
{
	if (xa_cmpxchg(&regions, r->id, r, NULL, GFP_KERNEL) == r)
		atomic_dec(&count);
}

struct weft_region *weft_region_find(u32 id)
{
	return xa_load(&regions, id);
}

struct weft_region *weft_region_next(u32 *id)
{
	unsigned long at = *id;
	struct weft_region *r;

	r = xa_find(&regions, &at, WEFT_REGION_MAX, XA_PRESENT);
	*id = (u32)at;
	return r;
}

u32 weft_region_count(void)
{
	return (u32)atomic_read(&count);
}

void weft_region_exit(void)
{
	xa_destroy(&regions);
}
