// SPDX-License-Identifier: GPL-2.0-only
/*
 * C-RW-WP (Calciu, Dice, Lev, Luchangco, Marathe, Shavit: NUMA-aware reader-writer
 * locks, 2013): a cohort lock for writers, readers counted by node, writers before
 * readers.
 *
 * The cohort lock is a partitioned ticket lock among the nodes, where each ticket
 * waits at a page of its own, over a ticket lock on each node.  A writer that leaves
 * passes both on to the next of its node, up to BATCH times.
 */
#include "lock.h"

#define BATCH		64	/* writers of one node in a row */
#define PATIENCE_NS	20000000ull	/* of a reader, before writers have to wait */

/**
 * struct global - among the nodes
 * @request: the next ticket
 * @barrier: readers that have waited for too long
 * @granted: by ticket, modulo the number of nodes: the last ticket that may go on.
 *	Ticket 0 may from the start
 */
struct global {
	union lock_line request;
	union lock_line barrier;
	union lock_line granted[];
};

/* Of one node: only its own processes touch it. */
struct local {
	_Atomic uint64_t request;
	_Atomic uint64_t granted;
	_Atomic uint64_t passed;	/* the global lock came with the local one */
	_Atomic uint64_t ticket;	/* of the global lock */
	uint64_t batch;
};

static struct global *global_of(struct lock *l)
{
	return l->at;
}

static struct local *local_of(struct lock *l)
{
	return (struct local *)&global_of(l)->granted[l->place->nodes + l->place->node];
}

static _Atomic uint64_t *readers_of(struct lock *l, unsigned int node_index)
{
	return &global_of(l)->granted[2 * l->place->nodes + node_index].value;
}

static size_t cohort_size(const struct lock_place *p)
{
	return sizeof(struct global) + 3 * p->nodes * sizeof(union lock_line);
}

static _Atomic uint64_t *granted_of(struct lock *l, uint64_t ticket)
{
	return &global_of(l)->granted[ticket % l->place->nodes].value;
}

/* The next ticket may go on at once, if nobody has the lock or waits for it. */
static bool is_locked(struct lock *l)
{
	uint64_t next = atomic_load(&global_of(l)->request.value);

	return atomic_load(granted_of(l, next)) != next;
}

static void global_lock(struct lock *l)
{
	struct lock_wait w = { 0 };
	uint64_t ticket;

	lock_own(&global_of(l)->request.value);
	ticket = atomic_fetch_add(&global_of(l)->request.value, 1);
	/*
	 * No node has two tickets, so at most as many are out as there are pages:
	 * what is read here is never of a later ticket.
	 */
	while (atomic_load_explicit(granted_of(l, ticket), memory_order_acquire) != ticket)
		lock_wait(l, &w);
	atomic_store_explicit(&local_of(l)->ticket, ticket, memory_order_relaxed);
}

static void global_unlock(struct lock *l)
{
	uint64_t next = atomic_load_explicit(&local_of(l)->ticket, memory_order_relaxed) + 1;

	atomic_store_explicit(granted_of(l, next), next, memory_order_release);
}

static void cohort_lock(struct lock *l)
{
	struct local *mine = local_of(l);
	uint64_t ticket = atomic_fetch_add(&mine->request, 1);
	struct lock_wait w = { 0 };

	while (atomic_load_explicit(&mine->granted, memory_order_acquire) != ticket)
		lock_wait(l, &w);
	if (!atomic_load_explicit(&mine->passed, memory_order_relaxed)) {
		global_lock(l);
		mine->batch = 0;
	}
}

static void cohort_unlock(struct lock *l)
{
	struct local *mine = local_of(l);
	uint64_t next = atomic_load_explicit(&mine->granted, memory_order_relaxed) + 1;
	bool pass = atomic_load(&mine->request) != next && ++mine->batch < BATCH;

	if (!pass)
		global_unlock(l);
	atomic_store_explicit(&mine->passed, pass, memory_order_relaxed);
	atomic_store_explicit(&mine->granted, next, memory_order_release);
}

static void cohort_wrlock(struct lock *l)
{
	struct lock_wait w = { 0 };
	unsigned int i;

	while (atomic_load_explicit(&global_of(l)->barrier.value, memory_order_relaxed))
		lock_wait(l, &w);
	cohort_lock(l);
	for (i = 0; i < l->place->nodes; i++)
		while (atomic_load(readers_of(l, i)))
			lock_wait(l, &w);
}

static void cohort_rdlock(struct lock *l)
{
	_Atomic uint64_t *mine = readers_of(l, l->place->node);
	struct lock_wait w = { 0 };
	uint64_t begin = 0;
	bool impatient = false;

	/* The reader counts itself, then looks for a writer; a writer the reverse. */
	for (;;) {
		lock_own(mine);
		atomic_fetch_add(mine, 1);
		if (!is_locked(l))
			break;
		atomic_fetch_sub(mine, 1);
		while (is_locked(l)) {
			lock_wait(l, &w);
			if (impatient || w.looks <= LOCK_SPIN)
				continue;
			if (!begin)
				begin = now_ns();
			if (now_ns() - begin > PATIENCE_NS) {
				impatient = true;
				atomic_fetch_add(&global_of(l)->barrier.value, 1);
			}
		}
	}
	if (impatient)
		atomic_fetch_sub(&global_of(l)->barrier.value, 1);
}

static void cohort_leave(struct lock *l)
{
	if (l->writes) {
		cohort_unlock(l);
		return;
	}
	lock_own(readers_of(l, l->place->node));
	atomic_fetch_sub(readers_of(l, l->place->node), 1);
}

const struct lock_kind lock_cohort = {
	.name = "cohort",
	.what = "C-RW-WP: nodes hand the lock on among their own, readers are counted by node",
	.size = cohort_size,
	.rdlock = cohort_rdlock,
	.wrlock = cohort_wrlock,
	.unlock = cohort_leave,
};
