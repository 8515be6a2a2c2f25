// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the locks of open files: pages that programs map, lists of readers, and how much of
 * it a user may take.  Called by lockfile.c, holds.c, bind.c and word.c.  Knows nothing of what
 * a lock is held for.
 */
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "locks/slots.h"

/* --- pages that programs map --------------------------------------------------------------- */

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

/* --- lists of readers ---------------------------------------------------------------------- */

static_assert(WEFT_LIST_CELLS * sizeof(struct weft_cell) % PAGE_SIZE == 0);

void weft_lists_join(struct weft_slots *slots, struct weft_lockfile *lf)
{
	struct weft_lists *lists = slots->lists;
	unsigned long place, i;

	lockdep_assert_held(&slots->lock);
	lf->place = -1;
	/* locks that were opened without lists would not look at later ones */
	if (!lists && !slots->n)
		lists = slots->lists = kzalloc(sizeof(*lists), GFP_KERNEL_ACCOUNT);
	if (!lists)
		return;
	place = find_first_zero_bit(lists->used, WEFT_LIST_FILES);
	if (place == WEFT_LIST_FILES)
		return;
	for (i = 0; i < WEFT_LIST_PAGES; i++) {
		struct page *page = lists->page[place][i];

		if (!page) {
			page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
			if (!page)
				goto undo;
			/* pairs with smp_load_acquire() in weft_holds_listed(): zeroed */
			smp_store_release(&lists->page[place][i], page);
		}
		if (xa_is_err(xa_store(&lf->pages, i, page, GFP_KERNEL_ACCOUNT)))
			goto undo;
		get_page(page);
	}
	__set_bit(place, lists->used);
	lf->place = (int)place;
	return;
undo:
	/* the place stays free for the next file; this file gets pages of its own */
	while (i--)
		put_page(xa_erase(&lf->pages, i));
}

void weft_lists_leave(struct weft_slots *slots, struct weft_lockfile *lf)
{
	unsigned int i;

	lockdep_assert_held(&slots->lock);
	if (lf->place < 0)
		return;
	for (i = 0; i < WEFT_LIST_PAGES; i++)
		clear_page(page_address(slots->lists->page[lf->place][i]));
	__clear_bit(lf->place, slots->lists->used);
	lf->place = -1;
}

void weft_lists_drop(struct weft_slots *slots)
{
	unsigned int place, i;

	lockdep_assert_held(&slots->lock);
	if (!slots->lists)
		return;
	for (place = 0; place < WEFT_LIST_FILES; place++)
		for (i = 0; i < WEFT_LIST_PAGES; i++)
			if (slots->lists->page[place][i])
				put_page(slots->lists->page[place][i]);
	kfree(slots->lists);
	slots->lists = NULL;
}

u32 weft_holds_listed(const struct weft_lists *lists, u32 slot)
{
	const u32 wanted = (slot + 1) | WEFT_ENTRY_LISTED;
	unsigned int place, i, j;
	u32 n = 0;

	/* pairs with the exchange by which a program lists itself before it reads the word */
	smp_mb();
	for (place = 0; place < WEFT_LIST_FILES; place++) {
		for (i = 0; i < WEFT_LIST_PAGES; i++) {
			/* pairs with smp_store_release() in weft_lists_join() */
			struct page *page = smp_load_acquire(&lists->page[place][i]);
			const u32 *entry = page ? page_address(page) : NULL;

			for (j = 0; entry && j < WEFT_ENTRIES_A_PAGE; j++)
				n += READ_ONCE(entry[j]) == wanted;
		}
	}
	return n;
}

/* --- quota of users ----------------------------------------------------------------------- */

#define USER_PART	16	/* one user may take this part of the node's memory */
#define ALL_PART	4	/* all users together may take this part */
#define SAY_INTERVAL	(60 * HZ)

static DEFINE_MUTEX(users_lock);	/* of users and all */
static DEFINE_XARRAY(users);		/* bytes that each uid has taken */
static size_t all;

static unsigned int user_kib;
module_param_named(lock_user_kib, user_kib, uint, 0644);
MODULE_PARM_DESC(lock_user_kib, "KiB of memory that open locks of one user may take (0: a sixteenth of the memory)");

static size_t user_max(void)
{
	size_t kib = READ_ONCE(user_kib);

	return kib ? kib << 10 : (totalram_pages() / USER_PART) << PAGE_SHIFT;
}

static size_t all_max(void)
{
	return max_t(size_t, (totalram_pages() / ALL_PART) << PAGE_SHIFT, user_max());
}

bool weft_lockquota_counts(void)
{
	/* a user without the capability is no failure to be audited */
	return !ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
}

static void say_full(uid_t uid, bool alone)
{
	static struct ratelimit_state say =
		RATELIMIT_STATE_INIT_FLAGS(say, SAY_INTERVAL, 1, RATELIMIT_MSG_ON_RELEASE);

	if (!__ratelimit(&say))
		return;
	if (alone)
		pr_info("weft: user %u has as many locks open on this node as it may: raise lock_user_kib (%zu) of the module if that is too few\n",
			uid, user_max() >> 10);
	else
		pr_info("weft: the locks that users have open on this node take a quarter of its memory: user %u gets no more\n",
			uid);
}

int weft_lockquota_take(uid_t uid, size_t bytes)
{
	size_t now;
	int err;

	mutex_lock(&users_lock);
	now = xa_to_value(xa_load(&users, uid));
	if (now + bytes > user_max()) {
		say_full(uid, true);
		err = -EDQUOT;
	} else if (all + bytes > all_max()) {
		say_full(uid, false);
		err = -ENOSPC;
	} else {
		err = xa_err(xa_store(&users, uid, xa_mk_value(now + bytes), GFP_KERNEL));
		if (!err)
			all += bytes;
	}
	mutex_unlock(&users_lock);
	return err;
}

void weft_lockquota_return(uid_t uid, size_t bytes)
{
	size_t now;

	if (!bytes)
		return;
	mutex_lock(&users_lock);
	now = xa_to_value(xa_load(&users, uid));
	if (!WARN_ON_ONCE(now < bytes || all < bytes)) {
		now -= bytes;
		all -= bytes;
		/* replaces an entry, so it needs no memory */
		xa_store(&users, uid, now ? xa_mk_value(now) : NULL, GFP_KERNEL);
	}
	mutex_unlock(&users_lock);
}

void weft_lockquota_exit(void)
{
	WARN_ON_ONCE(all);
	xa_destroy(&users);
}

/* --- memory of files ---------------------------------------------------------------------- */

int weft_lockfile_count(struct weft_lockfile *lf, size_t bytes)
{
	int err;

	lockdep_assert_held(&lf->slots->lock);
	if (!lf->counts)
		return 0;
	err = weft_lockquota_take(lf->uid, bytes);
	if (!err)
		lf->taken += bytes;
	return err;
}

void weft_lockfile_uncount(struct weft_lockfile *lf, size_t bytes)
{
	lockdep_assert_held(&lf->slots->lock);
	if (!lf->counts)
		return;
	lf->taken -= bytes;
	weft_lockquota_return(lf->uid, bytes);
}
