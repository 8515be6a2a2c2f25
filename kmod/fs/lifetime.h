/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How inodes come and go: made from what the catalog says of a region; kept, when no
 * program uses the region any more, until its blocks are home.
 */
#ifndef WEFT_LIFETIME_H
#define WEFT_LIFETIME_H

#include <linux/fs.h>

struct weft_call;

/**
 * weft_inode_get() - inode of a region
 * @attr: a reply with the region and its attributes
 *
 * Return: a reference, or an error: -EUCLEAN for attributes that make no sense,
 * -EFBIG: the blocks are too large for the MTU.
 */
struct inode *weft_inode_get(struct super_block *sb,
			     const struct weft_call *attr);

struct inode *weft_inode_alloc(struct super_block *sb);
void weft_inode_free(struct inode *inode);
/* ->drop_inode(): nobody uses it.  Under i_lock.  Return: whether it goes. */
int weft_inode_unused(struct inode *inode);
void weft_inode_evict(struct inode *inode);

/* When the module is loaded: 0 or -ENOMEM; and when it goes. */
int weft_lifetime_init(void);
void weft_lifetime_exit(void);

#endif /* WEFT_LIFETIME_H */
