// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map the blocks that came with a lock for the thread that got it, where its process has faulted
 * before. fs/fault.c notes the places, lockfile.c has the blocks mapped.  Waits for no block but
 * those that come with the lock; takes no lock but mmap_lock, by trylock.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/userfaultfd_k.h>

#include "base/compat.h"
#include "base/stats.h"
#include "blocks/block.h"
#include "blocks/guarded.h"
#include "blocks/region.h"
#include "locks/guard.h"
#include "locks/lockres.h"
#include "locks/mapped.h"
#include "locks/wait.h"
#include "net/node.h"

/* The pages to be mapped. */
struct to_map {
	u32 n;
	pgoff_t page[WEFT_MAPPED_MAX];	/* index of each in the file */
	u8 perm[WEFT_MAPPED_MAX];	/* permission with which to map it */
};

/* --- where the process maps the region ---------------------------------------------------- */

/* The entries in which the places of @mm are, beside those of other processes. */
static struct weft_place *bucket(struct weft_slots *slots, struct mm_struct *mm)
{
	return slots->places + hash_ptr(mm, WEFT_PLACES_SHIFT) * WEFT_PLACES_EACH;
}

/*
 * Without a lock: two processes may mix their entries into one that is true of neither, so
 * maps_there() checks each before it is used.
 */
void weft_mapped_note_place(struct weft_slots *slots, const struct vm_area_struct *vma)
{
	unsigned long mm = (unsigned long)vma->vm_mm;
	u64 base = vma->vm_start - ((u64)vma->vm_pgoff << PAGE_SHIFT);
	struct weft_place *p;
	u32 i;

	p = bucket(slots, vma->vm_mm);
	if (READ_ONCE(p->mm) == mm && READ_ONCE(p->base) == base)
		return;
	for (i = WEFT_PLACES_EACH - 1; i; i--) {
		WRITE_ONCE(p[i].mm, READ_ONCE(p[i - 1].mm));
		WRITE_ONCE(p[i].base, READ_ONCE(p[i - 1].base));
	}
	WRITE_ONCE(p->mm, mm);
	WRITE_ONCE(p->base, base);
}

static bool maps_there(const struct vm_area_struct *vma, const struct weft_region *region,
		       unsigned long addr, pgoff_t page)
{
	return vma && vma->vm_file && vma->vm_file->f_mapping == region->mapping &&
	       vma->vm_pgoff + ((addr - vma->vm_start) >> PAGE_SHIFT) == page;
}

/* The mapping of @page by this process, and @addr of the page in it; NULL: none is known. */
static struct vm_area_struct *mapping_of(struct weft_slots *slots, pgoff_t page, unsigned long *addr)
{
	const struct weft_place *p = bucket(slots, current->mm);
	struct vm_area_struct *vma;
	u32 i;

	/* modules cannot call mmap_assert_locked() with CONFIG_DEBUG_VM */
	lockdep_assert_held(&current->mm->mmap_lock);
	for (i = 0; i < WEFT_PLACES_EACH; i++) {
		if (READ_ONCE(p[i].mm) != (unsigned long)current->mm)
			continue;
		*addr = (unsigned long)(READ_ONCE(p[i].base) + ((u64)page << PAGE_SHIFT));
		vma = vma_lookup(current->mm, *addr);
		if (maps_there(vma, slots->region, *addr, page))
			return vma;
	}
	return NULL;
}

static bool is_known(struct weft_slots *slots)
{
	const struct weft_place *p = bucket(slots, current->mm);
	u32 i;

	for (i = 0; i < WEFT_PLACES_EACH; i++)
		if (READ_ONCE(p[i].mm) == (unsigned long)current->mm)
			return true;
	return false;
}

/* --- mapping blocks ----------------------------------------------------------------------- */

static void add_block(struct to_map *m, struct weft_region *region, u64 block, u8 perm)
{
	struct weft_block *blk;
	u32 at = 0;

	if (m->n == WEFT_MAPPED_MAX)
		return;
	blk = weft_block_find(region, block);
	if (!blk)
		return;
	perm = weft_guarded_map(blk, perm, &at);
	weft_block_put(blk);
	if (!perm)
		return;
	m->page[m->n] = ((block << region->block_shift) + at) >> PAGE_SHIFT;
	m->perm[m->n] = perm;
	m->n++;
}

static void add_all(struct to_map *m, struct weft_lockres *lr, u8 perm)
{
	struct weft_guarded_blocks b;
	u32 i;

	weft_lockres_blocks(lr, &b);
	for (i = 0; i < b.n && !signal_pending(current); i++)
		add_block(m, b.region, b.block[i], perm);
	weft_guard_put(b.guard);
}

/*
 * Serve a fault that must not wait (RETRY_NOWAIT keeps mmap_lock): a page that was taken away
 * meanwhile stays unmapped.
 */
static bool map_page(struct vm_area_struct *vma, unsigned long addr, u8 perm)
{
	unsigned int flags = FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_RETRY_NOWAIT;
	vm_fault_t fault;

	if (userfaultfd_armed(vma))
		return false;
	if (perm == WEFT_M && vma->vm_flags & VM_WRITE && vma->vm_flags & VM_SHARED)
		flags |= FAULT_FLAG_WRITE;
	else if (!(vma->vm_flags & VM_READ))
		return false;
	fault = handle_mm_fault(vma, addr, flags, NULL);
	if (fault & (VM_FAULT_ERROR | VM_FAULT_RETRY))
		return false;
	weft_fault_done(vma, addr);
	return true;
}

static void map_all(struct weft_slots *slots, const struct to_map *m)
{
	const struct weft_counters *counters = &slots->locks->node->counters;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	unsigned long addr;
	u32 i;

	/* no barrier: a thread looks for its own number only */
	if (!m->n || cmpxchg(&slots->mappers[weft_mapper()], 0, current->pid))
		return;
	/* do not wait behind a thread that changes mappings: page faults will do */
	if (!mmap_read_trylock(mm))
		goto out;
	for (i = 0; i < m->n; i++) {
		vma = mapping_of(slots, m->page[i], &addr);
		if (vma && map_page(vma, addr, m->perm[i]))
			weft_stat_inc(counters, WEFT_STAT_LOCK_BLOCKS_MAPPED);
	}
	mmap_read_unlock(mm);
out:
	WRITE_ONCE(slots->mappers[weft_mapper()], 0);
}

void weft_mapped_map(struct weft_slots *slots, struct weft_lockres *lr, u8 perm)
{
	struct to_map m = { .n = 0 };

	if (!current->mm || !READ_ONCE(weft_lock_tuning.map) || !is_known(slots))
		return;
	add_all(&m, lr, perm);
	map_all(slots, &m);
}
