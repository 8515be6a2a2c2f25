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

#include <linux/mm_types.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "weft.h"

#define WEFT_COUNTS_A_PAGE	(PAGE_SIZE / sizeof(u32))
/* Of the holds of a file: the counts begin with a page. */
#define WEFT_PENDING_PAGES	(sizeof(struct weft_holds) / PAGE_SIZE)
/* Mark in weft_slots.slot: what dead files held is not known yet. */
#define WEFT_SLOT_UNSETTLED	XA_MARK_0

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
 * struct weft_lockfile - an open file that uses locks
 * @wi: the region
 * @owner: its number
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

/* All of them go.  Mappings that are left have references of their own. */
void weft_shared_put(struct xarray *pages);

/* A page of its struct weft_holds, made if it is not there; NULL: no memory for that. */
struct page *weft_holds_page(struct weft_lockfile *lf, unsigned long index);

/* The file has opened a slot: its pages are there from now on, so no fault fails. */
int weft_holds_prepare(struct weft_lockfile *lf, u32 slot);

/* Where programs count how often the file holds a slot to read; NULL: no memory. */
u32 *weft_holds_count(struct weft_lockfile *lf, u32 slot);

/* The file goes: what it held goes back to those who wait for it. */
void weft_holds_bury(struct weft_slots *slots, const struct weft_lockfile *lf)
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
