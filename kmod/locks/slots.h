/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The locks of a region that programs have open, by their slots, and the open files that
 * use them.
 */
#ifndef WEFT_SLOTS_H
#define WEFT_SLOTS_H

#include <linux/bitmap.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "weft.h"

struct page;
struct weft_klock;
struct weft_lists;
struct weft_lockfile;
struct weft_locks;
struct weft_region;
struct weft_slots;
struct xarray;

/* Marks in weft_slots.slot: what dead files held is not known yet; */
#define WEFT_SLOT_UNSETTLED	XA_MARK_0
/* ... the one that is just going was changing it. */
#define WEFT_SLOT_CHANGING	XA_MARK_1

/* Threads that have got locks: so many of which this is the hash, and so many locks. */
#define WEFT_TAKERS_SHIFT	3
#define WEFT_TAKERS_EACH	4

/* Processes, and where they map the region: as many. */
#define WEFT_PLACES_SHIFT	2
#define WEFT_PLACES_EACH	4

/* Threads that map what came with a lock, at the same time: so many of different hash. */
#define WEFT_MAPPERS_SHIFT	3

/**
 * struct weft_place - where a process maps the region
 * @mm: the address of its struct mm_struct, which may be gone
 * @base: the address at which the region's first byte would be
 */
struct weft_place {
	unsigned long mm;
	u64 base;
};

/**
 * struct weft_slots - the locks of a region that programs have open
 * @region: whose locks they are
 * @locks: the table that they are in
 * @lock: all of it; taken inside mmap_lock
 * @files: struct weft_lockfile by owner number: files that use locks
 * @slot: struct weft_klock by slot, a reference each; marked: unsettled
 * @bound: slot of the lock that a block belongs to, by index of the block
 * @words: struct page by number of the page of words.  Read without @lock by who
 *	has a file open
 * @taken: bytes that slots count for users, by uid
 * @lists: where files list what they read-lock; NULL: none uses locks, or no memory
 * @n: slots in use; they are given back all at once, when the last file goes.
 *	Written under @lock
 * @takers: threads, and the slots of the locks that they got from the kernel, the last ones
 *	first: a hint, no lock.  See observe.h
 * @places: where processes map the region, as they faulted last: a hint, no lock.  See mapped.h
 * @mappers: threads that are just mapping what came with a lock; 0: none of this hash
 * @settle: looks again at those that are unsettled
 * @settle_at: slot that @settle begins with; 0: it has looked at all.  @lock
 * @delay: of @settle, jiffies.  @lock
 * @rested: when the next look need not wait any more, jiffies.  @lock
 * @left: what was modified under its locks goes home, as nobody uses them any more
 */
struct weft_slots {
	struct weft_region *region;
	struct weft_locks *locks;
	struct mutex lock;
	struct xarray files;
	struct xarray slot;
	struct xarray bound;
	struct xarray words;
	struct xarray taken;
	struct weft_lists *lists;
	u32 n;
	u64 takers[WEFT_TAKERS_EACH << WEFT_TAKERS_SHIFT];
	struct weft_place places[WEFT_PLACES_EACH << WEFT_PLACES_SHIFT];
	pid_t mappers[1 << WEFT_MAPPERS_SHIFT];
	struct delayed_work settle;
	unsigned long settle_at;
	unsigned long delay;
	unsigned long rested;
	struct work_struct left;
};

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
 * @slots: of its region
 * @owner: its number
 * @place: in struct weft_lists; negative: none
 * @counts: what it takes counts for a user
 * @uid: whose
 * @taken: bytes, without those of slots.  weft_slots.lock
 * @pages: of its struct weft_holds, made when needed.  weft_slots.lock to write
 * @binds: slots of locks of which this file has said what they guard.
 *	weft_slots.lock
 * @lock: @interrupted
 * @interrupted: the last ones, so that they come back to their place
 */
struct weft_lockfile {
	struct weft_slots *slots;
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

/* Does any open file use locks of the region?  A hint: no lock. */
static inline bool weft_slots_used(const struct weft_slots *slots)
{
	return READ_ONCE(slots->n);
}

/* The lock of a slot, valid as long as the file is open; NULL: there is none. */
static inline struct weft_klock *weft_lockfile_klock(const struct weft_lockfile *lf, u32 slot)
{
	return lf ? xa_load(&lf->slots->slot, slot) : NULL;
}

/* The file takes so much more of memory, until it is closed: 0 or a negative errno. */
int weft_lockfile_count(struct weft_lockfile *lf, size_t bytes);

/* ... and so much less. */
void weft_lockfile_uncount(struct weft_lockfile *lf, size_t bytes);

/* Pages of the kernel that programs map, to take and leave locks without it. */

/* The page with this number, made if it is not there; NULL: no memory. */
struct page *weft_shared_get(struct xarray *pages, unsigned long index);

/* All of them go.  Mappings that are left have references of their own. */
void weft_shared_put(struct xarray *pages);

/*
 * Where open files of a region list what they read-lock, so that readers share nothing:
 * see docs/kernel.md, "Readers share nothing".
 */

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

/*
 * How much of this node's memory the locks of one user may take.
 *
 * Whoever may read a region may open locks of it, a million of them, and each is memory
 * of the kernel that nothing can take back.  It counts for the user whose program first
 * used locks through the open file: a lock as long as it has a slot, that is until the
 * last file of the region that uses locks is closed; what a file needs until that one is
 * closed.  Who has CAP_SYS_RESOURCE is neither counted nor limited.
 *
 * The guards of locks (guard.h) do not count: a block belongs to one lock at most, so
 * that they are bounded by the sizes of the regions, to less than a hundredth of them.
 */

/* Whether this thread's locks count. */
bool weft_lockquota_counts(void);

/**
 * weft_lockquota_take() - memory for locks of a user
 * @uid: in the initial user namespace
 *
 * Process context.  Return: 0; -EDQUOT: the user has as much as it may; -ENOSPC: all
 * users together have; -ENOMEM.
 */
int weft_lockquota_take(uid_t uid, size_t bytes);

/* The memory is free again. */
void weft_lockquota_return(uid_t uid, size_t bytes);

/* When the module goes: nothing is taken any more. */
void weft_lockquota_exit(void);

#endif /* WEFT_SLOTS_H */
