// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks as open files see them: the ioctls and mappings of uapi/weft.h, slots, and the end of a
 * file.  Called by fs/file.c, fs/dir.c and fs/lifetime.c.  Checks all that programs pass; takes
 * locks only by wait.c, and never touches a word itself.
 */
#include <linux/cred.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/compat.h"
#include "blocks/region.h"
#include "locks/bind.h"
#include "locks/holds.h"
#include "locks/lockres.h"
#include "locks/learn.h"
#include "locks/lockfile.h"
#include "locks/mapped.h"
#include "locks/observe.h"
#include "locks/reclaim.h"
#include "locks/release.h"
#include "locks/slots.h"
#include "locks/wait.h"
#include "locks/word.h"
#include "weft.h"

#define OWNER_MAX	65535
#define INDEX_BITS	36	/* of a line's name: offsets below 64 GiB */
#define COMES_BACK_NS	NSEC_PER_SEC	/* a thread that is back within this keeps its place */
#define WORDS_A_PAGE	(PAGE_SIZE / sizeof(struct weft_lock_word))
/* Memory that a slot is charged for: lock, word, guard learning, its part of tables. */
#define SLOT_BYTES	(sizeof(struct weft_lockres) + sizeof(struct weft_lock_word) + \
			 sizeof(struct weft_learn) + 32)

/* --- slots -------------------------------------------------------------------------------- */

static struct weft_lockfile *lockfile_of(struct file *file)
{
	/* pairs with smp_store_release() in use_locks() */
	return smp_load_acquire(&file->private_data);
}

/* Charge a slot to the user of @lf.  The slot stays charged when the file is closed. */
static int count_slot(struct weft_slots *slots, const struct weft_lockfile *lf)
{
	size_t taken;
	int err;

	lockdep_assert_held(&slots->lock);
	if (!lf->counts)
		return 0;
	err = weft_lockquota_take(lf->uid, SLOT_BYTES);
	if (err)
		return err;
	taken = xa_to_value(xa_load(&slots->taken, lf->uid)) + SLOT_BYTES;
	err = xa_err(xa_store(&slots->taken, lf->uid, xa_mk_value(taken), GFP_KERNEL));
	if (err)
		weft_lockquota_return(lf->uid, SLOT_BYTES);
	return err;
}

/* Take back count_slot(): the slot was not made. */
static void uncount_slot(struct weft_slots *slots, const struct weft_lockfile *lf)
{
	size_t taken;

	lockdep_assert_held(&slots->lock);
	if (!lf->counts)
		return;
	taken = xa_to_value(xa_load(&slots->taken, lf->uid)) - SLOT_BYTES;
	xa_store(&slots->taken, lf->uid, xa_mk_value(taken), GFP_KERNEL);
	weft_lockquota_return(lf->uid, SLOT_BYTES);
}

/* Make the file's struct weft_lockfile, unless there is one. */
static struct weft_lockfile *use_locks(struct weft_slots *slots, struct file *file)
{
	struct weft_lockfile *lf;
	u32 owner;
	int err;

	lockdep_assert_held(&slots->lock);
	lf = lockfile_of(file);
	if (lf)
		return lf;
	lf = kzalloc(sizeof(*lf), GFP_KERNEL_ACCOUNT);
	if (!lf)
		return ERR_PTR(-ENOMEM);
	lf->slots = slots;
	spin_lock_init(&lf->lock);
	xa_init(&lf->pages);
	xa_init(&lf->binds);
	lf->uid = from_kuid(&init_user_ns, current_uid());
	lf->counts = weft_lockquota_counts();
	err = weft_lockfile_count(lf, sizeof(*lf) + sizeof(struct weft_holds));
	if (!err)
		err = xa_alloc(&slots->files, &owner, lf, XA_LIMIT(1, OWNER_MAX),
			       GFP_KERNEL_ACCOUNT);
	if (err) {
		weft_lockquota_return(lf->uid, lf->taken);
		kfree(lf);
		return ERR_PTR(err == -EBUSY ? -ENOSPC : err);
	}
	lf->owner = (u16)owner;
	weft_lists_join(slots, lf);
	/* pairs with smp_load_acquire() in lockfile_of() */
	smp_store_release(&file->private_data, lf);
	return lf;
}

/*
 * Give @lr the next free slot.  Return: 0; -ENOSPC: @max are in use; -ESTALE: @lr is dead, get
 * it anew; other errors.
 */
