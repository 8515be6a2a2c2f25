// SPDX-License-Identifier: GPL-2.0-only
/*
 * File operations of regions, see file.h; locks of a region are in locks/lockfile.  read() and
 * write() copy page by page under the page's lock, with the block's permission checked: so each
 * page is coherent.
 */
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/splice.h>
#include <linux/uio.h>

#include "base/compat.h"
#include "base/stats.h"
#include "blocks/access.h"
#include "fs/attr.h"
#include "fs/fault.h"
#include "fs/file.h"
#include "fs/fsync.h"
#include "fs/inode.h"
#include "fs/openstate.h"
#include "fs/policy.h"
#include "fs/rack.h"
#include "locks/lockfile.h"

/* --- locks by flock() and fcntl() ---------------------------------------------------------- */

#define SAY_INTERVAL	(60 * HZ)	/* between two sentences: a program may retry in a loop */

/* RATELIMIT_MSG_ON_RELEASE: no line in the log for sentences that were suppressed. */
static struct ratelimit_state say =
	RATELIMIT_STATE_INIT_FLAGS(say, SAY_INTERVAL, 1, RATELIMIT_MSG_ON_RELEASE);

int weft_reclock(struct file *file, int cmd, struct file_lock *fl)
{
	if (cmd != F_GETLK && weft_lock_type(fl) == F_UNLCK)
		return 0;
	if (__ratelimit(&say))
		pr_info("weft: %s (process %d) asked for a lock by flock() or fcntl(), refused with ENOLCK: it would hold on this node only; let programs use pthread locks with libweft-preload.so, or libweft\n",
			current->comm, task_tgid_nr(current));
	return -ENOLCK;
}

/* --- the file ------------------------------------------------------------------------------ */

/*
 * Copy between user memory and a locked page of @blk, then unlock the page.  Page faults are off,
 * so it may copy less than @n.
 */
static size_t copy_locked(struct weft_block *blk, struct page *page, size_t at,
			  size_t n, struct iov_iter *iter, bool write)
{
	size_t done;
	void *data;

	pagefault_disable();
	data = kmap_local_page(page);
	if (write)
		done = copy_from_iter(data + at, n, iter);
	else
		done = copy_to_iter(data + at, n, iter);
	kunmap_local(data);
	pagefault_enable();
	weft_block_touched(blk, write ? WEFT_M : WEFT_S);
	unlock_page(page);
	return done;
}

/*
 * Fault the user's memory in before anything is locked: it may be a mapping of the same page, or
 * of a file system that never answers.  Return: how many of @n bytes are not there.
 */
static size_t bring_in(const struct iov_iter *iter, size_t n, bool write)
{
	return write ? fault_in_iov_iter_readable(iter, n) : fault_in_iov_iter_writeable(iter, n);
}

/*
 * Copy to or from one page of the region.  A writer holds the inode's lock, so it waits for
 * nothing here but the network: its memory was faulted in before.
 * Return: bytes; -EFAULT: a writer's memory was taken away again; -ENXIO: another node has made
 * the region smaller; as weft_get_page().
 */
static ssize_t copy_page_part(struct weft_inode *wi, loff_t pos, size_t n,
			      struct iov_iter *iter, bool write)
{
	unsigned long end = weft_wait_end(wi->rack);
	pgoff_t index = pos >> PAGE_SHIFT;
	u32 in_block = weft_region_in_block(&wi->region, index);
	u8 perm = write ? WEFT_M : WEFT_S;
	struct weft_block *blk;
	size_t done = 0;

	while (!done) {
		size_t missing = write ? 0 : bring_in(iter, n, false);

		if (missing == n)
			return -EFAULT;
		blk = weft_lock_cached(wi, index, perm);
		if (blk) {
			done = copy_locked(blk, blk->pages[in_block],
					   offset_in_page(pos), n - missing,
					   iter, write);
			weft_block_put(blk);
			if (!done && write)
				return -EFAULT;
			continue;
		}
		weft_note_miss(wi, (u64)pos, perm);
		blk = weft_get_page(wi, index, perm, true, end);
		if (IS_ERR(blk))
			return PTR_ERR(blk);
		weft_put_page(blk);
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
	}
	return done;
}

