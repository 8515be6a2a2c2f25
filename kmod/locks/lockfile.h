/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file operations of locks, for fs/file.c, fs/dir.c and fs/lifetime.c: slots, the memory
 * shared with programs, and the ioctls of uapi/weft.h.
 */
#ifndef WEFT_LOCKFILE_H
#define WEFT_LOCKFILE_H

#include "locks/slots.h"

struct file;
struct vm_area_struct;

/* For a new inode. */
void weft_slots_init(struct weft_slots *slots, struct weft_region *region,
		     struct weft_locks *locks);

/* For an inode that goes, when no file of it is open.  Sleeps until work of @slots has ended. */
void weft_slots_stop(struct weft_slots *slots);

/* File operations.  @slots: of the file's region. */
long weft_lockfile_ioctl(struct weft_slots *slots, struct file *file, unsigned int cmd,
			 unsigned long arg);
void weft_lockfile_release(struct file *file);

/*
 * WEFT_IOC_LOCK_FILE of any file or directory of the mount.  Return: a file descriptor or a
 * negative errno.
 */
long weft_lockfile_open(struct file *file, unsigned long address);

/* Does the mapping begin where locks are mapped, not contents of the region? */
bool weft_lockfile_is_mapping(const struct vm_area_struct *vma);
int weft_lockfile_mmap(struct weft_slots *slots, struct file *file, struct vm_area_struct *vma);

#endif /* WEFT_LOCKFILE_H */
