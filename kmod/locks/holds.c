// SPDX-License-Identifier: GPL-2.0-only
/*
 * What open files hold: the counts and lists of readers in memory that programs write, and how
 * the holds of a closed file are given back (reclaim.c).  For lockfile.c.  Nothing that programs
 * write is believed beyond the locks that they share.  Runs under weft_slots.lock, process
 * context.
 */
#include <linux/bsearch.h>
#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "locks/holds.h"
#include "locks/lockres.h"
#include "locks/reclaim.h"
#include "locks/slots.h"

#define SETTLE_MAX	(HZ / 10)
#define SETTLE_BATCH	64	/* slots that are settled at a time */

static_assert(sizeof(struct weft_holds) % PAGE_SIZE == 0);
static_assert(sizeof(struct weft_cell) == 64, "a cache line, and none is on two pages");
static_assert(WEFT_LOCKS_MAX < WEFT_ENTRY_SLOT);

static unsigned long counts_page(u32 slot)
{
	return WEFT_CELL_PAGES + slot / WEFT_COUNTS_A_PAGE;
}

/* Make a page of struct weft_holds if it is missing.  Return: 0 or a negative errno. */
static int make_page(struct weft_lockfile *lf, unsigned long index)
{
	int err;

	lockdep_assert_held(&lf->slots->lock);
	if (xa_load(&lf->pages, index))
		return 0;
	/* pages of entries were charged when the file began to use locks (use_locks()) */
	err = index < WEFT_CELL_PAGES ? 0 : weft_lockfile_count(lf, PAGE_SIZE);
	if (err)
		return err;
	if (weft_shared_get(&lf->pages, index))
		return 0;
	if (index >= WEFT_CELL_PAGES)
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
	mutex_lock(&lf->slots->lock);
	make_page(lf, index);
	mutex_unlock(&lf->slots->lock);
	return xa_load(&lf->pages, index);
}

/*
 * A page of a file's struct weft_holds, which programs write at the same time; NULL: none was
 * made.
 */
static u32 *numbers_of(const struct weft_lockfile *lf, unsigned long index)
{
	struct page *page = xa_load((struct xarray *)&lf->pages, index);

	return page ? page_address(page) : NULL;
}

static u32 *count_of(const struct weft_lockfile *lf, u32 slot)
{
	u32 *counts = numbers_of(lf, counts_page(slot));

	return counts ? counts + slot % WEFT_COUNTS_A_PAGE : NULL;
}

u32 *weft_holds_count(struct weft_lockfile *lf, u32 slot)
{
	u32 *count = count_of(lf, slot);

	if (!count && weft_holds_page(lf, counts_page(slot)))
		count = count_of(lf, slot);
	return count;
}

/* How often a file read-locks the slot, by its counts. */
static u32 readers_of(const struct weft_lockfile *lf, u32 slot)
{
	const u32 *count = count_of(lf, slot);

	return count ? READ_ONCE(*count) : 0;
}

/* --- holds of closed files ---------------------------------------------------------------- */

/*
 * Slots that are settled together.
 *
 * The counts and lists of all files are read once for the whole batch.  A hostile program can
 * open many files and leave many slots unsettled: the time of a pass grows with the files, not
 * with the slots.
 */
struct batch {
	u32 n;
	struct weft_settling s[SETTLE_BATCH];	/* which, in ascending order */
};

static int by_slot(const void *wanted, const void *settling)
{
	u32 a = *(const u32 *)wanted, b = ((const struct weft_settling *)settling)->slot;

	return a < b ? -1 : a > b;
}

static void count_entry(struct batch *b, u32 entry)
{
	u32 what = entry & ~WEFT_ENTRY_SLOT, slot = (entry & WEFT_ENTRY_SLOT) - 1;
	struct weft_settling *s;

	if (what != WEFT_ENTRY_CHANGING && what != WEFT_ENTRY_HELD)
		return;
	s = bsearch(&slot, b->s, b->n, sizeof(b->s[0]), by_slot);
	if (!s)
		return;
	s->changing |= what == WEFT_ENTRY_CHANGING;
	s->readers += what == WEFT_ENTRY_HELD;
}

/* Count the entries of a file for all slots of the batch. */
static void count_entries(struct batch *b, const struct weft_lockfile *lf)
{
	unsigned long index, i;

	for (index = 0; index < WEFT_CELL_PAGES; index++) {
		const u32 *entry = numbers_of(lf, index);

		for (i = 0; entry && i < WEFT_ENTRIES_A_PAGE; i++)
			count_entry(b, READ_ONCE(entry[i]));
		cond_resched();
	}
}

static void count_counts(struct batch *b, const struct weft_lockfile *lf)
{
	u32 i;

	for (i = 0; i < b->n; i++)
		b->s[i].readers += readers_of(lf, b->s[i].slot);
	cond_resched();
}

/* Take the next unsettled slots, in turn, beginning behind the last batch. */
static void fill(struct weft_slots *slots, struct batch *b)
{
	unsigned long slot = slots->settle_at;
	struct weft_lockres *lr;

	b->n = 0;
	for (lr = xa_find(&slots->slot, &slot, ULONG_MAX, WEFT_SLOT_UNSETTLED);
	     lr && b->n < SETTLE_BATCH;
	     lr = xa_find_after(&slots->slot, &slot, ULONG_MAX, WEFT_SLOT_UNSETTLED))
		b->s[b->n++] = (struct weft_settling){ .lr = lr, .slot = (u32)slot };
	slots->settle_at = lr ? slot : 0;
}

