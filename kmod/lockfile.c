// SPDX-License-Identifier: GPL-2.0-only
/* Locks as open files see them, see lockfile.h. */
#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "guard.h"
#include "inode.h"
#include "klock.h"
#include "lockfile.h"
#include "weft.h"

#define OWNER_MAX	65535
#define INDEX_BITS	36	/* of the name of a line: offsets up to 64 GiB */
#define WORDS_A_PAGE	(PAGE_SIZE / sizeof(struct weft_lock_word))
#define COUNTS_A_PAGE	(PAGE_SIZE / sizeof(u32))
/* Counts begin with a page. */
#define PENDING_PAGES	(sizeof(struct weft_holds) / PAGE_SIZE)
#define SETTLE_MAX	(HZ / 10)
#define UNSETTLED	XA_MARK_0

static_assert(sizeof(struct weft_holds) % PAGE_SIZE == 0);
static_assert(PENDING_PAGES == 1);

/**
 * struct weft_lockfile - an open file that uses locks
 * @wi: the region
 * @owner: its number
 * @pages: of its struct weft_holds, made when needed
 * @binds: slots of locks of which this file has said what they guard.
 *	weft_slots.lock
 */
struct weft_lockfile {
	struct weft_inode *wi;
	u16 owner;
	struct xarray pages;
	struct xarray binds;
};

/* --- memory that is shared with programs --------------------------------------- */

/* The page with this number, made if it is not there. */
static struct page *get_shared(struct xarray *pages, unsigned long index)
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

/* Mappings that are left have references of their own. */
static void put_shared(struct xarray *pages)
{
	unsigned long index;
	struct page *page;

	xa_for_each(pages, index, page)
		put_page(page);
	xa_destroy(pages);
}

static u32 *holds_page(struct weft_lockfile *lf, unsigned long index)
{
	struct page *page = get_shared(&lf->pages, index);

	return page ? page_address(page) : NULL;
}

/* What a file holds of a slot; NULL: nothing yet. */
static u32 *count_of(const struct weft_lockfile *lf, u32 slot)
{
	struct page *page = xa_load((struct xarray *)&lf->pages,
				    PENDING_PAGES + slot / COUNTS_A_PAGE);

	return page ? (u32 *)page_address(page) + slot % COUNTS_A_PAGE : NULL;
}

static u32 readers_of(const struct weft_lockfile *lf, u32 slot)
{
	const u32 *count = count_of(lf, slot);

	return count ? READ_ONCE(*count) : 0;
}

/* The cells of what programs are changing; NULL: none ever did. */
static const u32 *pending_of(const struct weft_lockfile *lf)
{
	struct page *page = xa_load((struct xarray *)&lf->pages, 0);

	return page ? page_address(page) : NULL;
}

/* --- files ------------------------------------------------------------------------ */

static struct weft_lockfile *lockfile_of(struct file *file)
{
	/* pairs with smp_store_release() in use_locks() */
	return smp_load_acquire(&file->private_data);
}

/* From now on the file uses locks. */
static struct weft_lockfile *use_locks(struct file *file)
{
	struct weft_inode *wi = weft_inode_of(file_inode(file));
	struct weft_lockfile *lf;
	u32 owner;
	int err;

