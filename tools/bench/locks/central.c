// SPDX-License-Identifier: GPL-2.0-only
/*
 * A centralised reader-writer lock, as the C library's default one: readers count
 * themselves in one word, and pass a writer that waits.  One atomic operation to
 * take it and one to leave it, where nobody is in the way.  The library's waits on
 * a futex, which other nodes do not hear; this looks at the word.
 */
#include "lock.h"

#define WRITER	1ull
#define READER	2ull

static _Atomic uint64_t *word_of(struct lock *l)
{
	return &((union lock_line *)l->at)->value;
}

static size_t central_size(const struct lock_place *p)
{
	(void)p;
	return sizeof(union lock_line);
}

static void central_rdlock(struct lock *l)
{
	_Atomic uint64_t *word = word_of(l);
	struct lock_wait w = { 0 };

	lock_own(word);
	/* Counted, and so in as soon as the writer that is in has left. */
	if (!(atomic_fetch_add(word, READER) & WRITER))
		return;
	while (atomic_load_explicit(word, memory_order_acquire) & WRITER)
		lock_wait(l, &w);
}

static void central_wrlock(struct lock *l)
{
	_Atomic uint64_t *word = word_of(l);
	struct lock_wait w = { 0 };
	uint64_t nobody = 0;

	lock_own(word);
	while (!atomic_compare_exchange_strong(word, &nobody, WRITER)) {
		while (atomic_load_explicit(word, memory_order_relaxed))
			lock_wait(l, &w);
		lock_own(word);
		nobody = 0;
	}
}

static void central_unlock(struct lock *l)
{
	lock_own(word_of(l));
	atomic_fetch_sub(word_of(l), l->writes ? WRITER : READER);
}

const struct lock_kind lock_central = {
	.name = "central",
	.what = "one word counts readers and has the writer",
	.size = central_size,
	.rdlock = central_rdlock,
	.wrlock = central_wrlock,
	.unlock = central_unlock,
};
