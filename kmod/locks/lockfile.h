/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks as open files see them: slots, the memory that is shared with programs, and the
 * ioctls of uapi/weft.h.
 */
#ifndef WEFT_LOCKFILE_H
#define WEFT_LOCKFILE_H

#include "locks/slots.h"

struct file;
struct vm_area_struct;

/* Once for each inode. */
void weft_slots_init(struct weft_slots *slots, struct weft_region *region,
		     struct weft_locks *locks);

/* The inode goes: no file of it is open. */
void weft_slots_stop(struct weft_slots *slots);

/* The file operations, as far as locks are concerned.  @slots: of the file's region. */
long weft_lockfile_ioctl(struct weft_slots *slots, struct file *file, unsigned int cmd,
			 unsigned long arg);
void weft_lockfile_release(struct file *file);

/* WEFT_IOC_LOCK_FILE, with its argument, of any file or directory of the mount. */
long weft_lockfile_open(struct file *file, unsigned long address);

/* Is this mapping one of locks, not of the region's contents? */
bool weft_lockfile_is_mapping(const struct vm_area_struct *vma);
int weft_lockfile_mmap(struct weft_slots *slots, struct file *file,
		       struct vm_area_struct *vma);

#endif /* WEFT_LOCKFILE_H */
