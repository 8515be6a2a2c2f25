// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults.
 *
 * The quick path finds the block in the cache, with the permission, and hands its
 * page locked to the memory management, which maps and unlocks it: the page lock
 * is the fence (blocks/block.h).  The slow path lets go of mmap_lock, gets the block,
 * and has the fault tried again.
 */
#include <linux/file.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "base/compat.h"
#include "base/event.h"
#include "base/stats.h"
#include "base/trace.h"
#include "blocks/access.h"
#include "blocks/bound.h"
#include "blocks/flight.h"
#include "blocks/predict.h"
#include "fs/ahead.h"
#include "fs/fault.h"
#include "fs/rack.h"
#include "locks/mapped.h"
#include "locks/observe.h"

#define UPGRADE_WAIT_MS	20	/* with mmap_lock, where others of the process want it */
#define FAILED_FRESH	HZ	/* a failure is reported if its repetition comes soon */

static unsigned long wait_ticks(const struct weft_rack *rack)
{
	return msecs_to_jiffies(READ_ONCE(rack->node.timeout_ms));
}

unsigned long weft_wait_end(const struct weft_rack *rack)
{
	return jiffies + wait_ticks(rack);
}

static bool beyond_end(const struct weft_inode *wi, pgoff_t page)
{
	return page >= DIV_ROUND_UP_ULL(i_size_read(&wi->vfs), PAGE_SIZE);
}

/*
 * With the page locked nobody takes it away, so it is known here whether the region is lost: what
 * has come since is not for programs of before; and whether it has become smaller: who makes it so
 * says that first, and then takes what is mapped (fs/callback.c).
 */
static bool lock_page_of(struct weft_inode *wi, struct weft_block *blk, pgoff_t page, u8 perm)
{
	u32 in_block = weft_region_in_block(&wi->region, page);

	if (!weft_block_lock_page(blk, in_block, perm))
		return false;
	if (!READ_ONCE(wi->lost) && !beyond_end(wi, page))
		return true;
	unlock_page(blk->pages[in_block]);
	return false;
}

struct weft_block *weft_lock_cached(struct weft_inode *wi, pgoff_t page,
				    u8 perm)
{
	u64 block = weft_region_block_of(&wi->region, page);
	struct weft_block *blk;

	if (beyond_end(wi, page))
		return NULL;
	blk = weft_block_find(&wi->region, block);
	if (!blk)
		return NULL;
	if (READ_ONCE(blk->ahead)) {
		WRITE_ONCE(blk->ahead, false);
		weft_ahead(wi, block);
	}
	if (lock_page_of(wi, blk, page, perm))
		return blk;
	weft_block_put(blk);
	return NULL;
}

/*
 * There is no such block, it was said.  It may be there again: the region was cut off, and has grown
 * since.
 */
static bool is_back(struct weft_inode *wi, pgoff_t page, unsigned long end)
{
	return !beyond_end(wi, page) && !weft_inode_refresh(wi) && !beyond_end(wi, page) &&
	       time_before(jiffies, end);
}

struct weft_block *weft_get_page(struct weft_inode *wi, pgoff_t page, u8 perm,
				 bool ahead, unsigned long end)
{
	u64 block = weft_region_block_of(&wi->region, page);
	struct weft_block *blk;
	int err;

	if (READ_ONCE(wi->lost))
		return ERR_PTR(-EIO);
	if (beyond_end(wi, page)) {
		/* another node may have made it larger */
		err = weft_inode_refresh(wi);
		if (err)
			return ERR_PTR(err);
		if (beyond_end(wi, page))
			return ERR_PTR(-ENXIO);
	}
	do {
		blk = weft_block_get(&wi->region, block, true, end);
		if (IS_ERR(blk))
			return blk;
		if (perm == WEFT_S)
			weft_flight_calm(blk);
		/* on the way before the ones after it */
		weft_block_ask(blk, perm);
		if (perm == WEFT_S && ahead)
			weft_ahead(wi, block);
		err = weft_block_acquire(blk, perm, end);
		weft_block_unpin(blk);
		/* asked for before that was known, it may have come after it */
		if (!err && READ_ONCE(wi->lost)) {
			weft_block_unpin(blk);
			err = -EIO;
		}
		if (err)
			weft_block_put(blk);
	} while (err == -ESTALE || (err == -ENXIO && is_back(wi, page, end)));
	return err ? ERR_PTR(err) : blk;
}

void weft_note_miss(struct weft_inode *wi, u64 offset, u8 perm)
{
	weft_observe_miss(&wi->slots, offset >> wi->region.block_shift);
	trace_weft_miss(weft_line_key(wi->region.id, WEFT_KIND_PAGE,
				      offset >> wi->region.block_shift),
			offset, perm == WEFT_M);
}

