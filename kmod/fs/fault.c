// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults, see fault.h.  The quick path finds the block in the cache, with the permission,
 * and returns its page locked; the memory management maps and unlocks it: the page lock is the
 * fence (blocks/block.h).  The slow path releases mmap_lock, fetches the block, and has the fault
 * repeated.
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

#define UPGRADE_WAIT_MS	20	/* with mmap_lock held, which other threads of the process need */
#define FAILED_FRESH	HZ	/* a fault this long after a failure is no repetition of it */

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
 * Lock the page, and with the lock, under which it cannot be revoked, look whether programs may
 * still use it: not if the region is lost, as programs of before the loss must not see blocks of
 * after it; not behind the end, as shrink() of callback.c first sets the size and then unmaps.
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

struct weft_block *weft_lock_cached(struct weft_inode *wi, pgoff_t page, u8 perm)
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

/* The home has answered "no such block": is the page inside the region again, which has grown? */
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
		/* another node may have made the region larger */
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
		/* send this request before those of weft_ahead() */
		weft_block_ask(blk, perm);
		if (perm == WEFT_S && ahead)
			weft_ahead(wi, block);
		err = weft_block_acquire(blk, perm, end);
		weft_block_unpin(blk);
		/* the block was requested before the loss, and may have arrived after it */
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

/* --- faults that failed without mmap_lock: their repetition reports the error -------------- */

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
 * A thread waits for a page in portions, this one since @began.
 * Return: whether all portions together took longer than the time-out.
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

static vm_fault_t fault_code(const struct vm_fault *vmf, const struct weft_inode *wi, int err)
{
	weft_stat_inc(&wi->rack->node.counters, WEFT_STAT_FAULT_FAILED);
	/* -EINTR: the program is being killed, which is no failure */
	if (err != -EINTR)
		weft_event_failed(&wi->rack->node, wi->region.id, fault_offset(vmf), err);
	return err == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
}

/* --- the two paths ----------------------------------------------------------------- */

/* Not with madvise(MADV_RANDOM): other nodes may be writing the next blocks. */
static bool may_read_ahead(const struct vm_fault *vmf)
{
	return !(vmf->vma->vm_flags & VM_RAND_READ);
}

/* Release mmap_lock and fetch the block; the memory management repeats the fault. */
static vm_fault_t get_unlocked(struct vm_fault *vmf, struct weft_inode *wi,
			       pgoff_t page, u8 perm)
{
	struct file *file = vmf->vma->vm_file;
	bool ahead = may_read_ahead(vmf);
	struct weft_block *blk;

	/* keeps the inode: without mmap_lock the mapping, and so vmf->vma, may go */
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

/*
 * Fetch the block with mmap_lock held.  Return: the block, with a reference and the page locked.
 */
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
 * Is this a fault that must not sleep, or one that locks/mapped makes to map a block in advance?
 * FAULT_FLAG_RETRY_NOWAIT says it in .fault, but not in .page_mkwrite.
 */
static bool must_not_wait(const struct vm_fault *vmf, struct weft_inode *wi)
{
	return vmf->flags & FAULT_FLAG_RETRY_NOWAIT || weft_mapped_is_mapping(&wi->slots);
}

/* Return: 0: the page is locked, @clp has a reference to its block; or a fault code. */
static vm_fault_t get_for_fault(struct vm_fault *vmf, u8 perm, struct weft_block **clp)
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

/* Unmap the page, so that the program faults again, in .fault, which can release mmap_lock. */
static vm_fault_t to_weft_fault(struct vm_fault *vmf, struct weft_inode *wi)
{
	unmap_mapping_pages(wi->vfs.i_mapping, vmf->pgoff, 1, false);
	return VM_FAULT_NOPAGE;
}

/* Request the upgrade.  Return: false: the block has a request outstanding already. */
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
 * An upgrade: a page that is mapped to read is to be written to.  .page_mkwrite is not told
 * whether it may release mmap_lock.  A process of one thread waits with it.  In a process of
 * several threads this requests the upgrade and unmaps the page: the thread faults again, in
 * weft_fault(), which releases mmap_lock.  If another thread reads the page in a loop, it may be
 * mapped again before that: then this waits with mmap_lock, not longer than an answer usually
 * takes, and unmaps the page again.
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
	/* VM_FAULT_NOPAGE: the caller drops the page; mmap_lock stays held */
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

/* Count a program's fault that was served; locks/mapped counts those that it makes itself. */
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
	/* a write to a private mapping reads the page and copies it */
	bool write = vmf->flags & FAULT_FLAG_WRITE &&
		     vmf->vma->vm_flags & VM_SHARED;
	pgoff_t page = vmf->pgoff;
	struct weft_block *blk;
	vm_fault_t ret;

	weft_mapped_note(&wi->slots, vmf->vma);
	ret = get_for_fault(vmf, write ? WEFT_M : WEFT_S, &blk);
	if (ret)
		return ret;
	/* the access of a writer comes after weft_page_mkwrite() */
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
 * Shorten @first to @last so that no other block that came with a lock as its learnt guard is
 * mapped around this fault: only a fault of its own shows whether a program touches such a block.
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
 * Fault-around: map the cached pages around a read fault.  If the page of the fault is among them,
 * this serves the fault, and weft_fault() is not called.  The caller may be in an RCU section.
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
	 * A folio may go on behind the end, and not all kernels check each of its pages.  Under
	 * RCU: fence_last() of callback.c waits for this before it unmaps.
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
		/* the block was evicted and fetched again: @page is a former page */
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
