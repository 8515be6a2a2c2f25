// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue lock of Mellor-Crummey and Scott: each waits at a flag of its own, and
 * is told by the one before it.  Readers exclude each other, too.
 */
#include "lock.h"

/**
 * struct entry - of one thread, in the queue
 * @next: who comes after it, plus 1; 0: nobody yet
 * @waits: until the one before it clears this
 */
struct entry {
	_Atomic uint64_t next;
	_Atomic uint64_t waits;
};

static _Atomic uint64_t *tail_of(struct lock *l)
{
	return &((union lock_line *)l->at)->value;
}

static struct entry *entry_of(struct lock *l, uint64_t number)
{
	return (struct entry *)((union lock_line *)l->at + number);
}

static size_t mcs_size(const struct lock_place *p)
{
	return (1 + lock_all(p)) * sizeof(union lock_line);
}

static void mcs_lock(struct lock *l)
{
	uint64_t me = lock_me(l->place) + 1, before;
	struct entry *mine = entry_of(l, me);
	struct lock_wait w = { 0 };

	atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
	atomic_store_explicit(&mine->waits, 1, memory_order_relaxed);
	lock_own(tail_of(l));
	before = atomic_exchange(tail_of(l), me);
	if (!before)
		return;
	atomic_store_explicit(&entry_of(l, before)->next, me, memory_order_release);
	while (atomic_load_explicit(&mine->waits, memory_order_acquire))
		lock_wait(l, &w);
}

static void mcs_unlock(struct lock *l)
{
	uint64_t me = lock_me(l->place) + 1, next, last = me;
	struct entry *mine = entry_of(l, me);
	struct lock_wait w = { 0 };

	next = atomic_load_explicit(&mine->next, memory_order_acquire);
	if (!next) {
		lock_own(tail_of(l));
		if (atomic_compare_exchange_strong(tail_of(l), &last, 0))
			return;
		/* Somebody is behind it, and about to say who. */
		while (!(next = atomic_load_explicit(&mine->next, memory_order_acquire)))
			lock_wait(l, &w);
	}
	atomic_store_explicit(&entry_of(l, next)->waits, 0, memory_order_release);
}

const struct lock_kind lock_mcs = {
	.name = "mcs",
	.what = "a queue, each waits at a page of its own; mutual exclusion only",
	.exclusive = true,
	.size = mcs_size,
	.rdlock = mcs_lock,
	.wrlock = mcs_lock,
	.unlock = mcs_unlock,
};
