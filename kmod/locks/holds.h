/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What open files hold of locks, in memory that they share with programs, and what becomes
 * of it when a file goes.
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
/* Of the holds of a file: the counts begin with a page. */
#define WEFT_CELL_PAGES		(sizeof(struct weft_holds) / PAGE_SIZE)

/* A page of its struct weft_holds, made if it is not there; NULL: no memory for that. */
struct page *weft_holds_page(struct weft_lockfile *lf, unsigned long index);

/* The file has opened a slot: its pages are there from now on, so no fault fails. */
int weft_holds_prepare(struct weft_lockfile *lf, u32 slot);

/* Where programs count how often the file holds a slot to read; NULL: no memory. */
u32 *weft_holds_count(struct weft_lockfile *lf, u32 slot);

/* The file goes: what it held goes back to those who wait for it. */
void weft_holds_bury(struct weft_slots *slots, struct weft_lockfile *lf)
	__must_hold(&slots->lock);

/* Work of weft_slots.settle: looks again at slots that are not settled. */
void weft_holds_settle(struct work_struct *work);

#endif /* WEFT_HOLDS_H */