static int add_slot(struct weft_slots *slots, const struct weft_lockfile *lf,
		    struct weft_lockres *lr, u32 max)
{
	u32 slot = slots->n;
	struct page *page;
	u64 *word;
	int err;

	lockdep_assert_held(&slots->lock);
	if (slot >= max)
		return -ENOSPC;
	page = weft_shared_get(&slots->words, slot / WORDS_A_PAGE);
	if (!page)
		return -ENOMEM;
	err = xa_reserve(&slots->slot, slot, GFP_KERNEL_ACCOUNT);
	if (!err)
		err = count_slot(slots, lf);
	if (err)
		goto out;
	word = page_address(page) +
	       slot % WORDS_A_PAGE * sizeof(struct weft_lock_word);
	if (!weft_lockres_attach(lr, word, slot, slots->lists)) {
		uncount_slot(slots, lf);
		err = -ESTALE;
		goto out;
	}
	xa_store(&slots->slot, slot, lr, GFP_KERNEL); /* cannot fail: reserved above */
	WRITE_ONCE(slots->n, slot + 1);
	return 0;
out:
	xa_release(&slots->slot, slot);
	return err;
}

static int open_slot(struct weft_lockfile *lf, u64 offset, u32 max, u32 *slot)
{
	struct weft_slots *slots = lf->slots;
	u64 key = weft_line_key(slots->region->id, WEFT_KIND_LOCK, offset);
	struct weft_lockres *lr;
	int err;

	do {
		lr = weft_lockres_get(slots->locks, key);
		if (IS_ERR(lr))
			return PTR_ERR(lr);
		err = lr->word ? 0 : add_slot(slots, lf, lr, max);
		if (!err)
			*slot = lr->slot;
		else
			weft_lockres_kick(lr); /* frees the lock if it was made just now */
		weft_lockres_put(lr);
	} while (err == -ESTALE);
	return err;
}

static int check_offset(struct weft_region *region, u64 offset)
{
	int err;

	if (offset >= weft_region_size(region)) {
		/* another node may have made the region larger */
		err = region->refresh(region);
		if (err)
			return err;
		if (offset >= weft_region_size(region))
			return -EINVAL;
	}
	return offset >> INDEX_BITS ? -EFBIG : 0;
}

static long ioctl_open(struct weft_slots *slots, struct file *file,
		       struct weft_lock_open __user *arg)
{
	/* files that may only be read cannot use up the slots that writers need */
	u32 max = file->f_mode & FMODE_WRITE ? WEFT_LOCKS_MAX : WEFT_LOCKS_MAX / 2;
	struct weft_lock_open o;
	struct weft_lockfile *lf;
	int err;

	if (copy_from_user(&o, arg, sizeof(o)))
		return -EFAULT;
	err = check_offset(slots->region, o.offset);
	if (err)
		return err;
	if (mutex_lock_killable(&slots->lock))
		return -EINTR;
	lf = use_locks(slots, file);
	err = IS_ERR(lf) ? PTR_ERR(lf) : open_slot(lf, o.offset, max, &o.slot);
	if (!err)
		err = weft_holds_prepare(lf, o.slot);
	mutex_unlock(&slots->lock);
	if (err)
		return err;
	o.owner = lf->owner;
	o.flags = lf->place >= 0 ? WEFT_LOCK_LISTS : 0;
	o.unused = 0;
	return copy_to_user(arg, &o, sizeof(o)) ? -EFAULT : 0;
}

/* --- WEFT_IOC_LOCK_FILE ------------------------------------------------------------------- */

/* The file of @sb that is mapped shared at @address, with a reference for the caller. */
static struct file *mapped_at(const struct super_block *sb, unsigned long address)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	struct file *file = NULL;

	if (mmap_read_lock_killable(mm))
		return ERR_PTR(-EINTR);
	vma = vma_lookup(mm, address);
	if (vma && vma->vm_file && vma->vm_flags & VM_MAYSHARE &&
	    file_inode(vma->vm_file)->i_sb == sb)
		file = get_file(vma->vm_file);
	mmap_read_unlock(mm);
	return file ? file : ERR_PTR(-EINVAL);
}

/*
 * Open the file of @of once more, with the same rights: they were checked when @of was opened.
 * Not by name: the name may be gone, and the user may have lost the right to open it.
 */
static long open_again(const struct file *of)
{
	unsigned int flags = of->f_flags & (O_ACCMODE | O_APPEND);
	struct file *file;
	int fd;

	if (!S_ISREG(file_inode(of)->i_mode))
		return -EINVAL;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = dentry_open(&of->f_path, (int)flags | O_LARGEFILE, current_cred());
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	fd_install(fd, file);
	return fd;
}

