// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers count themselves in a page of their node, as in the "big reader" lock of
 * Linux with one count a processor: without writers they send no message.  A writer
 * looks at all of them.
 */
#include "lock.h"

/* The first page is the writers'. */
static _Atomic uint64_t *writer_of(struct lock *l)
{
	return &((union lock_line *)l->at)->value;
}

static _Atomic uint64_t *readers_of(struct lock *l, unsigned int node_index)
{
	return &((union lock_line *)l->at)[1 + node_index].value;
}

static size_t pernode_size(const struct lock_place *p)
{
	return (1 + p->nodes) * sizeof(union lock_line);
}

static void pernode_rdlock(struct lock *l)
{
	_Atomic uint64_t *mine = readers_of(l, l->place->node);
	struct lock_wait w = { 0 };

	/*
	 * The reader counts itself, then looks for a writer; the writer says that
	 * it is there, then looks for readers.  In the one order of all of these
	 * that there is, one of them sees the other.
	 */
	for (;;) {
		lock_own(mine);
		atomic_fetch_add(mine, 1);
		if (!atomic_load(writer_of(l)))
			return;
		atomic_fetch_sub(mine, 1);
		while (atomic_load_explicit(writer_of(l), memory_order_relaxed))
			lock_wait(l, &w);
	}
}

static void pernode_wrlock(struct lock *l)
{
	struct lock_wait w = { 0 };
	uint64_t nobody = 0;
	unsigned int i;

	lock_own(writer_of(l));
	while (!atomic_compare_exchange_strong(writer_of(l), &nobody,
					       lock_me(l->place) + 1)) {
		while (atomic_load_explicit(writer_of(l), memory_order_relaxed))
			lock_wait(l, &w);
		lock_own(writer_of(l));
		nobody = 0;
	}
	for (i = 0; i < l->place->nodes; i++)
		while (atomic_load(readers_of(l, i)))
			lock_wait(l, &w);
}

static void pernode_unlock(struct lock *l)
{
	if (l->writes) {
		atomic_store_explicit(writer_of(l), 0, memory_order_release);
		return;
	}
	lock_own(readers_of(l, l->place->node));
	atomic_fetch_sub(readers_of(l, l->place->node), 1);
}

const struct lock_kind lock_pernode = {
	.name = "pernode",
	.what = "readers are counted by node, writers look at all counts (brlock)",
	.size = pernode_size,
	.rdlock = pernode_rdlock,
	.wrlock = pernode_wrlock,
	.unlock = pernode_unlock,
};
