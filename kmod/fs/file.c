// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files: open, read, write, fsync, mmap.  Locks are in lockfile.c.
 *
 * Reading and writing go through the same permissions as mappings do, block by
 * block: what is copied under a page's lock is coherent.
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

#define SAY_INTERVAL	(60 * HZ)	/* one sentence: any user may ask for locks in a loop */

/* What is not printed is not worth a line that counts it. */
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
 * Copy between the user and a page that is locked and in @blk: no faults here, so
 * it may be less than asked for.
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
 * Bring the user's memory in, before anything is locked: it may be a mapping of the same page, and
 * may be of a file system that answers when it likes.  Return: how much of @n is not there.
 */
static size_t bring_in(const struct iov_iter *iter, size_t n, bool write)
{
	return write ? fault_in_iov_iter_readable(iter, n) : fault_in_iov_iter_writeable(iter, n);
}

/*
 * Copy to or from one page of the region.  Who writes has brought its memory in before, and holds
 * the inode's lock, so nobody is waited for here but the network: -EFAULT says that it is not
 * there any more.  -ENXIO: the page is not, another node has made the region smaller.
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

/* What is stored behind the end until now is not to be found when it is @size bytes. */
static int grow(struct weft_inode *wi, u64 size)
{
	int err = weft_tail_clear(wi);

	return err ? err : weft_inode_resize(wi, size, true);
}

/*
 * The whole of it.  Stops at a signal that kills and at the first error, which is returned if
 * nothing was copied before.  Where another node cuts the region off meanwhile reading ends, and
 * writing makes it larger again, for as long as one waits.
 */
static ssize_t copy_range(struct weft_inode *wi, loff_t *pos, size_t count,
			  struct iov_iter *iter, bool write)
{
	unsigned long end = weft_wait_end(wi->rack);
	ssize_t total = 0, n = 0;

	while (count) {
		n = copy_page_part(wi, *pos,
				   min_t(size_t, count,
					 PAGE_SIZE - offset_in_page(*pos)),
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
		/* another node may have written beyond what we know */
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

/* A part of a write, under the inode's lock.  -EFAULT: see copy_page_part(). */
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

#define WRITE_PART	(1u << 20)	/* bytes that are brought in, and written, in one go */
#define WRITE_TRIES	1000		/* for memory that goes as soon as it has come */

/*
 * Who writes to the same region on this node waits for the inode's lock, and cannot be killed
 * then: so memory that does not come, as of a user's own file system, is waited for without it.
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
	/* before it is asked for: from here on it is in use, see weft_openstate_give_up() */
	first = atomic_inc_return(&wi->files) == 1;
	err = weft_openstate_open(wi, file, true, file->f_mode & FMODE_CREATED);
	if (err)
		atomic_dec(&wi->files);
	else if (first) /* those who had it open when blocks were lost have all heard of it */
		WRITE_ONCE(wi->lost, false);
	return weft_program_errno(err);
}

static int weft_release(struct inode *inode, struct file *file)
{
	struct weft_inode *wi = weft_inode_of(inode);

	weft_inode_used(wi);
	atomic_dec(&wi->files);
	weft_lockfile_release(file);
	/* since close(): it was mapped, perhaps */
	if (file->f_mode & FMODE_WRITE)
		weft_inode_tell_mtime(wi);
	return 0;
}

/* close(), though the file stays open elsewhere, or mapped: others may look at it from here on. */
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
	/* pages come and go one by one */
	weft_vm_flags_set(vma, VM_NOHUGEPAGE);
	vma->vm_ops = &weft_vm_operations;
	return 0;
}

/*
 * The memory management does not write our pages back and does not count them
 * as dirty: the state of the line says what the home lacks.
 */
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
	/* EINVAL: nobody on another node would break a lease */
	.setlease = weft_nosetlease,
	.splice_read = weft_splice_read,
	.splice_write = iter_file_splice_write,
};