long weft_lockfile_open(struct file *file, unsigned long address)
{
	struct file *mapped;
	long fd;

	if (!address)
		return open_again(file);
	mapped = mapped_at(file_inode(file)->i_sb, address);
	if (IS_ERR(mapped))
		return PTR_ERR(mapped);
	fd = open_again(mapped);
	fput(mapped);
	return fd;
}

/* --- ioctls ------------------------------------------------------------------------------- */

/* Fill in @h but for @since.  Return: 0; -EINVAL; -EACCES; -ENOMEM. */
static int holder_of(struct file *file, const struct weft_lock_op *op, struct weft_holder *h)
{
	struct weft_lockfile *lf = lockfile_of(file);

	if (op->mode != WEFT_LOCK_READ && op->mode != WEFT_LOCK_WRITE)
		return -EINVAL;
	if (op->mode == WEFT_LOCK_WRITE && !(file->f_mode & FMODE_WRITE))
		return -EACCES;
	h->readers = weft_holds_count(lf, op->slot);
	if (!h->readers)
		return -ENOMEM;
	h->perm = (u8)op->mode;
	h->owner = lf->owner;
	return 0;
}

/*
 * Since when this thread waits for the lock: if a signal interrupted it lately, since before
 * that.
 */
static u64 since(struct weft_lockfile *lf, u32 slot)
{
	u64 now = ktime_get_ns(), found = now;
	struct weft_interrupted *w;

	spin_lock(&lf->lock);
	for (w = lf->interrupted; w < lf->interrupted + WEFT_INTERRUPTED; w++) {
		if (!w->since || w->pid != current->pid || w->slot != slot)
			continue;
		if (now - w->left < COMES_BACK_NS)
			found = w->since;
		w->since = 0;
	}
	spin_unlock(&lf->lock);
	return found;
}

/* Remember an interrupted thread, in a free entry or else in the oldest one. */
static void note_interrupted(struct weft_lockfile *lf, u32 slot, u64 since)
{
	struct weft_interrupted *oldest = lf->interrupted, *w;

	spin_lock(&lf->lock);
	for (w = lf->interrupted; w < lf->interrupted + WEFT_INTERRUPTED; w++) {
		if (!w->since) {
			oldest = w;
			break;
		}
		if (w->left < oldest->left)
			oldest = w;
	}
	*oldest = (struct weft_interrupted){
		.pid = current->pid, .slot = slot, .since = since, .left = ktime_get_ns(),
	};
	spin_unlock(&lf->lock);
}

static int patience_of(const struct weft_lock_op *op, struct weft_patience *p)
{
	if (op->flags & ~(WEFT_LOCK_TRY | WEFT_LOCK_UNTIL | WEFT_LOCK_HEAR))
		return -EINVAL;
	p->try = op->flags & WEFT_LOCK_TRY;
	p->until = op->flags & WEFT_LOCK_UNTIL;
	p->clock = (clockid_t)op->clock;
	p->deadline = ns_to_ktime(op->deadline_ns);
	if (!p->until)
		return 0;
	return p->try || (p->clock != CLOCK_REALTIME &&
			  p->clock != CLOCK_MONOTONIC) ? -EINVAL : 0;
}

static long ioctl_op(struct file *file, unsigned int cmd, const struct weft_lock_op __user *arg)
{
	struct weft_lockfile *lf = lockfile_of(file);
	struct weft_patience patience;
	struct weft_lockres *lr;
	struct weft_lock_op op;
	struct weft_holder h;
	bool came;
	int err;

	if (copy_from_user(&op, arg, sizeof(op)))
		return -EFAULT;
	lr = weft_lockfile_lockres(lf, op.slot);
	if (!lr)
		return -EBADF;
	err = holder_of(file, &op, &h);
	if (err)
		return err;
	if (cmd == WEFT_IOC_LOCK_RELEASE)
		return weft_lockres_release(lr, &h);
	err = patience_of(&op, &patience);
	if (err)
		return err;
	h.since = since(lf, op.slot);
	err = weft_lockres_acquire(lr, &h, &patience, &came);
	if (!err)
		weft_observe_taken(lf->slots, op.slot);
	if (!err && came)
		weft_mapped_map(lf->slots, lr, h.perm);
	if (err == -ERESTARTSYS)
		note_interrupted(lf, op.slot, h.since);
	if (!err && op.flags & WEFT_LOCK_HEAR && weft_word_died(lr))
		return WEFT_LOCK_OWNER_DIED;
	return err;
}