/* Make the region @size bytes, zeroing what was stored behind its end. */
static int grow(struct weft_inode *wi, u64 size)
{
	int err = weft_tail_clear(wi);

	return err ? err : weft_inode_grow(wi, size);
}

/*
 * Copy @count bytes.  Stops at a fatal signal and at the first error, which is returned if nothing
 * was copied before it.  If another node truncates the region meanwhile, a read ends there, and a
 * write grows the region again, until the time-out.
 */
static ssize_t copy_range(struct weft_inode *wi, loff_t *pos, size_t count,
			  struct iov_iter *iter, bool write)
{
	unsigned long end = weft_wait_end(wi->rack);
	ssize_t total = 0, n = 0;

	while (count) {
		n = copy_page_part(wi, *pos,
				   min_t(size_t, count, PAGE_SIZE - offset_in_page(*pos)),
				   iter, write);
		if (n == -ENXIO && !write && *pos >= i_size_read(&wi->vfs)) {
			n = 0;
			break;
		}
		if (n == -ENXIO && time_before(jiffies, end)) {
			n = write ? grow(wi, *pos + count) : 0;
			if (!n)
				continue;
		}
		if (n < 0)
			break;
		*pos += n;
		total += n;
		count -= n;
		cond_resched();
	}
	return total ? total : weft_program_errno((int)n);
}

static ssize_t weft_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	struct weft_inode *wi = weft_inode_of(inode);
	size_t count = iov_iter_count(iter);
	loff_t size;
	ssize_t n;
	int err;

	if (!count)
		return 0;
	if (iocb->ki_pos < 0)
		return -EINVAL;
	if (iocb->ki_pos + count > i_size_read(inode)) {
		/* another node may have written behind the end that this node knows */
		err = weft_inode_refresh(wi);
		if (err)
			return weft_program_errno(err);
	}
	size = i_size_read(inode);
	if (iocb->ki_pos >= size)
		return 0;
	count = min_t(loff_t, count, size - iocb->ki_pos);
	n = copy_range(wi, &iocb->ki_pos, count, iter, false);
	if (n > 0)
		weft_stat_add(&wi->rack->node.counters, WEFT_STAT_READ_BYTES, n);
	return n;
}

/* Write one part, under the inode's lock.  -EFAULT: as copy_page_part(). */
static ssize_t write_locked(struct kiocb *iocb, struct iov_iter *iter)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	struct weft_inode *wi = weft_inode_of(inode);
	ssize_t n;
	int err;

	if (iocb->ki_flags & IOCB_APPEND) {
		n = weft_program_errno(weft_inode_refresh(wi));
		if (n)
			return n;
	}
	n = generic_write_checks(iocb, iter);
	if (n <= 0)
		return n;
	err = file_remove_privs(iocb->ki_filp);
	if (!err && iocb->ki_pos + n > i_size_read(inode))
		err = weft_program_errno(grow(wi, iocb->ki_pos + n));
	if (err)
		return err;
	n = copy_range(wi, &iocb->ki_pos, n, iter, true);
	if (n > 0) {
		weft_inode_written(wi);
		weft_stat_add(&wi->rack->node.counters, WEFT_STAT_WRITE_BYTES, n);
	}
	return n;
}

#define WRITE_PART	(1u << 20)	/* bytes that are faulted in, then written, in one go */
#define WRITE_TRIES	1000		/* for a part whose memory is taken away again at once */

/*
 * Fault in without the inode's lock, for which other writers of this node wait unkillably: the
 * user's memory may be of a file system that never answers.
 */
