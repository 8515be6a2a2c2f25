/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where open files of a region list what they read-lock, so that readers share nothing:
 * see docs/kernel.md, "Readers share nothing".
 */
#ifndef WEFT_LISTS_H
#define WEFT_LISTS_H

#include <linux/bitmap.h>
#include <linux/mm_types.h>

#include "weft.h"

struct weft_lockfile;
struct weft_slots;

#define WEFT_ENTRIES_A_PAGE	(PAGE_SIZE / sizeof(u32))
/* Of a struct weft_holds the first pages: of files that may list what they read-lock. */
#define WEFT_LIST_PAGES		(WEFT_LIST_CELLS * sizeof(struct weft_cell) / PAGE_SIZE)

/**
 * struct weft_lists - where open files of a region list what they read-lock
 * @used: places that are a file's.  weft_slots.lock
 * @page: of each place, the first pages of its struct weft_holds.  They stay when the
 *	file is gone, so that who looks through them, under the lock of a lock, needs
 *	no other; wiped before the next file gets the place.  Written under
 *	weft_slots.lock, once
 *
 * As many as can be looked through in some microseconds with interrupts' bottom halves
 * off: WEFT_LIST_FILES times 8 KiB.
 */
struct weft_lists {
	DECLARE_BITMAP(used, WEFT_LIST_FILES);
	struct page *page[WEFT_LIST_FILES][WEFT_LIST_PAGES];
};

/**
 * weft_holds_listed() - how many read-lock a slot and are in lists
 *
 * It is preceded by a full barrier, the partner of those of who lists it.
 */
u32 weft_holds_listed(const struct weft_lists *lists, u32 slot);

/*
 * The file may list what it read-locks, if there is a place and memory for it.  Before
 * programs have anything of it mapped.
 */
void weft_lists_join(struct weft_slots *slots, struct weft_lockfile *lf)
	__must_hold(&slots->lock);

/* The file is gone: nobody reads what it lists. */
void weft_lists_leave(struct weft_slots *slots, struct weft_lockfile *lf)
	__must_hold(&slots->lock);

/* No lock of these slots is there any more that could look at it. */
void weft_lists_drop(struct weft_slots *slots) __must_hold(&slots->lock);

#endif /* WEFT_LISTS_H */
