// SPDX-License-Identifier: GPL-2.0-only
/* The pages of a block, see pages.h. */
#include <linux/highmem.h>
#include <linux/interval_tree_generic.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/sched/mm.h>
#include <linux/workqueue.h>
#include <linux/xxhash.h>

#include "base/stats.h"
#include "blocks/cache.h"
#include "blocks/pages.h"
#include "blocks/region.h"
#include "net/recv.h"

#define FOLIO_ORDER_MIN	2	/* older kernels have no folios of two pages in files */
#define MAPPINGS_MAX	256	/* that a search for VM_LOCKED looks at */

static bool use_folios = true;
module_param_named(block_folio, use_folios, bool, 0644);
MODULE_PARM_DESC(block_folio, "pages of a block are one folio, if there is one; of those made from now on");

/* --- making them --------------------------------------------------------------------- */

/*
 * Pages of the cache are charged to the root control group (NULL: the kernel has no groups), not
 * to the group of the program that faulted first.  A block serves programs of all groups and
 * leaves when the cache needs room or another node wants it: the first program's group could not
 * get that memory back, and its programs would be killed for it.
 */
static struct mem_cgroup *root_group;

/*
 * The kernel exports no symbol for the root group, but charges kernel threads to it and tells
 * them which group that is.  The root group lives for ever, so it needs no reference.
 */
static void find_root_group(struct work_struct *work)
{
	root_group = get_mem_cgroup_from_mm(NULL);
}

void weft_pages_init(void)
{
	struct work_struct work;

	INIT_WORK_ONSTACK(&work, find_root_group);
	schedule_work(&work);
	flush_work(&work);
	destroy_work_on_stack(&work);
}

/* @i is below @nr_folios. */
static struct folio *folio_of(const struct weft_block *blk, u32 i)
{
	return page_folio(blk->pages[i]);
}

/*
 * Never wait for a folio of this size: the kernel would compact memory for it, and single pages
 * do as well.  The failed allocation wakes the kernel's background compaction.
 */
static struct folio *alloc_folio(struct address_space *mapping, unsigned int order)
{
	gfp_t gfp = mapping_gfp_mask(mapping) & ~__GFP_DIRECT_RECLAIM;

	return folio_alloc(gfp | __GFP_NORETRY | __GFP_NOWARN, order);
}

/* Return: false if the kernel supports, or has, no folio of this size. */
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
	struct mem_cgroup *old = set_active_memcg(root_group);
	int err = 0;

	if (!make_folio(blk, first))
		err = make_singles(blk, first);
	set_active_memcg(old);
	return err;
}

/* --- their locks, and who uses them ---------------------------------------------------- */

void weft_pages_lock(struct weft_block *blk)
{
	u32 i;

	/* in ascending order, as all of the kernel locks several pages of a file */
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

bool weft_pages_device_writes(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	return blk->line.state == WEFT_M && weft_pages_pinned(blk);
}

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

/* Search of the kernel's tree of mappings, whose own functions are not exported. */
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

/* The flags of a folio of several pages do not always say that it is mlocked; mappings do. */
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

	/* before the mappings go, so that filemap_map_pages() makes no new one */
	weft_pages_clear_uptodate(blk);
	/* when a home begins anew many blocks go at once, most of them mapped nowhere */
	if (!weft_pages_mapped(blk))
		return;
	unmap_mapping_pages(blk->region->mapping, index * blk->nr_pages, blk->nr_pages, false);
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