/* Do @what to the lock of a slot.  @writes: refused to a file that may not be written to. */
static long ioctl_slot(struct file *file, const u32 __user *arg, bool writes,
		       void (*what)(struct weft_lockres *lr))
{
	struct weft_lockres *lr;
	u32 slot;

	if (writes && !(file->f_mode & FMODE_WRITE))
		return -EACCES;
	if (get_user(slot, arg))
		return -EFAULT;
	lr = weft_lockfile_lockres(lockfile_of(file), slot);
	if (!lr)
		return -EBADF;
	what(lr);
	return 0;
}

static long ioctl_event(struct file *file, unsigned int cmd, struct weft_eventcount __user *arg)
{
	struct weft_lockfile *lf = lockfile_of(file);
	struct weft_patience patience;
	struct weft_lock_op op;
	struct weft_holder h;
	struct weft_lockres *lr;
	struct weft_eventcount e;
	int err;

	if (copy_from_user(&e, arg, sizeof(e)))
		return -EFAULT;
	lr = weft_lockfile_lockres(lf, e.slot);
	if (!lr)
		return -EBADF;
	if (e.flags & ~(WEFT_LOCK_UNTIL | WEFT_EVENT_UNCOUNTED))
		return -EINVAL;
	op = (struct weft_lock_op){
		.slot = e.slot, .mode = WEFT_LOCK_READ, .flags = e.flags & WEFT_LOCK_UNTIL,
		.clock = e.clock, .deadline_ns = e.deadline_ns,
	};
	err = patience_of(&op, &patience);
	if (err)
		return err;
	if (cmd == WEFT_IOC_EVENT_AWAIT)
		return weft_eventcount_await(lr, e.count, &patience);
	err = holder_of(file, &op, &h);
	if (err)
		return err;
	h.since = ktime_get_ns();
	if (e.flags & WEFT_EVENT_UNCOUNTED)
		weft_eventcount_count(lr);
	err = weft_eventcount_read(lr, &h, &patience, &e.count);
	if (err)
		return err;
	return put_user(e.count, &arg->count);
}

long weft_lockfile_ioctl(struct weft_slots *slots, struct file *file, unsigned int cmd,
			 unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case WEFT_IOC_LOCK_OPEN:
		return ioctl_open(slots, file, user);
	case WEFT_IOC_LOCK_ACQUIRE:
	case WEFT_IOC_LOCK_RELEASE:
		return ioctl_op(file, cmd, user);
	case WEFT_IOC_LOCK_WAKE:
		return ioctl_slot(file, user, false, weft_lockres_kick);
	case WEFT_IOC_LOCK_MEND:
		return ioctl_slot(file, user, true, weft_lockres_mend);
	case WEFT_IOC_EVENT_READ:
	case WEFT_IOC_EVENT_AWAIT:
		return ioctl_event(file, cmd, user);
	case WEFT_IOC_EVENT_ADVANCE:
		return ioctl_slot(file, user, true, weft_eventcount_advance);
	case WEFT_IOC_LOCK_BIND:
		return weft_lockbind_ioctl(lockfile_of(file),
					   !(file->f_mode & FMODE_WRITE), user);
	case WEFT_IOC_LOCK_FILE:
		return weft_lockfile_open(file, arg);
	default:
		return -ENOTTY;
	}
}

/* --- mappings ----------------------------------------------------------------------- */

