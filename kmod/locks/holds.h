/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What open files hold of locks: the pages of struct weft_holds, which programs write, and how
 * the holds of a closed file are given back.  For lockfile.c and the work item of struct
 * weft_slots.
 */
#ifndef WEFT_HOLDS_H
#define WEFT_HOLDS_H

#include <linux/types.h>

#include "weft.h"

struct page;
struct weft_lockfile;
struct weft_slots;
struct work_struct;

#define WEFT_COUNTS_A_PAGE	(PAGE_SIZE / sizeof(u32))
/* pages of struct weft_holds before the counts */
#define WEFT_CELL_PAGES		(sizeof(struct weft_holds) / PAGE_SIZE)

/* A page of the file's holds, made if it is missing; NULL: no memory.  Process context. */
struct page *weft_holds_page(struct weft_lockfile *lf, unsigned long index);

/*
 * Make the pages that the slot needs, so that no fault on them fails.  Return: 0 or a negative
 * errno.
 */
int weft_holds_prepare(struct weft_lockfile *lf, u32 slot);

/* The count of the file's read holds of the slot, which programs change; NULL: no memory. */
u32 *weft_holds_count(struct weft_lockfile *lf, u32 slot);

/* The file is closed: give back what it held and wake waiters. */
void weft_holds_bury(struct weft_slots *slots, struct weft_lockfile *lf)
	__must_hold(&slots->lock);

/* Work of weft_slots.settle: try again to settle unsettled slots. */
void weft_holds_settle(struct work_struct *work);

#endif /* WEFT_HOLDS_H */