void weft_put_page(struct weft_block *blk)
{
	weft_block_unpin(blk);
	weft_block_put(blk);
}

/* --- failures that are reported by the repetition ------------------------------- */

static struct weft_failed *failed_slot(struct weft_inode *wi, pgoff_t page)
{
	return &wi->failed[hash_long(current->pid ^ page, 31) % WEFT_FAILED];
}

static void note_failure(struct weft_inode *wi, pgoff_t page, int err)
{
	struct weft_failed *f = failed_slot(wi, page);

	spin_lock(&wi->lock);
	f->task = current->pid;
	f->page = page;
	f->at = jiffies;
	f->err = err;
	spin_unlock(&wi->lock);
}

static int take_failure(struct weft_inode *wi, pgoff_t page)
{
	struct weft_failed *f = failed_slot(wi, page);
	int err = 0;

	spin_lock(&wi->lock);
	if (f->task == current->pid && f->page == page && f->err) {
		f->task = 0;
		if (time_before(jiffies, f->at + FAILED_FRESH))
			err = f->err;
	}
	spin_unlock(&wi->lock);
	return err;
}

/*
 * A thread waits for the same page again and again, for the first time since @began: longer than the
 * time-out by now?
 */
static bool waits_too_long(struct weft_inode *wi, pgoff_t page, unsigned long began)
{
	struct weft_failed *f = failed_slot(wi, page);
	bool yes;

	spin_lock(&wi->lock);
	if (f->task != current->pid || f->page != page || f->err ||
	    time_after(jiffies, f->at + FAILED_FRESH)) {
		f->task = current->pid;
		f->page = page;
		f->since = began;
		f->err = 0;
	}
	f->at = jiffies;
	yes = time_after(jiffies, f->since + wait_ticks(wi->rack));
	if (yes)
		f->task = 0;
	spin_unlock(&wi->lock);
	return yes;
}

static u64 fault_offset(const struct vm_fault *vmf)
{
	return ((u64)vmf->pgoff << PAGE_SHIFT) + offset_in_page(vmf->real_address);
}

static u32 offset_in_block(const struct vm_fault *vmf, const struct weft_inode *wi)
{
	return (u32)(fault_offset(vmf) & (weft_region_block(&wi->region) - 1));
}

static vm_fault_t fault_code(const struct vm_fault *vmf, const struct weft_inode *wi,
			     int err)
{
	weft_stat_inc(&wi->rack->node.counters, WEFT_STAT_FAULT_FAILED);
	/* who is being killed has nothing to complain of */
	if (err != -EINTR)
		weft_event_failed(&wi->rack->node, wi->region.id, fault_offset(vmf), err);
	return err == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
}

/* --- the two paths ----------------------------------------------------------------- */

/* madvise(MADV_RANDOM): what is read ahead is of no use, others may be writing it. */
static bool may_read_ahead(const struct vm_fault *vmf)
{
	return !(vmf->vma->vm_flags & VM_RAND_READ);
}

/* Get the block without mmap_lock; the fault has to be tried again. */
static vm_fault_t get_unlocked(struct vm_fault *vmf, struct weft_inode *wi,
			       pgoff_t page, u8 perm)
{
	struct file *file = vmf->vma->vm_file;
	bool ahead = may_read_ahead(vmf);
	struct weft_block *blk;

	/* keeps the inode when the mapping goes; vmf->vma is off limits below */
	get_file(file);
	weft_release_fault_lock(vmf);
	weft_stat_inc(&wi->rack->node.counters, WEFT_STAT_FAULT_WAITED);
	blk = weft_get_page(wi, page, perm, ahead, weft_wait_end(wi->rack));
	if (!IS_ERR(blk))
		weft_put_page(blk);
	else if (PTR_ERR(blk) != -EINTR)
		note_failure(wi, page, PTR_ERR(blk));
	fput(file);
	return VM_FAULT_RETRY | VM_FAULT_MAJOR;
}

/* For who cannot let go of mmap_lock.  Page locked, reference to the line. */
static struct weft_block *get_locked(struct weft_inode *wi, pgoff_t page,
				     u8 perm, bool ahead, unsigned long end)
{
	struct weft_block *blk;

	for (;;) {
		blk = weft_get_page(wi, page, perm, ahead, end);
		if (IS_ERR(blk))
			return blk;
		if (lock_page_of(wi, blk, page, perm)) {
			weft_block_unpin(blk);
			return blk;
		}
		weft_put_page(blk);
		if (time_after(jiffies, end))
			return ERR_PTR(-ETIMEDOUT);
	}
}

/*
 * Not a program's fault, but one that the kernel makes so that a program needs none.  What
 * .page_mkwrite() is told of a fault does not say that.
 */