static ssize_t weft_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	unsigned int tries = WRITE_TRIES;
	ssize_t total = 0, n = 0;
	size_t left;

	while ((left = iov_iter_count(iter))) {
		iov_iter_truncate(iter, WRITE_PART);
		n = -EFAULT;
		if (bring_in(iter, iov_iter_count(iter), true) < iov_iter_count(iter)) {
			inode_lock(inode);
			n = write_locked(iocb, iter);
			inode_unlock(inode);
		} else {
			tries = 0;
		}
		iov_iter_reexpand(iter, left - max_t(ssize_t, n, 0));
		if (n == -EFAULT && tries && !fatal_signal_pending(current)) {
			tries--;
			cond_resched();
			continue;
		}
		if (n <= 0)
			break;
		total += n;
		tries = WRITE_TRIES;
	}
	if (!total)
		return n;
	return generic_write_sync(iocb, total);
}

/* --- open, mmap --------------------------------------------------------------- */

static int weft_open(struct inode *inode, struct file *file)
{
	struct weft_inode *wi = weft_inode_of(inode);
	int err = generic_file_open(inode, file);
	bool first;

	if (err)
		return err;
	/* before OPEN, so that give_up_now() of openstate.c sees the use */
	first = atomic_inc_return(&wi->files) == 1;
	err = weft_openstate_open(wi, file, true, file->f_mode & FMODE_CREATED);
	if (err)
		atomic_dec(&wi->files);
	else if (first) /* all files of before the loss are closed: errors end */
		WRITE_ONCE(wi->lost, false);
	return weft_program_errno(err);
}

static int weft_release(struct inode *inode, struct file *file)
{
	struct weft_inode *wi = weft_inode_of(inode);

	weft_inode_used(wi);
	atomic_dec(&wi->files);
	weft_lockfile_release(file);
	/* a mapping may have stored since close() */
	if (file->f_mode & FMODE_WRITE)
		weft_inode_tell_mtime(wi);
	return 0;
}

/* Each close(): other nodes may look at the time of the last write from here on. */
static int weft_flush(struct file *file, fl_owner_t id)
{
	if (file->f_mode & FMODE_WRITE)
		weft_inode_closed(weft_inode_of(file_inode(file)));
	return 0;
}

static loff_t weft_llseek(struct file *file, loff_t offset, int whence)
{
	int err;

	if (whence != SEEK_SET && whence != SEEK_CUR) {
		err = weft_inode_refresh(weft_inode_of(file_inode(file)));
		if (err)
			return weft_program_errno(err);
	}
	return generic_file_llseek(file, offset, whence);
}

static long weft_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	long err = weft_policy_ioctl(file, cmd, (void __user *)arg);

	if (err != -ENOTTY)
		return weft_program_errno(err);
	return weft_lockfile_ioctl(&weft_inode_of(file_inode(file))->slots, file, cmd, arg);
}

static int weft_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (weft_lockfile_is_mapping(vma))
		return weft_lockfile_mmap(&weft_inode_of(file_inode(file))->slots, file, vma);
	/* blocks are revoked one by one, so there are no huge entries */
	weft_vm_flags_set(vma, VM_NOHUGEPAGE);
	vma->vm_ops = &weft_vm_operations;
	return 0;
}

/* The memory management counts no page as dirty: a line in state M says what the home lacks. */
static bool weft_dirty_folio(struct address_space *mapping, struct folio *folio)
{
	return false;
}

const struct address_space_operations weft_address_space_operations = {
	.dirty_folio = weft_dirty_folio,
};

const struct file_operations weft_file_operations = {
	.owner = THIS_MODULE,
	.open = weft_open,
	.flush = weft_flush,
	.release = weft_release,
	.llseek = weft_llseek,
	.read_iter = weft_read_iter,
	.write_iter = weft_write_iter,
	.fsync = weft_fsync,
	.mmap = weft_mmap,
	.unlocked_ioctl = weft_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.flock = weft_reclock,
	.lock = weft_reclock,
	/* EINVAL: an open() on another node could not break a lease */
	.setlease = weft_nosetlease,
	.splice_read = weft_splice_read,
	.splice_write = iter_file_splice_write,
};