	lockdep_assert_held(&wi->slots.lock);
	lf = lockfile_of(file);
	if (lf)
		return lf;
	lf = kzalloc(sizeof(*lf), GFP_KERNEL_ACCOUNT);
	if (!lf)
		return ERR_PTR(-ENOMEM);
	lf->wi = wi;
	xa_init(&lf->pages);
	xa_init(&lf->binds);
	err = xa_alloc(&wi->slots.files, &owner, lf, XA_LIMIT(1, OWNER_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (err) {
		kfree(lf);
		return ERR_PTR(err == -EBUSY ? -ENOSPC : err);
	}
	lf->owner = (u16)owner;
	/* pairs with smp_load_acquire() in lockfile_of() */
	smp_store_release(&file->private_data, lf);
	return lf;
}

/* The next free slot becomes that of @kl. */
static int add_slot(struct weft_slots *slots, struct weft_klock *kl)
{
	u32 slot = slots->n;
	struct page *page;
	u64 *word;
	int err;

	lockdep_assert_held(&slots->lock);
	if (slot == WEFT_LOCKS_MAX)
		return -ENOSPC;
	page = get_shared(&slots->words, slot / WORDS_A_PAGE);
	if (!page)
		return -ENOMEM;
	err = xa_reserve(&slots->slot, slot, GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	word = page_address(page) +
	       slot % WORDS_A_PAGE * sizeof(struct weft_lock_word);
	if (!weft_klock_attach(kl, word, slot)) {
		xa_release(&slots->slot, slot);
		return -ESTALE;
	}
	xa_store(&slots->slot, slot, kl, GFP_KERNEL); /* reserved */
	WRITE_ONCE(slots->n, slot + 1);
	return 0;
}

static int open_slot(struct weft_inode *wi, u64 offset, u32 *slot)
{
	u64 key = weft_line_key(wi->region, WEFT_KIND_LOCK, offset);
	struct weft_klock *kl;
	int err;

	do {
		kl = weft_klock_get(key);
		if (IS_ERR(kl))
			return PTR_ERR(kl);
		err = kl->word ? 0 : add_slot(&wi->slots, kl);
		if (!err)
			*slot = kl->slot;
		else
			weft_klock_kick(kl); /* frees it if it was made for us */
		weft_klock_put(kl);
	} while (err == -ESTALE);
	return err;
}

static int check_offset(struct weft_inode *wi, u64 offset)
{
	int err;

	if (offset >= i_size_read(&wi->vfs)) {
		/* another node may have made it larger */
		err = weft_inode_refresh(wi);
		if (err)
			return err;
		if (offset >= i_size_read(&wi->vfs))
			return -EINVAL;
	}
	return offset >> INDEX_BITS ? -EFBIG : 0;
}

static long ioctl_open(struct file *file, struct weft_lock_open __user *arg)
{
	struct weft_inode *wi = weft_inode_of(file_inode(file));
	struct weft_lock_open o;
	struct weft_lockfile *lf;
	int err;

	if (copy_from_user(&o, arg, sizeof(o)))
		return -EFAULT;
	err = check_offset(wi, o.offset);
	if (err)
		return err;
	if (mutex_lock_killable(&wi->slots.lock))
		return -EINTR;
	lf = use_locks(file);
	err = IS_ERR(lf) ? PTR_ERR(lf) : open_slot(wi, o.offset, &o.slot);
	mutex_unlock(&wi->slots.lock);
	if (err)
		return err;
	o.owner = lf->owner;
	return copy_to_user(arg, &o, sizeof(o)) ? -EFAULT : 0;
}

/* --- taking and leaving ----------------------------------------------------------- */

/* Valid as long as the file is open. */
static struct weft_klock *klock_of(const struct weft_lockfile *lf, u32 slot)
{
	return lf ? xa_load(&lf->wi->slots.slot, slot) : NULL;
}

/* Who takes or leaves it, as the kernel sees it. */
static int holder_of(struct file *file, const struct weft_lock_op *op,
		     struct weft_holder *h)
{
	struct weft_lockfile *lf = lockfile_of(file);
	u32 *counts;

	if (op->mode != WEFT_LOCK_READ && op->mode != WEFT_LOCK_WRITE)
		return -EINVAL;
	if (op->mode == WEFT_LOCK_WRITE && !(file->f_mode & FMODE_WRITE))
		return -EACCES;
	counts = holds_page(lf, PENDING_PAGES + op->slot / COUNTS_A_PAGE);
	if (!counts)
		return -ENOMEM;
	h->perm = (u8)op->mode;
	h->owner = lf->owner;
	h->readers = counts + op->slot % COUNTS_A_PAGE;
	return 0;
}

static int patience_of(const struct weft_lock_op *op, struct weft_patience *p)
{
	if (op->flags & ~(WEFT_LOCK_TRY | WEFT_LOCK_UNTIL))
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

static long ioctl_op(struct file *file, unsigned int cmd,
		     const struct weft_lock_op __user *arg)
{
	struct weft_patience patience;
	struct weft_klock *kl;
	struct weft_lock_op op;
	struct weft_holder h;
	int err;

	if (copy_from_user(&op, arg, sizeof(op)))
		return -EFAULT;
	kl = klock_of(lockfile_of(file), op.slot);
	if (!kl)
		return -EBADF;
	err = holder_of(file, &op, &h);
	if (err)
		return err;
	if (cmd == WEFT_IOC_LOCK_RELEASE)
		return weft_klock_release(kl, &h);
	err = patience_of(&op, &patience);
	return err ? err : weft_klock_acquire(kl, &h, &patience);
}

static long ioctl_wake(struct file *file, const u32 __user *arg)
{
	struct weft_klock *kl;
	u32 slot;

	if (get_user(slot, arg))
		return -EFAULT;
	kl = klock_of(lockfile_of(file), slot);
	if (!kl)
		return -EBADF;
	weft_klock_kick(kl);
	return 0;
}

/* --- what locks guard ---------------------------------------------------------------- */

/* The blocks belong to the slot from now on; those of @old do already. */
static int claim(struct weft_slots *slots, const struct weft_guard *guard,
		 u32 slot, const struct weft_guard *old)
{
	void *entry = xa_mk_value(slot);
	u32 i;
	int err;

	for (i = 0; i < guard->n; i++) {
		void *found = xa_load(&slots->bound, guard->block[i]);

		if (found && found != entry)
			return -EEXIST;
	}
	for (i = 0; i < guard->n; i++) {
		err = xa_err(xa_store(&slots->bound, guard->block[i], entry,
				      GFP_KERNEL_ACCOUNT));
		if (err)
			break;
	}
	if (i == guard->n)
		return 0;
	while (i--)
		if (!weft_guard_has(old, guard->block[i]))
			xa_erase(&slots->bound, guard->block[i]);
	return err;
}

/* @guard: or NULL.  A reference less of it, whatever becomes of this. */
static int rebind(struct weft_slots *slots, struct weft_klock *kl,
		  struct weft_guard *guard)
{
	/* nobody else changes it: under @lock */
	struct weft_guard *old = kl->guard;
	int err = 0;
	u32 i;

	lockdep_assert_held(&slots->lock);
	if (guard)
		err = claim(slots, guard, kl->slot, old);
	if (err) {
		weft_guard_put(guard);
		return err;
	}
	for (i = 0; old && i < old->n; i++)
		if (!weft_guard_has(guard, old->block[i]))
			xa_erase(&slots->bound, old->block[i]);
	weft_guard_put(weft_klock_bind(kl, guard));
	return 0;
}

/* The file says what the lock guards; @guard: NULL: it takes that back. */
static int bind_by(struct weft_lockfile *lf, struct weft_klock *kl,
		   struct weft_guard *guard)
{
	struct weft_slots *slots = &lf->wi->slots;
	int err;

	lockdep_assert_held(&slots->lock);
	err = guard ? xa_reserve(&lf->binds, kl->slot, GFP_KERNEL_ACCOUNT) : 0;
	if (err) {
		weft_guard_put(guard);
		return err;
	}
	err = rebind(slots, kl, guard);
	if (err) {
		xa_release(&lf->binds, kl->slot);
	} else if (guard) {
		kl->binders += !xa_load(&lf->binds, kl->slot);
		/* reserved */
		xa_store(&lf->binds, kl->slot, xa_mk_value(1), GFP_KERNEL);
	} else {
		kl->binders -= !!xa_erase(&lf->binds, kl->slot);
	}
	return err;
}

/* What nobody says any more is forgotten. */
static void forget_binds(struct weft_slots *slots, struct weft_lockfile *lf)
{
	unsigned long slot;
	void *entry;

	lockdep_assert_held(&slots->lock);
	xa_for_each(&lf->binds, slot, entry) {
		struct weft_klock *kl = xa_load(&slots->slot, slot);

		if (kl && !--kl->binders)
			rebind(slots, kl, NULL);
		cond_resched();
	}
	xa_destroy(&lf->binds);
}

static struct weft_guard *read_ranges(struct weft_inode *wi,
				      const struct weft_lock_bind *b)
{
	struct weft_lock_range *range;
	struct weft_guard *guard;

	if (b->n > WEFT_BIND_MAX)
		return ERR_PTR(-E2BIG);
	range = memdup_user(u64_to_user_ptr(b->ranges), b->n * sizeof(*range));
	if (IS_ERR(range))
		return ERR_CAST(range);
	guard = weft_guard_make(wi, range, b->n);
	kfree(range);
	return guard;
}

static long ioctl_bind(struct file *file, const struct weft_lock_bind __user *arg)
{
	struct weft_lockfile *lf = lockfile_of(file);
	struct weft_guard *guard = NULL;
	struct weft_lock_bind b;
	struct weft_klock *kl;
	int err;

	if (copy_from_user(&b, arg, sizeof(b)))
		return -EFAULT;
	kl = klock_of(lf, b.slot);
	if (!kl)
		return -EBADF;
	if (b.n) {
		guard = read_ranges(lf->wi, &b);
		if (IS_ERR(guard))
			return PTR_ERR(guard);
	}
	if (mutex_lock_killable(&lf->wi->slots.lock)) {
		weft_guard_put(guard);
		return -EINTR;
	}
	err = bind_by(lf, kl, guard);
	mutex_unlock(&lf->wi->slots.lock);
	return err;
}

long weft_lockfile_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case WEFT_IOC_LOCK_OPEN:
		return ioctl_open(file, user);
	case WEFT_IOC_LOCK_ACQUIRE:
	case WEFT_IOC_LOCK_RELEASE:
		return ioctl_op(file, cmd, user);
	case WEFT_IOC_LOCK_WAKE:
		return ioctl_wake(file, user);
	case WEFT_IOC_LOCK_BIND:
		return ioctl_bind(file, user);
	default:
		return -ENOTTY;
	}
}

/* --- mappings ----------------------------------------------------------------------- */

static vm_fault_t words_fault(struct vm_fault *vmf)
{
	struct weft_inode *wi = weft_inode_of(file_inode(vmf->vma->vm_file));
	struct page *page = xa_load(&wi->slots.words, vmf->pgoff -
				    (WEFT_LOCKS_WORDS >> PAGE_SHIFT));

	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

static vm_fault_t holds_fault(struct vm_fault *vmf)
{
	struct weft_lockfile *lf = lockfile_of(vmf->vma->vm_file);
	unsigned long index = vmf->pgoff - (WEFT_LOCKS_HOLDS >> PAGE_SHIFT);
	struct page *page;

	if (index >= PENDING_PAGES &&
	    (index - PENDING_PAGES) * COUNTS_A_PAGE >=
	    READ_ONCE(lf->wi->slots.n))
		return VM_FAULT_SIGBUS;
	page = get_shared(&lf->pages, index);
	if (!page)
		return VM_FAULT_OOM;
	get_page(page);
	vmf->page = page;
	return 0;
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

/* Does the mapping lie in the @size bytes from @start on? */
static bool inside(struct vm_area_struct *vma, u64 start, u64 size)
{
	return vma->vm_pgoff >= PAGE_OF(start) &&
	       vma->vm_pgoff + vma_pages(vma) <=
	       PAGE_OF(start) + PAGE_OF(PAGE_ALIGN(size));
}

int weft_lockfile_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct weft_inode *wi = weft_inode_of(file_inode(file));
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
	if (mutex_lock_killable(&wi->slots.lock))
		return -EINTR;
	lf = use_locks(file);
	mutex_unlock(&wi->slots.lock);
	if (IS_ERR(lf))
		return PTR_ERR(lf);
	weft_vm_flags_set(vma, VM_DONTDUMP | VM_NOHUGEPAGE);
	return 0;
}

/* --- what becomes of holds ------------------------------------------------------------ */

struct counting {
	struct weft_slots *slots;
	u32 slot;
};

static bool is_pending(const struct weft_lockfile *lf, u32 slot)
{
	const u32 *pending = pending_of(lf);
	u32 i;

	for (i = 0; pending && i < WEFT_HOLDS_THREADS; i++)
		if (READ_ONCE(pending[i]) == slot + 1)
			return true;
	return false;
}

/* What all files hold of a slot to read, unless one is just changing that. */
static bool count_readers(void *arg, u64 *readers)
{
	const struct counting *c = arg;
	struct weft_lockfile *lf;
	unsigned long owner;

	xa_for_each(&c->slots->files, owner, lf)
		if (is_pending(lf, c->slot))
			return false;
	/* who changes a count then clears its cell, see weft_klock_settle() */
	smp_rmb();
	*readers = 0;
	xa_for_each(&c->slots->files, owner, lf)
		*readers += readers_of(lf, c->slot);
	return true;
}

/* Settle what can be, look again at the rest later. */
static void settle_all(struct weft_slots *slots)
{
	struct counting c = { .slots = slots };
	struct weft_klock *kl;
	unsigned long slot;

	lockdep_assert_held(&slots->lock);
	xa_for_each_marked(&slots->slot, slot, kl, UNSETTLED) {
		c.slot = slot;
		if (weft_klock_settle(kl, count_readers, &c))
			xa_clear_mark(&slots->slot, slot, UNSETTLED);
		cond_resched();
	}
	if (!xa_marked(&slots->slot, UNSETTLED))
		return;
	queue_delayed_work(system_wq, &slots->settle, slots->delay);
	slots->delay = min_t(unsigned long, 2 * slots->delay, SETTLE_MAX);
}

static void settle_work(struct work_struct *work)
{
	struct weft_slots *slots = container_of(to_delayed_work(work),
						struct weft_slots, settle);

	mutex_lock(&slots->lock);
	settle_all(slots);
	mutex_unlock(&slots->lock);
}

/* Slots of which the file says that programs were changing what it holds. */
static void mark_pending(struct weft_slots *slots,
			 const struct weft_lockfile *lf)
{
	const u32 *pending = pending_of(lf);
	u32 i;

	for (i = 0; pending && i < WEFT_HOLDS_THREADS; i++)
		if (pending[i] && pending[i] <= slots->n)
			xa_set_mark(&slots->slot, pending[i] - 1, UNSETTLED);
}

/* What the file held goes back to those who wait for it. */
static void bury(struct weft_slots *slots, const struct weft_lockfile *lf)
{
	struct weft_klock *kl;
	unsigned long slot;

	lockdep_assert_held(&slots->lock);
	mark_pending(slots, lf);
	xa_for_each(&slots->slot, slot, kl) {
		bool pending = xa_get_mark(&slots->slot, slot, UNSETTLED) &&
			       is_pending(lf, slot);
		u32 readers = readers_of(lf, slot);

		if (pending || readers || weft_klock_concerns(kl, lf->owner))
			weft_klock_bury(kl, lf->owner, readers, pending);
		cond_resched();
	}
	slots->delay = 1;
	settle_all(slots);
}

/* No file is left that could hold anything: the words go. */
static void drop_slots(struct weft_slots *slots)
{
	struct weft_klock *kl;
	unsigned long slot;

	lockdep_assert_held(&slots->lock);
	xa_for_each(&slots->slot, slot, kl) {
		weft_klock_detach(kl);
		cond_resched();
	}
	xa_destroy(&slots->slot);
	xa_destroy(&slots->bound);
	put_shared(&slots->words);
	WRITE_ONCE(slots->n, 0);
}

void weft_lockfile_release(struct file *file)
{
	struct weft_lockfile *lf = file->private_data;
	struct weft_slots *slots;

	if (!lf)
		return;
	slots = &lf->wi->slots;
	mutex_lock(&slots->lock);
	xa_erase(&slots->files, lf->owner);
	bury(slots, lf);
	forget_binds(slots, lf);
	if (xa_empty(&slots->files))
		drop_slots(slots);
	mutex_unlock(&slots->lock);
	put_shared(&lf->pages);
	kfree(lf);
}

void weft_slots_init(struct weft_slots *slots)
{
	mutex_init(&slots->lock);
	xa_init_flags(&slots->files, XA_FLAGS_ALLOC1);
	xa_init(&slots->slot);
	xa_init(&slots->bound);
	xa_init(&slots->words);
	slots->n = 0;
	slots->delay = 1;
	INIT_DELAYED_WORK(&slots->settle, settle_work);
}

void weft_slots_stop(struct weft_slots *slots)
{
	cancel_delayed_work_sync(&slots->settle);
}
