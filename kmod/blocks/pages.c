// SPDX-License-Identifier: GPL-2.0-only
/* The pages of a block, see pages.h. */
#include <linux/highmem.h>
#include <linux/interval_tree_generic.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/xxhash.h>

#include "base/charge.h"
#include "base/stats.h"
#include "blocks/cache.h"
#include "blocks/pages.h"
#include "blocks/region.h"
#include "net/recv.h"

#define FOLIO_ORDER_MIN	2	/* older kernels cannot have folios of two pages in files */
#define MAPPINGS_MAX	256	/* of a block that are looked at */

static bool use_folios = true;
module_param_named(block_folio, use_folios, bool, 0644);
MODULE_PARM_DESC(block_folio, "pages of a block are one folio, if there is one; of those made from now on");

/* --- making them --------------------------------------------------------------------- */

/* For @i below @nr_folios. */
static struct folio *folio_of(const struct weft_block *blk, u32 i)
{
	return page_folio(blk->pages[i]);
}

/*
 * A folio of this size is not waited for: memory would be moved about for it, and single
 * pages do as well.  The kernel begins to make some in the background.
 */
static struct folio *alloc_folio(struct address_space *mapping, unsigned int order)
{
	gfp_t gfp = mapping_gfp_mask(mapping) & ~__GFP_DIRECT_RECLAIM;

	return folio_alloc(gfp | __GFP_NORETRY | __GFP_NOWARN, order);
}

/* All pages as one folio.  Return: false: that cannot be, or there is none. */
static bool make_folio(struct weft_block *blk, pgoff_t first)
{
	struct address_space *mapping = blk->region->mapping;
	unsigned int order = ilog2(blk->nr_pages);
	struct folio *folio;
	u32 i;

	if (order < FOLIO_ORDER_MIN || !READ_ONCE(use_folios) ||
	    !mapping_large_folio_support(mapping))
		return false;
	folio = alloc_folio(mapping, order);
	if (folio && filemap_add_folio(mapping, folio, first, mapping_gfp_mask(mapping))) {
		folio_put(folio);
		folio = NULL;
	}
	weft_stat_inc(weft_block_counters(blk),
		      folio ? WEFT_STAT_FOLIOS : WEFT_STAT_FOLIOS_FAILED);
	if (!folio)
		return false;
	for (i = 0; i < blk->nr_pages; i++)
		blk->pages[i] = folio_page(folio, i);
	blk->nr_folios = 1; /* with the reference */
	blk->contents.whole = !IS_ENABLED(CONFIG_HIGHMEM);
	folio_unlock(folio);
	return true;
}

static int make_singles(struct weft_block *blk, pgoff_t first)
{
	struct address_space *mapping = blk->region->mapping;
	u32 i;

	for (i = 0; i < blk->nr_pages; i++) {
		struct page *page;

		page = pagecache_get_page(mapping, first + i, FGP_LOCK | FGP_CREAT,
					  mapping_gfp_mask(mapping));
		if (!page)
			return -ENOMEM;
		blk->pages[i] = page; /* with the reference */
		unlock_page(page);
	}
	return 0;
}

int weft_pages_make(struct weft_block *blk)
{
	pgoff_t first = weft_line_index(blk->line.key) * blk->nr_pages;
	struct mem_cgroup *old = weft_charge_node();
	int err = 0;

	if (!make_folio(blk, first))
		err = make_singles(blk, first);
	weft_charge_end(old);
	return err;
}

/* --- their locks, and who uses them ---------------------------------------------------- */

void weft_pages_lock(struct weft_block *blk)
{
	u32 i;

	/* ascending, as everybody who locks several pages of a file */
	for (i = 0; i < blk->nr_folios; i++)
		folio_lock(folio_of(blk, i));
}

void weft_pages_unlock(struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_folios; i++)
		folio_unlock(folio_of(blk, i));
}

bool weft_pages_pinned(struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_folios; i++)
		if (folio_maybe_dma_pinned(folio_of(blk, i)))
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

	for (i = 0; i < blk->nr_folios; i++) {
		if (!folio_trylock(folio_of(blk, i)))
			break;
		if (folio_mapped(folio_of(blk, i))) {
			folio_unlock(folio_of(blk, i));
			break;
		}
	}
	/* pairs with the atomic_add of a pin, before its maker looks at the mapping again */
	smp_rmb();
	if (i == blk->nr_folios && !weft_pages_device_writes(blk))
		return true;
	while (i--)
		folio_unlock(folio_of(blk, i));
	return false;
}

void weft_pages_clear_uptodate(struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_folios; i++)
		folio_clear_uptodate(folio_of(blk, i));
}

void weft_pages_set_uptodate(struct weft_block *blk)
{
	u32 i;

	lockdep_assert_held(&blk->lock);
	if (blk->lost || weft_line_perm(&blk->line) < WEFT_S)
		return;
	for (i = 0; i < blk->nr_folios; i++)
		if (!folio_test_uptodate(folio_of(blk, i)))
			folio_mark_uptodate(folio_of(blk, i));
}

bool weft_pages_mapped(struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_folios; i++)
		if (folio_mapped(folio_of(blk, i)))
			return true;
	return false;
}

/* Mappings of a file, by pages: the kernel's tree, whose own functions are not for modules. */
static unsigned long first_page(struct vm_area_struct *vma)
{
	return vma->vm_pgoff;
}

static unsigned long last_page(struct vm_area_struct *vma)
{
	return vma->vm_pgoff + vma_pages(vma) - 1;
}

INTERVAL_TREE_DEFINE(struct vm_area_struct, shared.rb, unsigned long, shared.rb_subtree_last,
		     first_page, last_page, static inline, mappings)

/*
 * The kernel does not write down of a folio of several pages that some of them are locked in
 * memory, or not always: the mappings say it.
 */
static bool mapped_locked(struct weft_block *blk)
{
	struct address_space *mapping = blk->region->mapping;
	pgoff_t first = weft_line_index(blk->line.key) * blk->nr_pages;
	pgoff_t last = first + blk->nr_pages - 1;
	struct vm_area_struct *vma;
	u32 left = MAPPINGS_MAX;
	bool locked = false;

	if (!weft_pages_mapped(blk))
		return false;
	i_mmap_lock_read(mapping);
	for (vma = mappings_iter_first(&mapping->i_mmap, first, last); vma && left && !locked;
	     vma = mappings_iter_next(vma, first, last), left--)
		locked = READ_ONCE(vma->vm_flags) & VM_LOCKED;
	i_mmap_unlock_read(mapping);
	return locked;
}

bool weft_pages_mlocked(struct weft_block *blk)
{
	u32 i;

	for (i = 0; i < blk->nr_folios; i++)
		if (folio_test_mlocked(folio_of(blk, i)))
			return true;
	return blk->nr_folios < blk->nr_pages && mapped_locked(blk);
}

/* --- taking them away ------------------------------------------------------------------- */

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

	for (i = 0; i < blk->nr_folios; i++)
		folio_mkclean(folio_of(blk, i));
}

/* --- their contents ---------------------------------------------------------------------- */

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
