// SPDX-License-Identifier: GPL-2.0-only
/*
 * Home blades of regions.  Looked up for each message (node.h, peer.c), set by fs/policy.c and
 * rack/member.c.  A look-up takes no lock and allocates nothing.
 */
#include <linux/lockdep.h>

#include "net/place.h"

#define LEFT	XA_MARK_0

void weft_places_init(struct weft_places *places)
{
	places->blades = 0;
	xa_init(&places->table);
	atomic_set(&places->n, 0);
	places->left = 0;
	mutex_init(&places->lock);
}

void weft_places_exit(struct weft_places *places)
{
	xa_destroy(&places->table);
}

void weft_places_begin(struct weft_places *places, u32 blades)
{
	weft_places_forget(places);
	places->blades = blades;
}

void weft_places_forget(struct weft_places *places)
{
	mutex_lock(&places->lock);
	atomic_set(&places->n, 0);
	xa_destroy(&places->table);
	places->left = 0;
	mutex_unlock(&places->lock);
}

u32 weft_place_look(const struct weft_places *places, u32 region)
{
	/* xa_load() takes no const, and changes nothing */
	void *homes = xa_load((struct xarray *)&places->table, region);

	return homes ? (u32)xa_to_value(homes) : weft_first_homes(places->blades);
}

static void forget(struct weft_places *places, u32 region)
{
	places->left -= xa_get_mark(&places->table, region, LEFT);
	if (__xa_erase(&places->table, region))
		atomic_dec(&places->n);
}

static void known(struct weft_places *places, u32 region)
{
	places->left -= xa_get_mark(&places->table, region, LEFT);
	__xa_clear_mark(&places->table, region, LEFT);
}

int weft_place_set(struct weft_places *places, u32 region, u32 homes)
{
	void *old;

	lockdep_assert_held(&places->lock);
	if (!homes || homes == weft_first_homes(places->blades)) {
		xa_lock(&places->table);
		forget(places, region);
		xa_unlock(&places->table);
		return 0;
	}
	old = xa_store(&places->table, region, xa_mk_value(homes), GFP_KERNEL);
	if (xa_is_err(old))
		return xa_err(old);
	if (!old)
		atomic_inc(&places->n);
	xa_lock(&places->table);
	known(places, region);
	xa_unlock(&places->table);
	return 0;
}

void weft_place_leave(struct weft_places *places, u32 region)
{
	if (!atomic_read(&places->n))
		return;
	xa_lock(&places->table);
	if (xa_load(&places->table, region) && !xa_get_mark(&places->table, region, LEFT)) {
		__xa_set_mark(&places->table, region, LEFT);
		places->left++;
	}
	xa_unlock(&places->table);
}

void weft_places_trim(struct weft_places *places, bool (*used)(void *arg, u32 region), void *arg)
{
	unsigned long region;
	void *homes;

	if (READ_ONCE(places->left) < WEFT_PLACES_LEFT)
		return;
	xa_for_each_marked(&places->table, region, homes, LEFT) {
		xa_lock(&places->table);
		/* the node may know the region again */
		if (xa_get_mark(&places->table, region, LEFT) && !used(arg, (u32)region))
			forget(places, (u32)region);
		xa_unlock(&places->table);
	}
}
