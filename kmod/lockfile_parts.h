/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of locks as open files see them have for each other:
 *
 *	lockfile.c	files, slots, ioctls, mappings
 *	lockholds.c	memory that is shared with programs: what files hold, and what
 *			becomes of that when they go
 *	lockbind.c	what locks guard, as files say
 */
#ifndef WEFT_LOCKFILE_PARTS_H
#define WEFT_LOCKFILE_PARTS_H

#include <linux/bitmap.h>
#include <linux/mm_types.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "weft.h"

#define WEFT_COUNTS_A_PAGE	(PAGE_SIZE / sizeof(u32))
/* Of the holds of a file: the counts begin with a page. */
#define WEFT_CELL_PAGES		(sizeof(struct weft_holds) / PAGE_SIZE)
#define WEFT_ENTRIES_A_PAGE	(PAGE_SIZE / sizeof(u32))
/* Marks in weft_slots.slot: what dead files held is not known yet; */
#define WEFT_SLOT_UNSETTLED	XA_MARK_0
/* ... the one that is just going was changing it. */
#define WEFT_SLOT_CHANGING	XA_MARK_1
/* Of these pages, the first ones: of files that may list what they read-lock. */
#define WEFT_LIST_PAGES		(WEFT_LIST_CELLS * sizeof(struct weft_cell) / PAGE_SIZE)

struct inode;
struct weft_klock;
struct weft_slots;

#define WEFT_INTERRUPTED	8

/**
 * struct weft_interrupted - a thread that a signal made leave a queue
 * @pid: which
 * @slot: the lock's
 * @since: when it first asked, ns; 0: free
 * @left: when it left, ns
 */
struct weft_interrupted {
	pid_t pid;
	u32 slot;
	u64 since;
	u64 left;
};

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
 * struct weft_lockfile - an open file that uses locks
 * @wi: the region
 * @owner: its number
 * @place: in struct weft_lists; negative: none
 * @counts: what it takes counts for a user, see lockquota.h
 * @uid: whose
 * @taken: bytes, without those of slots.  weft_slots.lock
 * @pages: of its struct weft_holds, made when needed.  weft_slots.lock to write
 * @binds: slots of locks of which this file has said what they guard.
 *	weft_slots.lock
 * @lock: @interrupted
 * @interrupted: the last ones, so that they come back to their place
 */
struct weft_lockfile {
	struct weft_inode *wi;
	u16 owner;
	int place;
	bool counts;
	uid_t uid;
	size_t taken;
	struct xarray pages;
	struct xarray binds;
	spinlock_t lock;
	struct weft_interrupted interrupted[WEFT_INTERRUPTED];
};

/* --- lockfile.c --------------------------------------------------------------- */

/* The lock of a slot, valid as long as the file is open; NULL: there is none. */
struct weft_klock *weft_lockfile_klock(const struct weft_lockfile *lf, u32 slot);

/* The file takes so much more of memory, until it is closed: 0 or a negative errno. */
int weft_lockfile_count(struct weft_lockfile *lf, size_t bytes);

/* ... and so much less. */
void weft_lockfile_uncount(struct weft_lockfile *lf, size_t bytes);

/* --- lockholds.c -------------------------------------------------------------- */

/* The page with this number, made if it is not there; NULL: no memory. */
struct page *weft_shared_get(struct xarray *pages, unsigned long index);

/*
 * The same of pages that programs map from @offset of @inode's file on: futexes work in
 * them, also between processes.  The kernel tells those by inode and place in the file,
 * for which it looks at the page: so each says that it is of the inode's mapping, though
 * not in its page cache, which neither truncation nor writing back therefore touches.
 * One caller at a time.
 */
struct page *weft_shared_get_at(struct xarray *pages, unsigned long index,
				struct inode *inode, u64 offset);

/* All of them go.  Mappings that are left have references of their own. */
void weft_shared_put(struct xarray *pages);

/* A page of its struct weft_holds, made if it is not there; NULL: no memory for that. */
struct page *weft_holds_page(struct weft_lockfile *lf, unsigned long index);

/* The file has opened a slot: its pages are there from now on, so no fault fails. */
int weft_holds_prepare(struct weft_lockfile *lf, u32 slot);

/* Where programs count how often the file holds a slot to read; NULL: no memory. */
u32 *weft_holds_count(struct weft_lockfile *lf, u32 slot);

/*
 * The file may list what it read-locks, if there is a place and memory for it.  Before
 * programs have anything of it mapped.
 */
void weft_lists_join(struct weft_slots *slots, struct weft_lockfile *lf)
	__must_hold(&slots->lock);

/* No lock of these slots is there any more that could look at it. */
void weft_lists_drop(struct weft_slots *slots) __must_hold(&slots->lock);

/* The file goes: what it held goes back to those who wait for it. */
void weft_holds_bury(struct weft_slots *slots, struct weft_lockfile *lf)
	__must_hold(&slots->lock);

/* Work of weft_slots.settle: looks again at slots that are not settled. */
void weft_holds_settle(struct work_struct *work);

/* --- lockbind.c --------------------------------------------------------------- */

/* The ioctl: 0 or a negative errno.  @weak: the file may not write. */
long weft_lockbind_ioctl(struct weft_lockfile *lf, bool weak,
			 const struct weft_lock_bind __user *arg);

/* The file goes: what nobody says any more is forgotten. */
void weft_lockbind_forget(struct weft_slots *slots, struct weft_lockfile *lf)
	__must_hold(&slots->lock);

#endif /* WEFT_LOCKFILE_PARTS_H */
