/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Life of inodes: made of the catalog's answer, kept after the last use until their blocks are
 * home. fs/dir gets inodes here, the VFS calls the rest through fs/super's operations.  An inode
 * must not be freed while it has blocks: messages find them by its region.
 */
#ifndef WEFT_LIFETIME_H
#define WEFT_LIFETIME_H

#include <linux/fs.h>

struct weft_call;

/**
 * weft_inode_get() - find or make the inode of a region
 * @attr: the catalog's answer with the region and its attributes
 *
 * Return: the inode, with a reference; -ENOMEM; -EFBIG: a block has more fragments than a message
 * can number at this MTU.
 */
struct inode *weft_inode_get(struct super_block *sb, const struct weft_call *attr);

struct inode *weft_inode_alloc(struct super_block *sb);
void weft_inode_free(struct inode *inode);
/* ->drop_inode(): the last reference was dropped.  Under i_lock.  Return: whether to evict it. */
int weft_inode_unused(struct inode *inode);
void weft_inode_evict(struct inode *inode);

/* Module init and exit.  Return: 0 or -ENOMEM. */
int weft_lifetime_init(void);
void weft_lifetime_exit(void);

#endif /* WEFT_LIFETIME_H */
