// SPDX-License-Identifier: GPL-2.0-only
/* The pages of a block, see pages.h. */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/xxhash.h>

#include "blocks/pages.h"
#include "blocks/region.h"
#include "net/packet.h"

void weft_pages_lock(struct weft_block *blk)
{
	u32 i;

	/* ascending, as everybody who locks several pages of a file */
	for (i = 0; i < blk->nr_pages; i++)
		lock_page(blk->pages[i]);
}

void weft_pages_unlock(struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_pages; i++)
		unlock_page(blk->pages[i]);
}

bool weft_pages_pinned(struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_pages; i++)
		if (folio_maybe_dma_pinned(page_folio(blk->pages[i])))
			return true;
	return false;
}

/*
 * A device may be writing into the block, mapped or not any more: what it writes after
 * the contents have gone out would be lost.  Such pins are short.  They are made through
 * mappings that allow writing, so no page gets a new one while all are locked and none
 * is mapped.  Who only has references (O_DIRECT before Linux 6.5) cannot be told from
 * others that do, and is not waited for.
 */
bool weft_pages_device_writes(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	return blk->line.state == WEFT_M && weft_pages_pinned(blk);
}

/*
 * The locks of all pages, if none is mapped and none has to be waited for: a page can
 * be mapped only under its lock, so that nothing is left to take away.  Does not sleep.
 */
bool weft_pages_trylock_unmapped(struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_pages; i++) {
		if (!trylock_page(blk->pages[i]))
			break;
		if (folio_mapped(page_folio(blk->pages[i]))) {
			unlock_page(blk->pages[i]);
			break;
		}
	}
	/* pairs with the atomic_add of a pin, before its maker looks at the mapping again */
	smp_rmb();
	if (i == blk->nr_pages && !weft_pages_device_writes(blk))
		return true;
	while (i--)
		unlock_page(blk->pages[i]);
	return false;
}

void weft_pages_clear_uptodate(struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_pages; i++)
		ClearPageUptodate(blk->pages[i]);
}

void weft_pages_set_uptodate(struct weft_block *blk)
{
	u32 i;

	lockdep_assert_held(&blk->lock);
	if (blk->lost || weft_line_perm(&blk->line) < WEFT_S)
		return;
	for (i = 0; i < blk->nr_pages; i++)
		if (!PageUptodate(blk->pages[i]))
			SetPageUptodate(blk->pages[i]);
}

/* Is any of its pages mapped?  With their locks: none can be mapped meanwhile. */
bool weft_pages_mapped(struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_pages; i++)
		if (folio_mapped(page_folio(blk->pages[i])))
			return true;
	return false;
}

void weft_pages_unmap(struct weft_block *blk)
{
	u64 index = weft_line_index(blk->line.key);

	/* first, so that filemap_map_pages() maps no page again */
	weft_pages_clear_uptodate(blk);
	/* many blocks go at a time when a home begins anew, most of them mapped nowhere */
	if (!weft_pages_mapped(blk))
		return;
	unmap_mapping_pages(blk->region->mapping, index * blk->nr_pages,
			    blk->nr_pages, false);
}

void weft_pages_protect(struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_pages; i++)
		folio_mkclean(page_folio(blk->pages[i]));
}

u64 weft_pages_word(struct weft_block *blk, u32 at)
{
	u8 *page = kmap_local_page(blk->pages[at >> PAGE_SHIFT]);
	u64 word = READ_ONCE(*(u64 *)(page + (at & ~PAGE_MASK & ~7u)));

	kunmap_local(page);
	return word;
}

u64 weft_pages_hash(struct weft_block *blk, u32 at)
{
	void *page = kmap_local_page(blk->pages[at >> PAGE_SHIFT]);
	u64 hash = xxh64(page, PAGE_SIZE, 0);

	kunmap_local(page);
	return hash;
}

void weft_pages_install(struct weft_block *blk, const struct weft_packet *packet)
{
	u32 at = packet->msg.offset, left = packet->msg.len, from = 0;

	while (left) {
		u32 in_page = at & ~PAGE_MASK;
		u32 n = min_t(u32, left, PAGE_SIZE - in_page);
		struct page *page = blk->pages[at >> PAGE_SHIFT];
		void *dst = kmap_local_page(page);

		weft_packet_copy(packet, from, dst + in_page, n);
		flush_dcache_page(page);
		kunmap_local(dst);
		from += n;
		at += n;
		left -= n;
	}
}
