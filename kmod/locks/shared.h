/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages of the kernel that programs map, to take and leave locks without it. */
#ifndef WEFT_SHARED_H
#define WEFT_SHARED_H

#include <linux/types.h>

struct inode;
struct page;
struct xarray;

/* The page with this number, made if it is not there; NULL: no memory. */
struct page *weft_shared_get(struct xarray *pages, unsigned long index);

/*
 * The same of pages that programs map from @offset of @inode's file on: futexes work in
 * them, also between processes.  The kernel tells those by inode and place in the file,
 * for which it looks at the page: so each says that it is of the inode's mapping, though
 * not in its page cache, which neither truncation nor writing back therefore touches.
 * One caller at a time.
 */
struct page *weft_shared_get_at(struct xarray *pages, unsigned long index,
				struct inode *inode, u64 offset);

/* All of them go.  Mappings that are left have references of their own. */
void weft_shared_put(struct xarray *pages);

#endif /* WEFT_SHARED_H */
