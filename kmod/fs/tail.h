/* SPDX-License-Identifier: GPL-2.0-only */
/* What lies behind the end of a region, in its last block, is not to be found when it grows. */
#ifndef WEFT_FS_TAIL_H
#define WEFT_FS_TAIL_H

#include <linux/types.h>

struct weft_inode;

/*
 * Both of these: under the inode's lock; its file is open, or counts as such; sleep, killable.
 * Return: 0, or what weft_get_page() and weft_inode_call() say.
 */

/*
 * Before it grows, and after it was made smaller: what was stored behind the end until now is zero.
 * Takes over its attributes as weft_inode_refresh().
 */
int weft_tail_clear(struct weft_inode *wi);

/*
 * Before it is made smaller: what will be behind the end @size is zero, so that nothing of it is
 * there if another node makes it larger at once.  The home forgets whole blocks, the rest of the
 * last one is for us.
 */
int weft_tail_cut(struct weft_inode *wi, u64 size);

#endif /* WEFT_FS_TAIL_H */
