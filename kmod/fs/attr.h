/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes of files: the catalog's, asked for each time that a program looks at them. */
#ifndef WEFT_ATTR_H
#define WEFT_ATTR_H

#include <linux/fs.h>
#include <linux/types.h>

struct weft_inode;

extern const struct inode_operations weft_file_inode_operations;

/* What lies behind the end of a region, in its last block, is not to be found when it grows. */

/*
 * Both of these: under the inode's lock; its file is open, or counts as such; sleep, killable.
 * Return: 0, or what weft_get_page() and weft_inode_call() say.
 */

/*
 * Before it grows, and after it was made smaller: what was stored behind the end until now is zero.
 * Takes over its attributes as weft_inode_refresh().
 */
int weft_tail_clear(struct weft_inode *wi);

#endif /* WEFT_ATTR_H */
