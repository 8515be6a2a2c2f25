// SPDX-License-Identifier: GPL-2.0-only
/* Pages that programs map, see shared.h. */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

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

/* Before it is freed; others may have references to it, as to one that was truncated. */
static void leave_mapping(struct page *page)
{
	struct folio *folio = page_folio(page);

	if (!folio->mapping)
		return;
	folio_lock(folio);
	/* who makes a futex's key looks at it twice, see get_futex_key() */
	WRITE_ONCE(folio->mapping, NULL);
	folio_unlock(folio);
}

struct page *weft_shared_get_at(struct xarray *pages, unsigned long index,
				struct inode *inode, u64 offset)
{
	struct page *page = xa_load(pages, index);
	struct folio *folio;
	int err;

	if (page)
		return page;
	page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!page)
		return NULL;
	folio = page_folio(page);
	folio->index = (offset >> PAGE_SHIFT) + index;
	WRITE_ONCE(folio->mapping, inode->i_mapping);
	err = xa_insert(pages, index, page, GFP_KERNEL_ACCOUNT);
	if (!err)
		return page;
	leave_mapping(page);
	put_page(page);
	return NULL;
}

void weft_shared_put(struct xarray *pages)
{
	unsigned long index;
	struct page *page;

	xa_for_each(pages, index, page) {
		leave_mapping(page);
		put_page(page);
	}
	xa_destroy(pages);
}