static vm_fault_t give_page(struct vm_fault *vmf, struct page *page)
{
	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

static vm_fault_t words_fault(struct vm_fault *vmf)
{
	struct weft_lockfile *lf = lockfile_of(vmf->vma->vm_file);

	return give_page(vmf, xa_load(&lf->slots->words,
				      vmf->pgoff - (WEFT_LOCKS_WORDS >> PAGE_SHIFT)));
}

static vm_fault_t holds_fault(struct vm_fault *vmf)
{
	struct weft_lockfile *lf = lockfile_of(vmf->vma->vm_file);
	unsigned long index = vmf->pgoff - (WEFT_LOCKS_HOLDS >> PAGE_SHIFT);

	if (index >= WEFT_CELL_PAGES &&
	    (index - WEFT_CELL_PAGES) * WEFT_COUNTS_A_PAGE >=
	    READ_ONCE(lf->slots->n))
		return VM_FAULT_SIGBUS;
	/* pages of slots that the file has opened are there already */
	return give_page(vmf, weft_holds_page(lf, index));
}

static const struct vm_operations_struct words_vm_operations = {
	.fault = words_fault,
};

static const struct vm_operations_struct holds_vm_operations = {
	.fault = holds_fault,
};

#define PAGE_OF(offset)	((offset) >> PAGE_SHIFT)

bool weft_lockfile_is_mapping(const struct vm_area_struct *vma)
{
	return vma->vm_pgoff >= PAGE_OF(WEFT_LOCKS_WORDS);
}

/* Does the mapping lie within the @size bytes from @start on? */
static bool inside(struct vm_area_struct *vma, u64 start, u64 size)
{
	return vma->vm_pgoff >= PAGE_OF(start) &&
	       vma->vm_pgoff + vma_pages(vma) <=
	       PAGE_OF(start) + PAGE_OF(PAGE_ALIGN(size));
}

int weft_lockfile_mmap(struct weft_slots *slots, struct file *file, struct vm_area_struct *vma)
{
	struct weft_lockfile *lf;

	if (!(file->f_mode & FMODE_WRITE))
		return -EACCES;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (inside(vma, WEFT_LOCKS_WORDS, WEFT_LOCKS_SIZE(WEFT_LOCKS_MAX)))
		vma->vm_ops = &words_vm_operations;
	else if (inside(vma, WEFT_LOCKS_HOLDS, WEFT_HOLDS_SIZE(WEFT_LOCKS_MAX)))
		vma->vm_ops = &holds_vm_operations;
	else
		return -EINVAL;
	if (mutex_lock_killable(&slots->lock))
		return -EINTR;
	lf = use_locks(slots, file);
	mutex_unlock(&slots->lock);
	if (IS_ERR(lf))
		return PTR_ERR(lf);
	weft_vm_flags_set(vma, VM_DONTDUMP | VM_NOHUGEPAGE);
	return 0;
}

/* --- closing files ------------------------------------------------------------------------ */

/* The last file that uses locks is closed: no hold is left, all slots go. */
static void drop_slots(struct weft_slots *slots)
{
	unsigned long slot, uid;
	struct weft_lockres *lr;
	void *taken;

	lockdep_assert_held(&slots->lock);
	xa_for_each(&slots->slot, slot, lr) {
		weft_lockres_detach(lr);
		cond_resched();
	}
	xa_destroy(&slots->slot);
	xa_destroy(&slots->bound);
	weft_lists_drop(slots);
	weft_shared_put(&slots->words);
	xa_for_each(&slots->taken, uid, taken)
		weft_lockquota_return((uid_t)uid, xa_to_value(taken));
	xa_destroy(&slots->taken);
	WRITE_ONCE(slots->n, 0);
}

void weft_lockfile_release(struct file *file)
{
	struct weft_lockfile *lf = file->private_data;
	struct weft_slots *slots;
	bool dropped;

	if (!lf)
		return;
	slots = lf->slots;
	mutex_lock(&slots->lock);
	xa_erase(&slots->files, lf->owner);
	weft_holds_bury(slots, lf);
	weft_lockbind_forget(slots, lf);
	dropped = xa_empty(&slots->files);
	if (dropped)
		drop_slots(slots);
	mutex_unlock(&slots->lock);
	if (dropped) {
		weft_release_left(slots);
		weft_lockres_trim(slots->locks, slots->region->id);
	}
	weft_shared_put(&lf->pages);
	weft_lockquota_return(lf->uid, lf->taken);
	kfree(lf);
}

void weft_slots_init(struct weft_slots *slots, struct weft_region *region,
		     struct weft_locks *locks)
{
	memset(slots, 0, sizeof(*slots));
	slots->locks = locks;
	slots->region = region;
	mutex_init(&slots->lock);
	xa_init_flags(&slots->files, XA_FLAGS_ALLOC1);
	xa_init(&slots->slot);
	xa_init(&slots->bound);
	xa_init(&slots->words);
	xa_init(&slots->taken);
	slots->delay = 1;
	slots->rested = jiffies;
	INIT_DELAYED_WORK(&slots->settle, weft_holds_settle);
	INIT_WORK(&slots->left, weft_release_left_work);
}

void weft_slots_stop(struct weft_slots *slots)
{
	cancel_delayed_work_sync(&slots->settle);
	cancel_work_sync(&slots->left);
}
