/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fsync(), msync(MS_SYNC) and O_SYNC: what this node has modified goes home, and on to the disks
 * of the memory blades if the region asks for that.
 */
#ifndef WEFT_FSYNC_H
#define WEFT_FSYNC_H

#include <linux/fs.h>

struct weft_inode;
struct weft_rack;

int weft_fsync(struct file *file, loff_t start, loff_t end, int datasync);

/*
 * A memory blade's machine has ended, and with it what was at home there but not on its disk:
 * who syncs a region that asks for the disk hears of it, once for each open file.
 */
void weft_fsync_crashed(struct weft_rack *rack, u8 blade);

/*
 * What a program sees for an error of the cache.  A wait that was in vain is
 * ETIMEDOUT in every system call, as in those that only ask the catalog.
 */
int weft_program_errno(int err);

/*
 * When nobody uses a region here any more its blocks go home, as long as their homes
 * take them back: one that has taken none for the time-out is not waited for, by any
 * of the regions that an unmount gives back.
 */

/**
 * weft_flush_region() - all blocks of a region go home
 *
 * Called as its inode goes.  Process context; takes the time-out at most if the homes
 * do not answer.  What is left of modified blocks is lost, counted and told.
 */
void weft_flush_region(struct weft_inode *wi);

#endif /* WEFT_FSYNC_H */