static bool must_not_wait(const struct vm_fault *vmf, struct weft_inode *wi)
{
	return vmf->flags & FAULT_FLAG_RETRY_NOWAIT || weft_mapped_is_mapping(&wi->slots);
}

/*
 * The page locked, in @clp a reference to its line; or a fault code.
 */
static vm_fault_t get_for_fault(struct vm_fault *vmf, u8 perm,
				struct weft_block **clp)
{
	struct weft_inode *wi = weft_inode_of(file_inode(vmf->vma->vm_file));
	pgoff_t page = vmf->pgoff;
	int err;

	*clp = weft_lock_cached(wi, page, perm);
	if (*clp)
		return 0;
	if (must_not_wait(vmf, wi))
		return VM_FAULT_RETRY; /* mmap_lock stays held */
	err = take_failure(wi, page);
	if (err)
		return fault_code(vmf, wi, err);
	weft_note_miss(wi, fault_offset(vmf), perm);
	if (vmf->flags & FAULT_FLAG_ALLOW_RETRY)
		return get_unlocked(vmf, wi, page, perm);
	*clp = get_locked(wi, page, perm, may_read_ahead(vmf), weft_wait_end(wi->rack));
	if (IS_ERR(*clp))
		return fault_code(vmf, wi, PTR_ERR(*clp));
	return 0;
}

/* The page leaves the mappings of this node: the program faults again, and .fault() can let go. */
static vm_fault_t to_weft_fault(struct vm_fault *vmf, struct weft_inode *wi)
{
	unmap_mapping_pages(wi->vfs.i_mapping, vmf->pgoff, 1, false);
	return VM_FAULT_NOPAGE;
}

/* Ask for the right to write.  Return: false: the block is asked for something already. */
static bool ask_first(struct weft_inode *wi, pgoff_t page)
{
	struct weft_block *blk = weft_block_find(&wi->region,
						 weft_region_block_of(&wi->region, page));
	bool first;

	if (!blk)
		return true;
	first = weft_block_start(blk, WEFT_M);
	weft_block_put(blk);
	return first;
}

/*
 * The page is mapped to be read, and is to be written to.  The memory management does not say here
 * whether it may let go of mmap_lock.  A process of one thread waits with it.  Of others the page is
 * asked for and leaves the mappings: so the thread faults again, for a page that is not mapped; of
 * that weft_fault() is told, and lets go.  A thread that reads the page in a loop may have mapped it
 * again before: then the one that writes waits with mmap_lock after all, but no longer than an answer
 * takes usually, and goes the same way again.
 */
static vm_fault_t get_for_upgrade(struct vm_fault *vmf, struct weft_block **clp)
{
	struct weft_inode *wi = weft_inode_of(file_inode(vmf->vma->vm_file));
	bool alone = atomic_read(&vmf->vma->vm_mm->mm_users) == 1;
	unsigned long end = weft_wait_end(wi->rack), began = jiffies;
	pgoff_t page = vmf->pgoff;
	int err;

	*clp = weft_lock_cached(wi, page, WEFT_M);
	if (*clp)
		return 0;
	/* so that the caller lets go of the page; mmap_lock stays held */
	if (must_not_wait(vmf, wi))
		return VM_FAULT_RETRY | VM_FAULT_NOPAGE;
	err = take_failure(wi, page);
	if (err)
		return fault_code(vmf, wi, err);
	if (!alone && ask_first(wi, page))
		return to_weft_fault(vmf, wi);
	weft_note_miss(wi, fault_offset(vmf), WEFT_M);
	if (!alone)
		end = jiffies + msecs_to_jiffies(UPGRADE_WAIT_MS) + 1;
	*clp = get_locked(wi, page, WEFT_M, false, end);
	if (!IS_ERR(*clp))
		return 0;
	err = PTR_ERR(*clp);
	if (alone || err != -ETIMEDOUT || waits_too_long(wi, page, began))
		return fault_code(vmf, wi, err);
	return to_weft_fault(vmf, wi);
}

/*
 * A program's fault is served.  Those that the kernel makes itself, so that a program needs
 * none (locks/mapped.h), count there.
 */
static void note_served(const struct vm_fault *vmf, struct weft_inode *wi,
			struct weft_block *blk, u8 perm)
{
	if (must_not_wait(vmf, wi))
		return;
	weft_stat_inc(&wi->rack->node.counters,
		      perm == WEFT_M ? WEFT_STAT_FAULT_WRITE : WEFT_STAT_FAULT_READ);
	if (blk && weft_predict_looks(blk))
		weft_predict_touched(blk, perm, offset_in_block(vmf, wi));
}

