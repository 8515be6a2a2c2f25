// SPDX-License-Identifier: GPL-2.0-only
/* Where open files list what they read-lock, see lists.h. */
#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "locks/lists.h"
#include "locks/slots.h"

static_assert(WEFT_LIST_CELLS * sizeof(struct weft_cell) % PAGE_SIZE == 0);

void weft_lists_join(struct weft_slots *slots, struct weft_lockfile *lf)
{
	struct weft_lists *lists = slots->lists;
	unsigned long place, i;

	lockdep_assert_held(&slots->lock);
	lf->place = -1;
	/* who was made without them could not look at them later */
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
			/* pairs with READ_ONCE() in weft_holds_listed(): it is zeros */
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
	/* the next file gets this place: this one has pages of its own */
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

	/* pairs with the exchange of an entry by who lists it and then reads the word */
	smp_mb();
	for (place = 0; place < WEFT_LIST_FILES; place++) {
		for (i = 0; i < WEFT_LIST_PAGES; i++) {
			struct page *page = smp_load_acquire(&lists->page[place][i]);
			const u32 *entry = page ? page_address(page) : NULL;

			for (j = 0; entry && j < WEFT_ENTRIES_A_PAGE; j++)
				n += READ_ONCE(entry[j]) == wanted;
		}
	}
	return n;
}
