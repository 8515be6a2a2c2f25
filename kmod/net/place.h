/* SPDX-License-Identifier: GPL-2.0-only */
/* Which blades are the homes of a region's lines.  For net/, fs/policy.c and rack/member.c. */
#ifndef WEFT_PLACE_H
#define WEFT_PLACE_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "core/types.h"

/*
 * Entries that may be kept for regions that this node does not know any more: late messages may
 * be about them.
 */
#define WEFT_PLACES_LEFT	4096

/*
 * Home blades of all regions.
 *
 * Most regions have the blades that the configuration names as homes, and no entry.  Others are
 * in a table from the moment that this node hears of them until it leaves the rack or has long
 * been through with the region.
 */
struct weft_places {
	/*
	 * a region that is not in @table has the first blades, as many; constant while the node
	 * is up
	 */
	u32 blades;
	/*
	 * homes of other regions by number: bits as in struct weft_call; marked: the region is
	 * not known here any more.  Looked up under RCU
	 */
	struct xarray table;
	atomic_t n;		/* entries of @table */
	u32 left;		/* marked entries.  Under the lock of @table */
	struct mutex lock;	/* serialises weft_place_set() */
};

void weft_places_init(struct weft_places *places);
void weft_places_exit(struct weft_places *places);

/* Begin with so many configured blades, knowing nothing of any region.  Process context. */
void weft_places_begin(struct weft_places *places, u32 blades);

/* Forget all regions: nothing is under way.  Process context. */
void weft_places_forget(struct weft_places *places);

/* weft_place_homes() by the table. */
u32 weft_place_look(const struct weft_places *places, u32 region);

/* Bits of a region's homes, bit 0 for blade WEFT_BLADE_MIN.  Any context. */
static inline u32 weft_place_homes(const struct weft_places *places, u32 region)
{
	if (likely(!atomic_read(&places->n)))
		return weft_first_homes(places->blades);
	return weft_place_look(places, region);
}

/* The member that is the home of a line.  Any context. */
static inline u32 weft_place_home(const struct weft_places *places, u64 key)
{
	return WEFT_BLADE_MIN +
	       weft_line_blade(key, weft_place_homes(places, weft_line_region(key)));
}

/*
 * Set the homes of a region that is known here.  @homes: bits; 0: the first blades.  Process
 * context, with @places->lock.  Return: 0 or -ENOMEM.
 */
int weft_place_set(struct weft_places *places, u32 region, u32 homes);

/*
 * The region is not known here any more; messages about it still go to its homes.  Process
 * context.
 */
void weft_place_leave(struct weft_places *places, u32 region);

/**
 * weft_places_trim() - forget homes of regions that are not known here any more
 * @used: is anything of the region still under way?  May not sleep
 *
 * Does nothing below WEFT_PLACES_LEFT such regions.  Process context.
 */
void weft_places_trim(struct weft_places *places, bool (*used)(void *arg, u32 region), void *arg);

#endif /* WEFT_PLACE_H */
