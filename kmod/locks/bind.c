// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which blocks a lock guards, as programs say by WEFT_IOC_LOCK_BIND: each block belongs to one
 * lock of the region at most.  Called by lockfile.c for an ioctl and for the end of a file.
 * Only weft_slots.lock is held here; a lock's own spinlock is taken by weft_lockres_bind().
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "locks/bind.h"
#include "locks/guard.h"
#include "locks/lockres.h"
#include "locks/observe.h"
#include "locks/slots.h"
#include "locks/wait.h"
#include "weft.h"

#define BIND_BYTES	16	/* what an entry of weft_lockfile.binds takes */

/* Take the blocks that @lr guards out of weft_slots.bound, but for those of @guard. */
static void let_go(struct weft_slots *slots, const struct weft_lockres *lr,
		   const struct weft_guard *guard)
{
	const struct weft_guard *old = lr->guard;
	u32 i;

	for (i = 0; old && i < old->n; i++)
		if (!weft_guard_has(guard, old->block[i]))
			xa_erase(&slots->bound, old->block[i]);
}

/*
 * The lock that has the block by a weak guard, which makes way for @guard; NULL: there is none.
 */
static struct weft_lockres *weaker(struct weft_slots *slots, void *found,
				   const struct weft_guard *guard)
{
	struct weft_lockres *lr = xa_load(&slots->slot, xa_to_value(found));

	return lr && lr->guard && lr->guard->weak && !guard->weak ? lr : NULL;
}

/*
 * Give the blocks of @guard to the slot, which has those of @old already.  Return: 0; -EEXIST:
 * another lock guards one of them; -ENOMEM.
 */
static int claim(struct weft_slots *slots, const struct weft_guard *guard,
		 u32 slot, const struct weft_guard *old)
{
	void *entry = xa_mk_value(slot);
	u32 i;
	int err;

	for (i = 0; i < guard->n; i++) {
		void *found = xa_load(&slots->bound, guard->block[i]);

		if (found && found != entry && !weaker(slots, found, guard))
			return -EEXIST;
	}
	for (i = 0; i < guard->n; i++) {
		void *found = xa_load(&slots->bound, guard->block[i]);

		if (found && found != entry) {
			struct weft_lockres *lr = weaker(slots, found, guard);

			let_go(slots, lr, NULL);
			weft_guard_put(weft_lockres_bind(lr, NULL));
		}
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

/*
 * Make @guard the guard of @lr; NULL: it guards nothing.  Consumes a reference to @guard, in any
 * case.
 */
static int rebind(struct weft_slots *slots, struct weft_lockres *lr, struct weft_guard *guard)
{
	/* stable: only written with weft_slots.lock */
	struct weft_guard *old = lr->guard;
	int err = 0;

	lockdep_assert_held(&slots->lock);
	if (guard)
		err = claim(slots, guard, lr->slot, old);
	if (err) {
		weft_guard_put(guard);
		return err;
	}
	let_go(slots, lr, guard);
	if (guard)
		weft_observe_said(slots, guard);
	weft_guard_put(weft_lockres_bind(lr, guard));
	return 0;
}

/*
 * Reserve an entry of @lf->binds for the slot, if it has none.  Return: 0 or a negative errno.
 */
static int reserve_bind(struct weft_lockfile *lf, u32 slot)
{
	int err;

	if (xa_load(&lf->binds, slot))
		return 0;
	err = weft_lockfile_count(lf, BIND_BYTES);
	if (err)
		return err;
	err = xa_reserve(&lf->binds, slot, GFP_KERNEL_ACCOUNT);
	if (err)
		weft_lockfile_uncount(lf, BIND_BYTES);
	return err;
}

/* Give back what reserve_bind() has reserved and nobody has used. */
static void release_bind(struct weft_lockfile *lf, u32 slot)
{
	/* a reserved entry without a value reads as NULL */
	if (xa_load(&lf->binds, slot))
		return;
	xa_release(&lf->binds, slot);
	weft_lockfile_uncount(lf, BIND_BYTES);
}

/*
 * The file says what the lock guards; @guard NULL: it takes that back.  @weak: the file may not
 * be written to, so its word does not replace that of a file that may.
 */
static int bind_by(struct weft_lockfile *lf, struct weft_lockres *lr,
		   struct weft_guard *guard, bool weak)
{
	struct weft_slots *slots = lf->slots;
	int err = 0;

	lockdep_assert_held(&slots->lock);
	if (weak && lr->guard && !lr->guard->weak) {
		weft_guard_put(guard);
		return 0;
	}
	if (guard)
		guard->weak = weak;
	if (guard)
		err = reserve_bind(lf, lr->slot);
	if (err) {
		weft_guard_put(guard);
		return err;
	}
	err = rebind(slots, lr, guard);
	if (err) {
		release_bind(lf, lr->slot);
	} else if (guard) {
		lr->binders += !xa_load(&lf->binds, lr->slot);
		/* cannot fail: reserve_bind() */
		xa_store(&lf->binds, lr->slot, xa_mk_value(1), GFP_KERNEL);
	} else if (xa_erase(&lf->binds, lr->slot)) {
		weft_lockfile_uncount(lf, BIND_BYTES);
		lr->binders--;
	}
	return err;
}

void weft_lockbind_forget(struct weft_slots *slots, struct weft_lockfile *lf)
{
	unsigned long slot;
	void *entry;

	lockdep_assert_held(&slots->lock);
	xa_for_each(&lf->binds, slot, entry) {
		struct weft_lockres *lr = xa_load(&slots->slot, slot);

		if (lr && !--lr->binders)
			rebind(slots, lr, NULL);
		cond_resched();
	}
	xa_destroy(&lf->binds);
}

static struct weft_guard *read_ranges(struct weft_region *region,
				      const struct weft_lock_bind *b)
{
	struct weft_lock_range *range;
	struct weft_guard *guard;

	if (b->n > WEFT_BIND_MAX)
		return ERR_PTR(-E2BIG);
	range = memdup_user(u64_to_user_ptr(b->ranges), b->n * sizeof(*range));
	if (IS_ERR(range))
		return ERR_CAST(range);
	guard = weft_guard_make(region, range, b->n);
	kfree(range);
	return guard;
}

long weft_lockbind_ioctl(struct weft_lockfile *lf, bool weak,
			 const struct weft_lock_bind __user *arg)
{
	struct weft_guard *guard = NULL;
	struct weft_lock_bind b;
	struct weft_lockres *lr;
	int err;

	if (copy_from_user(&b, arg, sizeof(b)))
		return -EFAULT;
	lr = weft_lockfile_lockres(lf, b.slot);
	if (!lr)
		return -EBADF;
	if (b.n) {
		guard = read_ranges(lf->slots->region, &b);
		if (IS_ERR(guard))
			return PTR_ERR(guard);
	}
	if (mutex_lock_killable(&lf->slots->lock)) {
		weft_guard_put(guard);
		return -EINTR;
	}
	err = bind_by(lf, lr, guard, weak);
	mutex_unlock(&lf->slots->lock);
	return err;
}
