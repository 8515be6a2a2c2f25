/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The blocks of its region that a lock guards, as programs have said (WEFT_IOC_LOCK_BIND).  A
 * hint: a wrong one costs time, never coherence.  A list does not change once it is made; its
 * lock has a reference for as long as a slot has the lock open, so the region's inode stays.
 */
#ifndef WEFT_GUARD_H
#define WEFT_GUARD_H

#include <linux/refcount.h>

#include "blocks/guarded.h"
#include "weft.h"

/* The blocks that belong to a lock. */
struct weft_guard {
	refcount_t ref;			/* of the lock, and of threads that look at the list */
	struct weft_region *region;	/* of the blocks */
	/*
	 * said by a file that may not be written to, so another guard may replace it.
	 * weft_slots.lock
	 */
	bool weak;
	u32 n;				/* of @block, 1 to WEFT_BIND_MAX */
	u64 block[];			/* their indices, ascending */
};

/**
 * weft_guard_make() - make the list of blocks that ranges cover
 * @range: ranges of bytes of the region
 * @n: how many, 1 to WEFT_BIND_MAX
 *
 * Process context.  Return: the list with a reference; -EINVAL: a range is empty or not inside
 * the region; -E2BIG: more than WEFT_BIND_MAX blocks; -ENOMEM; errors of asking the catalog for
 * the size.
 */
struct weft_guard *weft_guard_make(struct weft_region *region,
				   const struct weft_lock_range *range, u32 n);

/* @guard may be NULL. */
void weft_guard_put(struct weft_guard *guard);

/* Whether the block is on the list.  @guard may be NULL. */
bool weft_guard_has(const struct weft_guard *guard, u64 block);

/*
 * Tell what happens to the lock to each guarded block that is in the cache: evaluates @what, a
 * call of blocks/guarded.h, with a reference to the block in @blk.  @guard is not NULL.  Any
 * context; the lock's spinlock may be held.
 */
#define weft_guard_tell(guard, blk, what)					\
	do {									\
		const struct weft_guard *g_ = (guard);				\
		struct weft_block *blk;						\
		u32 i_;								\
										\
		for (i_ = 0; i_ < g_->n; i_++) {				\
			blk = weft_block_find(g_->region, g_->block[i_]);	\
			if (!blk)						\
				continue;					\
			what;							\
			weft_block_put(blk);					\
		}								\
	} while (0)

#endif /* WEFT_GUARD_H */