static void settle_batch(struct weft_slots *slots, struct batch *b)
{
	struct weft_lockfile *lf;
	unsigned long owner;
	u32 i;

	for (i = 0; i < b->n; i++)
		weft_lockres_look(&b->s[i]);
	/* read in the opposite order of the programs' writes: weft_lockres_look() */
	smp_rmb();
	xa_for_each(&slots->files, owner, lf)
		count_entries(b, lf);
	/* a program changes the count first and then clears its entry */
	smp_rmb();
	xa_for_each(&slots->files, owner, lf)
		count_counts(b, lf);
	for (i = 0; i < b->n; i++)
		if (!b->s[i].changing && weft_lockres_settle(&b->s[i]))
			xa_clear_mark(&slots->slot, b->s[i].slot, WEFT_SLOT_UNSETTLED);
}

/*
 * Settle what can be settled now and look at the rest later: at most a fifth of a processor's
 * time, so that others get @lock meanwhile.
 */
static void settle_some(struct weft_slots *slots)
{
	unsigned long begin = jiffies, rest;
	struct batch *b;

	lockdep_assert_held(&slots->lock);
	if (!xa_marked(&slots->slot, WEFT_SLOT_UNSETTLED))
		return;
	b = kmalloc(sizeof(*b), GFP_KERNEL);
	if (b) {
		fill(slots, b);
		settle_batch(slots, b);
		kfree(b);
	}
	rest = 4 * (jiffies - begin);
	slots->rested = jiffies + rest;
	if (!xa_marked(&slots->slot, WEFT_SLOT_UNSETTLED))
		return;
	queue_delayed_work(system_wq, &slots->settle, max(slots->delay, rest));
	if (!slots->settle_at)
		slots->delay = min_t(unsigned long, 2 * slots->delay, SETTLE_MAX);
}

void weft_holds_settle(struct work_struct *work)
{
	struct weft_slots *slots = container_of(to_delayed_work(work),
						struct weft_slots, settle);

	mutex_lock(&slots->lock);
	settle_some(slots);
	mutex_unlock(&slots->lock);
}

/*
 * Add one entry of a closed file to its counts, or to @listed; any other leaves the slot
 * unsettled.
 */
static void bury_entry(struct weft_slots *slots, struct weft_lockfile *lf,
		       struct xarray *listed, u32 entry)
{
	u32 slot = (entry & WEFT_ENTRY_SLOT) - 1, *count;
	void *n;

	if (!entry || slot >= slots->n)
		return;
	switch (entry & ~WEFT_ENTRY_SLOT) {
	case WEFT_ENTRY_HELD:
		count = count_of(lf, slot);
		if (count && *count < U32_MAX) {
			++*count;
			return;
		}
		break; /* the file never opened the slot: settle it by what the other files hold */
	case WEFT_ENTRY_LISTED:
		n = xa_load(listed, slot);
		xa_store(listed, slot, xa_mk_value((n ? xa_to_value(n) : 0) + 1), GFP_KERNEL);
		return;
	}
	xa_set_mark(&slots->slot, slot, WEFT_SLOT_UNSETTLED);
	xa_set_mark(&slots->slot, slot, WEFT_SLOT_CHANGING);
}

/* Move what the entries hold into the file's counts, and count listed readers in @listed. */
static void bury_entries(struct weft_slots *slots, struct weft_lockfile *lf,
			 struct xarray *listed)
{
	unsigned long index, i;

	for (index = 0; index < WEFT_CELL_PAGES; index++) {
		const u32 *entry = numbers_of(lf, index);

		for (i = 0; entry && i < WEFT_ENTRIES_A_PAGE; i++)
			bury_entry(slots, lf, listed, READ_ONCE(entry[i]));
		cond_resched();
	}
}

void weft_holds_bury(struct weft_slots *slots, struct weft_lockfile *lf)
{
	struct weft_lockres *lr;
	struct xarray listed;
	unsigned long slot, now;

	lockdep_assert_held(&slots->lock);
	xa_init(&listed);
	bury_entries(slots, lf, &listed);
	/* before waiters look at the lists again */
	weft_lists_leave(slots, lf);
	xa_for_each(&slots->slot, slot, lr) {
		bool pending = xa_get_mark(&slots->slot, slot, WEFT_SLOT_CHANGING);
		u32 readers = readers_of(lf, slot);
		void *n = xa_load(&listed, slot);

		if (pending || readers || n || weft_lockres_concerns(lr, lf->owner))
			weft_lockres_bury(lr, lf->owner, readers,
					  n ? xa_to_value(n) : 0, pending);
		if (pending)
			xa_clear_mark(&slots->slot, slot, WEFT_SLOT_CHANGING);
		cond_resched();
	}
	xa_destroy(&listed);
	slots->delay = 1;
	/* one long pass serves many closes: a program that ends may close thousands of files */
	now = jiffies;
	if (xa_empty(&slots->files) || !time_before(now, slots->rested))
		settle_some(slots);
	else if (xa_marked(&slots->slot, WEFT_SLOT_UNSETTLED))
		mod_delayed_work(system_wq, &slots->settle, slots->rested - now);
}
