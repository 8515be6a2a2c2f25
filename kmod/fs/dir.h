/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The root directory, the only one: names of regions, as the catalog has them.  The VFS calls it;
 * fs/super starts and stops the sweep.  No name is used without asking the catalog again.
 */
#ifndef WEFT_DIR_H
#define WEFT_DIR_H

#include <linux/dcache.h>
#include <linux/fs.h>

struct weft_rack;

/* The sweep, while a file system is mounted: drops inodes of regions that other nodes unlink. */
void weft_dir_init(struct weft_rack *rack);
void weft_dir_start(struct weft_rack *rack);
void weft_dir_stop(struct weft_rack *rack);

extern const struct inode_operations weft_dir_inode_operations;
extern const struct file_operations weft_dir_operations;
extern const struct dentry_operations weft_dentry_operations;

#endif /* WEFT_DIR_H */
