/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks as open files see them: slots, the memory that is shared with programs,
 * ioctls, and what becomes of holds when a file goes.  The interface is that of
 * uapi/weft.h.
 */
#ifndef WEFT_LOCKFILE_H
#define WEFT_LOCKFILE_H

#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct file;
struct vm_area_struct;
struct weft_inode;
struct weft_lists;

/**
 * struct weft_slots - the locks of a region that programs have open
 * @lock: all of it; taken inside mmap_lock
 * @files: struct weft_lockfile by owner number: files that use locks
 * @slot: struct weft_klock by slot, a reference each; marked: unsettled
 * @bound: slot of the lock that a block belongs to, by index of the block
 * @words: struct page by number of the page of words.  Read without @lock by who
 *	has a file open
 * @taken: bytes that slots count for users, by uid; see lockquota.h
 * @lists: where files list what they read-lock; NULL: none uses locks, or no memory
 * @n: slots in use; they are given back all at once, when the last file goes.
 *	Written under @lock
 * @settle: looks again at those that are unsettled
 * @settle_at: slot that @settle begins with; 0: it has looked at all.  @lock
 * @delay: of @settle, jiffies.  @lock
 * @rested: when the next look need not wait any more, jiffies.  @lock
 */
struct weft_slots {
	struct mutex lock;
	struct xarray files;
	struct xarray slot;
	struct xarray bound;
	struct xarray words;
	struct xarray taken;
	struct weft_lists *lists;
	u32 n;
	struct delayed_work settle;
	unsigned long settle_at;
	unsigned long delay;
	unsigned long rested;
};

void weft_slots_init(struct weft_slots *slots);

/* The inode goes: no file of it is open. */
void weft_slots_stop(struct weft_slots *slots);

/* The file operations, as far as locks are concerned. */
long weft_lockfile_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
void weft_lockfile_release(struct file *file);

/* Is this mapping one of locks, not of the region's contents? */
bool weft_lockfile_is_mapping(const struct vm_area_struct *vma);
int weft_lockfile_mmap(struct file *file, struct vm_area_struct *vma);

#endif /* WEFT_LOCKFILE_H */
