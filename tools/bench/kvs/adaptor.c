// SPDX-License-Identifier: GPL-2.0-only
/*
 * The locks of weft-lockbench as kinds of locks for weft-kvs (--lock-library): the
 * same store on other locks than weft's own.
 *
 * Each lock has a label in shared memory in front of it, written when the store is
 * made: for how many nodes and threads there is room in it, and its name at the lock
 * service.  A process reads it once.
 *
 * Environment, when a store is made: WEFT_LOCKS_NODES (4) and WEFT_LOCKS_THREADS (4),
 * that will use it, threads of each node at a time.  When it is used:
 * WEFT_LOCKS_NODE, the number of this machine, from 1; WEFT_LOCKS_NAME, of these locks, where
 * a machine uses several stores at a time (their threads count apart); WEFT_LOCKS_SERVICE,
 * ADDRESS[:PORT] where weft-lockbench serve runs.  A process that cannot go on ends,
 * with a sentence that says why.
 */
#include <sys/random.h>

#include "thread.h"
#include "tools/kvs/locks.h"

#define MAGIC	0x6b636f6c74666577ull	/* "weftlock" */

/**
 * struct label - in front of a lock
 * @magic: MAGIC
 * @name: at the lock service
 * @nodes: that the lock has room for
 * @threads: of each of them
 * @kind: its name
 *
 * A lock that has memory follows in the next page: who reads the label disturbs nobody
 * who takes the lock.
 */
struct label {
	uint64_t magic;
	uint64_t name;
	uint32_t nodes;
	uint32_t threads;
	char kind[16];
};

_Static_assert(sizeof(struct label) <= KVS_LOCK_ROOM, "it fits in front of what is guarded");

static struct lock_place most = { .nodes = 4, .procs = 4 };

static const struct lock_kind *const kinds[] = {
	&lock_central, &lock_mcs, &lock_pernode, &lock_cohort, &lock_service
};

#define N_KINDS	(sizeof(kinds) / sizeof(kinds[0]))

static int format(void *at, const struct lock_kind *kind)
{
	struct label *l = at;

	l->nodes = most.nodes;
	l->threads = most.procs;
	strncpy(l->kind, kind->name, sizeof(l->kind) - 1);
	if (getrandom(&l->name, sizeof(l->name), 0) != sizeof(l->name))
		return errno;
	l->magic = MAGIC;
	return 0;
}

static int init(void *at, void *guarded, size_t size)
{
	const struct label *l = at;
	struct known known = {
		.name = l->name, .nodes = l->nodes, .threads = l->threads,
		.at = (char *)at + NODE_PAGE,
	};
	unsigned int i;

	(void)guarded;
	(void)size;
	for (i = 0; i < N_KINDS; i++)
		if (!strncmp(kinds[i]->name, l->kind, sizeof(l->kind)))
			known.kind = kinds[i];
	if (l->magic != MAGIC || !known.kind || !known.nodes || known.nodes > NODE_MAX ||
	    !known.threads || known.threads > THREAD_CLIENTS / known.nodes)
		return EUCLEAN;
	return thread_know(at, &known);
}

static int rdlock(void *at)
{
	struct lock *l = thread_lock(at);

	l->writes = false;
	l->kind->rdlock(l);
	return 0;
}

static int wrlock(void *at)
{
	struct lock *l = thread_lock(at);

	l->writes = true;
	l->kind->wrlock(l);
	return 0;
}

static int unlock(void *at)
{
	struct lock *l = thread_lock(at);

	l->kind->unlock(l);
	return 0;
}

/* --- The table ------------------------------------------------------------------- */

#define FORMAT(kind)							\
static int format_##kind(void *at)					\
{									\
	return format(at, &lock_##kind);				\
}

FORMAT(central)
FORMAT(mcs)
FORMAT(pernode)
FORMAT(cohort)
FORMAT(service)

#define OPS(kind) [kind] = {						\
	.format = format_##kind, .init = init, .rdlock = rdlock,	\
	.wrlock = wrlock, .unlock = unlock,				\
}

/* As kinds[] above. */
enum { central, mcs, pernode, cohort, service };

static struct kvs_lock_ops ops[N_KINDS] = {
	OPS(central), OPS(mcs), OPS(pernode), OPS(cohort), OPS(service),
};

extern const struct kvs_lock_ops *const kvs_locks[];
const struct kvs_lock_ops *const kvs_locks[] = {
	&ops[central], &ops[mcs], &ops[pernode], &ops[cohort], &ops[service], NULL
};

static unsigned int number(const char *name, unsigned int otherwise, unsigned int max)
{
	const char *text = getenv(name);

	return text ? (unsigned int)node_number_of(name, text, 1, max) : otherwise;
}

__attribute__((constructor)) static void fill(void)
{
	size_t size;
	unsigned int i;

	node.program = "weft-kvs";
	most.nodes = number("WEFT_LOCKS_NODES", most.nodes, NODE_MAX);
	most.procs = number("WEFT_LOCKS_THREADS", most.procs, THREAD_CLIENTS / most.nodes);
	for (i = 0; i < N_KINDS; i++) {
		size = kinds[i]->size(&most);
		ops[i].name = kinds[i]->name;
		ops[i].about = kinds[i]->what;
		ops[i].size = size ? NODE_PAGE + size : sizeof(struct label);
	}
}
