/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The blocks of its region that a lock guards, as programs have said (WEFT_IOC_LOCK_BIND).  A
 * hint: a wrong one costs time, never coherence.  A list does not change once it is made; its
 * lock has a reference for as long as a slot has the lock open, so the region's inode stays.
 */
#ifndef WEFT_GUARD_H
#define WEFT_GUARD_H

#include <linux/refcount.h>

#include "weft.h"

struct weft_outbox;
struct weft_successors;
struct weft_region;

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
 * Tell each guarded block that is in the cache what happens to the lock: the events of
 * blocks/guarded.h.  Any context; the lock's spinlock may be held.
 */
void weft_guard_expect(const struct weft_guard *guard, u8 perm, u32 txn,
		       struct weft_outbox *outbox);
void weft_guard_come(const struct weft_guard *guard, u8 perm, bool passed,
		     struct weft_outbox *outbox);
void weft_guard_leave(const struct weft_guard *guard, struct weft_outbox *outbox);
void weft_guard_pass(const struct weft_guard *guard, const struct weft_successors *successors,
		     struct weft_outbox *outbox);
void weft_guard_yield(const struct weft_guard *guard, u32 writer,
		      struct weft_outbox *outbox);
void weft_guard_drop(const struct weft_guard *guard, struct weft_outbox *outbox);

#endif /* WEFT_GUARD_H */
