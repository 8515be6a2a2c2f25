/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The locks of a region that programs have open (slots), the open files that use them, and what
 * they take of memory.  For this folder; fs/inode.h has one struct weft_slots for each inode.
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
struct weft_lockres;
struct weft_lists;
struct weft_lockfile;
struct weft_locks;
struct weft_region;
struct weft_slots;
struct xarray;

/* Marks in weft_slots.slot: holds of a closed file are not known yet; */
#define WEFT_SLOT_UNSETTLED	XA_MARK_0
/* ... the file that is being closed was changing its holds. */
#define WEFT_SLOT_CHANGING	XA_MARK_1

/* Threads that took locks: so many bits of hash, and so many locks for each hash. */
#define WEFT_TAKERS_SHIFT	3
#define WEFT_TAKERS_EACH	4

/* Processes, and places at which each maps the region: the same. */
#define WEFT_PLACES_SHIFT	2
#define WEFT_PLACES_EACH	4

/* Threads that map what came with a lock at the same time: bits of their hash. */
#define WEFT_MAPPERS_SHIFT	3

/* Where a process maps the region. */
struct weft_place {
	unsigned long mm; /* address of its struct mm_struct, which may be freed: compared only */
	u64 base;	/* address at which the region's first byte would be */
};

/* The locks of a region that programs have open. */
struct weft_slots {
	struct weft_region *region;
	struct weft_locks *locks; /* of the node */
	struct mutex lock;	/* guards all but what says otherwise; taken inside mmap_lock */
	struct xarray files;	/* files that use locks, struct weft_lockfile by owner number */
	/* struct weft_lockres by slot, with a reference each; marks: see above */
	struct xarray slot;
	struct xarray bound;	/* slot of the lock that guards a block, by index of the block */
	/* pages of lock words, by index.  Read without @lock through an open file */
	struct xarray words;
	struct xarray taken;	/* bytes that slots are charged for, by uid */
	/* where files list readers; NULL: no file uses locks, or no memory */
	struct weft_lists *lists;
	u32 n; /* slots in use: it grows until the last file is closed.  Written under @lock */
	/* threads and the slots that they took last: a hint, no lock.  See observe.h */
	u64 takers[WEFT_TAKERS_EACH << WEFT_TAKERS_SHIFT];
	/* where processes have faulted last: a hint, no lock.  See mapped.h */
	struct weft_place places[WEFT_PLACES_EACH << WEFT_PLACES_SHIFT];
	/* threads that map what came with a lock; 0: none of this hash */
	pid_t mappers[1 << WEFT_MAPPERS_SHIFT];
	struct delayed_work settle; /* settles unsettled slots */
	unsigned long settle_at; /* slot that @settle begins with */
	unsigned long delay;	/* of @settle, jiffies.  @lock */
	unsigned long rested;	/* when @settle has rested long enough, jiffies */
	/* writes home what was modified under the locks, when the last file is closed */
	struct work_struct left;
};

#define WEFT_INTERRUPTED	8

/* A thread that a signal made leave a queue. */
struct weft_interrupted {
	pid_t pid;
	u32 slot;	/* of the lock */
	u64 since;	/* when it first asked, ns; 0: free */
	u64 left;	/* when it left, ns */
};

/* An open file that uses locks. */
struct weft_lockfile {
	struct weft_slots *slots;	/* of the file's region */
	u16 owner; /* number of the file, in the word of each lock that it holds to write */
	int place;			/* index in struct weft_lists; negative: none */
	bool counts;			/* memory is charged to a user */
	uid_t uid;			/* to which one */
	size_t taken;			/* bytes charged, without slots.  weft_slots.lock */
	/* pages of its struct weft_holds, made when needed.  weft_slots.lock to write */
	struct xarray pages;
	struct xarray binds; /* slots of locks whose guard this file has said.  weft_slots.lock */
	spinlock_t lock;		/* @interrupted */
	/* the last threads that signals interrupted: they come back to their place */
	struct weft_interrupted interrupted[WEFT_INTERRUPTED];
};

