// SPDX-License-Identifier: GPL-2.0-only
/* Pages that programs map, see shared.h. */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/xarray.h>

#include "locks/shared.h"

struct page *weft_shared_get(struct xarray *pages, unsigned long index)
{
	struct page *page = xa_load(pages, index), *other;

	if (page)
		return page;
	page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!page)
		return NULL;
	other = xa_cmpxchg(pages, index, NULL, page, GFP_KERNEL_ACCOUNT);
	if (!other)
		return page;
	__free_page(page);
	return xa_is_err(other) ? NULL : other;
}

void weft_shared_put(struct xarray *pages)
{
	unsigned long index;
	struct page *page;

	xa_for_each(pages, index, page)
		put_page(page);
	xa_destroy(pages);
}
