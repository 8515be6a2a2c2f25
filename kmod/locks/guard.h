/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a lock guards: blocks of its region, as programs have said it
 * (WEFT_IOC_LOCK_BIND).  It is a hint and no more: whoever is wrong about it, or
 * touches the blocks without the lock, sees coherent contents all the same.
 *
 * A list does not change once it is made.  Its lock has a reference as long as a
 * slot has the lock open, so that the region's inode is there.
 */
#ifndef WEFT_GUARD_H
#define WEFT_GUARD_H

#include <linux/refcount.h>

#include "weft.h"

struct weft_outbox;
struct weft_successors;
struct weft_region;

/**
 * struct weft_guard - the blocks that belong to a lock
 * @ref: the lock has one, and who looks
 * @region: theirs
 * @weak: said through a file that may not write: makes way.  weft_slots.lock
 * @n: how many, 1 or more
 * @block: their indices, ascending
 */
struct weft_guard {
	refcount_t ref;
	struct weft_region *region;
	bool weak;
	u32 n;
	u64 block[];
};

/**
 * weft_guard_make() - the blocks of these ranges
 * @range: in the region
 * @n: how many, 1 to WEFT_BIND_MAX
 *
 * Process context.  Return: the list with a reference; -EINVAL: a range is empty
 * or not inside the region; -E2BIG: more than WEFT_BIND_MAX blocks; -ENOMEM; and
 * what asking for the region's size says.
 */
struct weft_guard *weft_guard_make(struct weft_region *region,
				   const struct weft_lock_range *range, u32 n);

/* @guard may be NULL. */
void weft_guard_put(struct weft_guard *guard);

/* Is this block on the list?  @guard may be NULL. */
bool weft_guard_has(const struct weft_guard *guard, u64 block);

/*
 * What becomes of the lock, told to each block that is in the cache: as in bound.h.
 * Any context; the lock's spinlock may be held.
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