/* Does any open file use locks of the region?  A hint: no lock. */
static inline bool weft_slots_used(const struct weft_slots *slots)
{
	return READ_ONCE(slots->n);
}

/* The lock of a slot, valid while the file is open; NULL: there is none. */
static inline struct weft_lockres *weft_lockfile_lockres(const struct weft_lockfile *lf, u32 slot)
{
	return lf ? xa_load(&lf->slots->slot, slot) : NULL;
}

/* Charge memory to the file's user until the file is closed.  Return: 0 or a negative errno. */
int weft_lockfile_count(struct weft_lockfile *lf, size_t bytes);

/* Give some of that back. */
void weft_lockfile_uncount(struct weft_lockfile *lf, size_t bytes);

/* A page that programs map, made if it is missing; NULL: no memory. */
struct page *weft_shared_get(struct xarray *pages, unsigned long index);

/* Free all of them.  Mappings that are left have references of their own. */
void weft_shared_put(struct xarray *pages);

#define WEFT_ENTRIES_A_PAGE	(PAGE_SIZE / sizeof(u32))
/* Pages of struct weft_holds that hold entries, in files with a place in struct weft_lists. */
#define WEFT_LIST_PAGES		(WEFT_LIST_CELLS * sizeof(struct weft_cell) / PAGE_SIZE)

/*
 * Where open files list what they read-lock, so that readers share no cache line.
 *
 * As many as can be looked through in some microseconds with bottom halves off: WEFT_LIST_FILES
 * times 8 KiB.  See README.md.
 */
struct weft_lists {
	/* places that belong to a file.  weft_slots.lock */
	DECLARE_BITMAP(used, WEFT_LIST_FILES);
	/*
	 * the first pages of the struct weft_holds at each place.  They outlive the file, so a
	 * thread that looks through them under a lock's spinlock needs no other lock; wiped
	 * before the next file gets the place.  Written once, under weft_slots.lock
	 */
	struct page *page[WEFT_LIST_FILES][WEFT_LIST_PAGES];
};

/*
 * How many listed readers hold a slot.  Begins with a full barrier, the partner of the one of a
 * program that lists itself.
 */
u32 weft_holds_listed(const struct weft_lists *lists, u32 slot);

/*
 * Give the file a place to list what it read-locks, if there is one and memory for it.  Before
 * programs can map anything of the file.
 */
void weft_lists_join(struct weft_slots *slots, struct weft_lockfile *lf)
	__must_hold(&slots->lock);

/* The file is closed: wipe what it listed and free its place. */
void weft_lists_leave(struct weft_slots *slots, struct weft_lockfile *lf)
	__must_hold(&slots->lock);

/* Free the lists: no lock of these slots is left that could look at them. */
void weft_lists_drop(struct weft_slots *slots) __must_hold(&slots->lock);

/*
 * How much of this node's memory the locks of one user may take.  Any user who may read a region
 * can open a million locks of it, and each is kernel memory that cannot be reclaimed.  The user
 * is charged whose program first used locks through the open file: for slots until the last file
 * of the region that uses locks is closed, for the rest until that file is.  A user with
 * CAP_SYS_RESOURCE is neither charged nor limited.
 *
 * Guards (guard.h) are not charged: a block belongs to one lock at most, so guards take less
 * than a hundredth of the size of the regions.
 */

/* Whether locks of this thread are charged. */
bool weft_lockquota_counts(void);

/**
 * weft_lockquota_take() - charge memory for locks to a user
 * @uid: in the initial user namespace
 *
 * Process context.  Return: 0; -EDQUOT: the user has as much as it may; -ENOSPC: all users
 * together have; -ENOMEM.
 */
int weft_lockquota_take(uid_t uid, size_t bytes);

/* Give charged memory back. */
void weft_lockquota_return(uid_t uid, size_t bytes);

/* At unload, when nothing is charged any more. */
void weft_lockquota_exit(void);

#endif /* WEFT_SLOTS_H */
