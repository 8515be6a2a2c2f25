/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing back: fsync(), msync(MS_SYNC) and O_SYNC, with durability=sync on to the blades' disks;
 * and the flush of a whole region before its inode is evicted (fs/lifetime). fsync() must not
 * return before every home has answered.
 */
#ifndef WEFT_FSYNC_H
#define WEFT_FSYNC_H

#include <linux/fs.h>

struct weft_inode;
struct weft_rack;

int weft_fsync(struct file *file, loff_t start, loff_t end, int datasync);

/*
 * The machine of a memory blade crashed, and contents that it had not synced may be older: let
 * fsync() of regions with durability=sync fail with EIO, once for each open file.
 */
void weft_fsync_crashed(struct weft_rack *rack, u8 blade);

/* Return: the errno of a system call for an error of the cache. */
int weft_program_errno(int err);

/**
 * weft_flush_region() - give all blocks of a region back to their homes
 *
 * Called when no program uses the region.  A home that takes no block back for the time-out is
 * silent: it is not waited for any more, during an unmount by no other region either.  Modified
 * blocks that are left are lost: counted, logged, told to listeners.  Process context.
 */
void weft_flush_region(struct weft_inode *wi);

#endif /* WEFT_FSYNC_H */