static vm_fault_t weft_fault(struct vm_fault *vmf)
{
	struct weft_inode *wi = weft_inode_of(file_inode(vmf->vma->vm_file));
	/* a private mapping gets a copy */
	bool write = vmf->flags & FAULT_FLAG_WRITE &&
		     vmf->vma->vm_flags & VM_SHARED;
	pgoff_t page = vmf->pgoff;
	struct weft_block *blk;
	vm_fault_t ret;

	weft_mapped_note(&wi->slots, vmf->vma);
	ret = get_for_fault(vmf, write ? WEFT_M : WEFT_S, &blk);
	if (ret)
		return ret;
	/* a writer comes again, to weft_page_mkwrite() */
	if (!write) {
		note_served(vmf, wi, blk, WEFT_S);
		weft_block_touched(blk, WEFT_S);
	}
	vmf->page = blk->pages[weft_region_in_block(&wi->region, page)];
	get_page(vmf->page);
	weft_block_put(blk);
	return VM_FAULT_LOCKED;
}

static bool is_untried(struct weft_inode *wi, u64 block)
{
	struct weft_block *blk = weft_block_find(&wi->region, block);
	bool yes = blk && weft_bound_is_untried(blk);

	if (blk)
		weft_block_put(blk);
	return yes;
}

/*
 * A block that came with a lock which has learnt that it guards it is mapped by a fault of its
 * own: else nobody could tell whether a program touches it.
 */
static void leave_out_untried(struct weft_inode *wi, pgoff_t page, pgoff_t *first, pgoff_t *last)
{
	u64 block = weft_region_block_of(&wi->region, page);
	pgoff_t p;

	if (!atomic_read(&wi->region.untried))
		return;
	for (p = page; p > *first; p--)
		if (weft_region_block_of(&wi->region, p - 1) != block &&
		    is_untried(wi, weft_region_block_of(&wi->region, p - 1)))
			*first = p;
	for (p = page; p < *last; p++)
		if (weft_region_block_of(&wi->region, p + 1) != block &&
		    is_untried(wi, weft_region_block_of(&wi->region, p + 1)))
			*last = p;
}

/*
 * The memory management maps what is there around a fault.  If that is what the program
 * faulted for, it came back for its block here, and not to weft_fault().  The caller may
 * be in a section of RCU.
 */
static vm_fault_t weft_map_pages(struct vm_fault *vmf, pgoff_t first, pgoff_t last)
{
	struct weft_inode *wi = weft_inode_of(file_inode(vmf->vma->vm_file));
	struct weft_block *blk;
	vm_fault_t ret;
	pgoff_t end;

	weft_mapped_note(&wi->slots, vmf->vma);
	if (READ_ONCE(wi->lost))
		return 0;
	/*
	 * A folio may go on behind the end: not all kernels look for each of its pages.  Under RCU:
	 * who makes the region smaller waits for us (fs/callback.c).
	 */
	rcu_read_lock();
	end = DIV_ROUND_UP_ULL(i_size_read(&wi->vfs), PAGE_SIZE);
	if (vmf->pgoff >= end) {
		rcu_read_unlock();
		return 0;
	}
	last = min_t(pgoff_t, last, end - 1);
	leave_out_untried(wi, vmf->pgoff, &first, &last);
	ret = filemap_map_pages(vmf, first, last);
	rcu_read_unlock();
	if (!(ret & VM_FAULT_NOPAGE))
		return ret;
	blk = weft_block_find(&wi->region, weft_region_block_of(&wi->region, vmf->pgoff));
	note_served(vmf, wi, blk, WEFT_S);
	if (blk) {
		weft_block_touched(blk, WEFT_S);
		weft_block_put(blk);
	}
	return ret;
}

static vm_fault_t weft_page_mkwrite(struct vm_fault *vmf)
{
	struct weft_inode *wi = weft_inode_of(file_inode(vmf->vma->vm_file));
	struct page *page = vmf->page;
	struct weft_block *blk;
	vm_fault_t ret;

	ret = get_for_upgrade(vmf, &blk);
	if (ret)
		return ret;
	if (blk->pages[weft_region_in_block(&wi->region, vmf->pgoff)] != page) {
		/* evicted and read again meanwhile */
		unlock_page(blk->pages[weft_region_in_block(&wi->region, vmf->pgoff)]);
		weft_block_put(blk);
		return VM_FAULT_NOPAGE;
	}
	note_served(vmf, wi, blk, WEFT_M);
	weft_block_writes(blk, offset_in_block(vmf, wi));
	weft_inode_written(wi);
	weft_block_put(blk);
	return VM_FAULT_LOCKED;
}

const struct vm_operations_struct weft_vm_operations = {
	.fault = weft_fault,
	.map_pages = weft_map_pages,
	.page_mkwrite = weft_page_mkwrite,
};
