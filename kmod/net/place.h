/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where regions are at home: which blades are the homes of their lines.
 *
 * Most regions of most racks have the first blades that there were, and those that the
 * configuration names are these.  Others are in a table, from the moment that this node
 * hears of it until it leaves the rack or has long been through with the region.
 */
#ifndef WEFT_PLACE_H
#define WEFT_PLACE_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "core/types.h"

/* Entries of regions that this node does not know any more; late messages may be about them. */
#define WEFT_PLACES_LEFT	4096

/**
 * struct weft_places - where regions are at home
 * @blades: as many, the first ones, are the homes of a region that is not in @table; constant
 *	while the node is up
 * @table: the homes of other regions, by their numbers: a value with bits as in struct
 *	weft_call.  With a mark: the region is not known here any more.  Looked up under RCU
 * @n: how many are in @table
 * @left: how many of these have the mark; under the lock of @table
 * @lock: who sets homes, one after the other
 */
struct weft_places {
	u32 blades;
	struct xarray table;
	atomic_t n;
	u32 left;
	struct mutex lock;
};

void weft_places_init(struct weft_places *places);
void weft_places_exit(struct weft_places *places);

/* So many blades are configured, and nothing is known of any region.  Process context. */
void weft_places_begin(struct weft_places *places, u32 blades);

/* Nothing is known of any region any more: nothing is on its way.  Process context. */
void weft_places_forget(struct weft_places *places);

/* The same as weft_place_homes(), by the table. */
u32 weft_place_look(const struct weft_places *places, u32 region);

/* Bits of the homes of a region, bit 0 is blade WEFT_BLADE_MIN.  Any context. */
static inline u32 weft_place_homes(const struct weft_places *places, u32 region)
{
	if (likely(!atomic_read(&places->n)))
		return weft_first_homes(places->blades);
	return weft_place_look(places, region);
}

/* Member that is the home of a line.  Any context. */
static inline u32 weft_place_home(const struct weft_places *places, u64 key)
{
	return WEFT_BLADE_MIN +
	       weft_line_blade(key, weft_place_homes(places, weft_line_region(key)));
}

/**
 * weft_place_set() - a region that is known here has these homes from now on
 * @homes: bits of them; 0: the first ones that there were
 *
 * With @lock of @places.  Process context.  Return: 0 or -ENOMEM.
 */
int weft_place_set(struct weft_places *places, u32 region, u32 homes);

/* It is not known here any more; what is on its way still goes there.  Process context. */
void weft_place_leave(struct weft_places *places, u32 region);

/**
 * weft_places_trim() - forget where regions are that are not known here any more
 * @used: is something of the region, by its number, still on its way?  May not sleep
 *
 * Only if there are WEFT_PLACES_LEFT of them.  Process context.
 */
void weft_places_trim(struct weft_places *places, bool (*used)(void *arg, u32 region), void *arg);

#endif /* WEFT_PLACE_H */
