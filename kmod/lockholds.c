// SPDX-License-Identifier: GPL-2.0-only
/* What open files hold of locks, see lockfile_parts.h. */
#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "inode.h"
#include "klock.h"
#include "lockfile.h"
#include "lockfile_parts.h"

#define SETTLE_MAX	(HZ / 10)

static_assert(sizeof(struct weft_holds) % PAGE_SIZE == 0);
static_assert(WEFT_PENDING_PAGES == 1);

/* --- memory that is shared with programs --------------------------------------- */

struct page *weft_shared_get(struct xarray *pages, unsigned long index)
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

void weft_shared_put(struct xarray *pages)
{
	unsigned long index;
	struct page *page;

	xa_for_each(pages, index, page)
		put_page(page);
	xa_destroy(pages);
}

static unsigned long counts_page(u32 slot)
{
	return WEFT_PENDING_PAGES + slot / WEFT_COUNTS_A_PAGE;
}

/* Return: 0 or a negative errno. */
static int make_page(struct weft_lockfile *lf, unsigned long index)
{
	int err;

	lockdep_assert_held(&lf->wi->slots.lock);
	if (xa_load(&lf->pages, index))
		return 0;
	err = weft_lockfile_count(lf, PAGE_SIZE);
	if (err)
		return err;
	if (weft_shared_get(&lf->pages, index))
		return 0;
	weft_lockfile_uncount(lf, PAGE_SIZE);
	return -ENOMEM;
}

int weft_holds_prepare(struct weft_lockfile *lf, u32 slot)
{
	int err = make_page(lf, 0);

	return err ? err : make_page(lf, counts_page(slot));
}

struct page *weft_holds_page(struct weft_lockfile *lf, unsigned long index)
{
	struct page *page = xa_load(&lf->pages, index);

	if (page)
		return page;
	mutex_lock(&lf->wi->slots.lock);
	make_page(lf, index);
	mutex_unlock(&lf->wi->slots.lock);
	return xa_load(&lf->pages, index);
}

u32 *weft_holds_count(struct weft_lockfile *lf, u32 slot)
{
	struct page *page = weft_holds_page(lf, counts_page(slot));

	return page ? (u32 *)page_address(page) + slot % WEFT_COUNTS_A_PAGE : NULL;
}

/* How often a file holds a slot to read. */
static u32 readers_of(const struct weft_lockfile *lf, u32 slot)
{
	struct page *page = xa_load((struct xarray *)&lf->pages, counts_page(slot));

	return page ? READ_ONCE(((u32 *)page_address(page))[slot % WEFT_COUNTS_A_PAGE]) : 0;
}

/* The cells of what programs are changing; NULL: none ever did. */
static const u32 *pending_of(const struct weft_lockfile *lf)
{
	struct page *page = xa_load((struct xarray *)&lf->pages, 0);

	return page ? page_address(page) : NULL;
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
	xa_for_each_marked(&slots->slot, slot, kl, WEFT_SLOT_UNSETTLED) {
		c.slot = slot;
		if (weft_klock_settle(kl, count_readers, &c))
			xa_clear_mark(&slots->slot, slot, WEFT_SLOT_UNSETTLED);
		cond_resched();
	}
	if (!xa_marked(&slots->slot, WEFT_SLOT_UNSETTLED))
		return;
	queue_delayed_work(system_wq, &slots->settle, slots->delay);
	slots->delay = min_t(unsigned long, 2 * slots->delay, SETTLE_MAX);
}

void weft_holds_settle(struct work_struct *work)
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
			xa_set_mark(&slots->slot, pending[i] - 1, WEFT_SLOT_UNSETTLED);
}

void weft_holds_bury(struct weft_slots *slots, const struct weft_lockfile *lf)
{
	struct weft_klock *kl;
	unsigned long slot;

	lockdep_assert_held(&slots->lock);
	mark_pending(slots, lf);
	xa_for_each(&slots->slot, slot, kl) {
		bool pending = xa_get_mark(&slots->slot, slot, WEFT_SLOT_UNSETTLED) &&
			       is_pending(lf, slot);
		u32 readers = readers_of(lf, slot);

		if (pending || readers || weft_klock_concerns(kl, lf->owner))
			weft_klock_bury(kl, lf->owner, readers, pending);
		cond_resched();
	}
	slots->delay = 1;
	settle_all(slots);
}
