/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages of the kernel that programs map, to take and leave locks without it. */
#ifndef WEFT_SHARED_H
#define WEFT_SHARED_H

#include <linux/types.h>

struct page;
struct xarray;

/* The page with this number, made if it is not there; NULL: no memory. */
struct page *weft_shared_get(struct xarray *pages, unsigned long index);

/* All of them go.  Mappings that are left have references of their own. */
void weft_shared_put(struct xarray *pages);

#endif /* WEFT_SHARED_H */
