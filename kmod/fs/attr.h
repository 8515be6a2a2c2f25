/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stat() and setattr of a region, and zeroing behind its end.  The VFS calls the operations,
 * fs/file calls weft_tail_clear() before a write grows the region.  The catalog owns the
 * attributes: each stat() asks it.
 */
#ifndef WEFT_ATTR_H
#define WEFT_ATTR_H

#include <linux/fs.h>
#include <linux/types.h>

struct weft_inode;

extern const struct inode_operations weft_file_inode_operations;

/**
 * weft_tail_clear() - zero what programs have stored in the last block, behind the end
 *
 * Called before the region grows, and after it was made smaller, under the inode's lock, with
 * weft_inode.files raised.  Asks the catalog for the attributes.  Sleeps; killable.
 *
 * Return: 0; -ETIMEDOUT; as weft_get_page() and weft_inode_call().
 */
int weft_tail_clear(struct weft_inode *wi);

#endif /* WEFT_ATTR_H */
