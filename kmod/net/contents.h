/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of a block that a message carries, from the decision under the block's lock until it
 * is encoded without.  For blocks/block.h and the transports.
 */
#ifndef WEFT_CONTENTS_H
#define WEFT_CONTENTS_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>

struct page;

/*
 * The bytes of a block.
 *
 * A decision is about the bytes of its moment.  Before the bytes change, the block raises
 * @generation (weft_contents_change()); a reader asks afterwards whether they are still the same
 * (weft_contents_are()).  A message whose bytes have changed is dropped, which the protocol
 * takes for a loss.
 */
struct weft_contents {
	struct page *const *pages; /* the pages that hold them */
	u32 size;
	bool whole;	/* the pages are one folio, contiguous in the kernel's addresses */
	/*
	 * raised before the bytes may change.  Written under the lock of the block, read by
	 * anyone
	 */
	u32 generation;
	/* takes another reference to the block; the caller has one.  Any context */
	void (*get)(struct weft_contents *contents);
	/* drops a reference to the block.  Any context */
	void (*put)(struct weft_contents *contents);
};

/* Before new bytes are installed, or programs may write. */
static inline void weft_contents_change(struct weft_contents *contents)
{
	WRITE_ONCE(contents->generation, contents->generation + 1);
	/* pairs with weft_contents_are() */
	smp_wmb();
}

/* Whether all that was read since @generation was current is of that generation. */
static inline bool weft_contents_are(const struct weft_contents *contents, u32 generation)
{
	/* pairs with weft_contents_change() */
	smp_rmb();
	return READ_ONCE(contents->generation) == generation;
}

#endif /* WEFT_CONTENTS_H */
