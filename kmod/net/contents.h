/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of a block, as a message refers to them between the moment that it was
 * decided on, under the block's lock, and the moment that it is encoded, without.
 *
 * What was decided holds for the bytes of that moment.  So whoever lets them change says
 * so before (weft_contents_change()), and whoever has read them asks afterwards whether
 * they are still those (weft_contents_are()): a message whose bytes are not is dropped,
 * which for the protocol is one that was lost on the way.
 */
#ifndef WEFT_CONTENTS_H
#define WEFT_CONTENTS_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>

struct page;

/**
 * struct weft_contents - the bytes of a block
 * @pages: where they are
 * @size: how many
 * @whole: the pages are one folio, and one piece of the kernel's addresses
 * @generation: raised before they may change.  Written under the lock of what they
 *	belong to, read by anyone
 * @get: takes a reference more to what they belong to; the caller has one.  Any context
 * @put: gives a reference back to what they belong to.  Any context
 */
struct weft_contents {
	struct page *const *pages;
	u32 size;
	bool whole;
	u32 generation;
	void (*get)(struct weft_contents *contents);
	void (*put)(struct weft_contents *contents);
};

/* From here on they may be others: before new ones are installed, or may be written. */
static inline void weft_contents_change(struct weft_contents *contents)
{
	WRITE_ONCE(contents->generation, contents->generation + 1);
	/* pairs with weft_contents_are() */
	smp_wmb();
}

/* What was read since @generation was the current one was read of that one alone. */
static inline bool weft_contents_are(const struct weft_contents *contents, u32 generation)
{
	/* pairs with weft_contents_change() */
	smp_rmb();
	return READ_ONCE(contents->generation) == generation;
}

#endif /* WEFT_CONTENTS_H */
