// SPDX-License-Identifier: GPL-2.0-only
/*
 * One process alone: how long a lock takes that this node had last, beside the C
 * library's own in ordinary memory.
 */
#include "arena.h"

#define ROUNDS		500	/* of a turn: short, so that some are not disturbed */
#define TURNS		100
#define TURNS_SERVICE	10	/* of one round: it is never cached */

struct took {
	const struct lock_kind *kind;
	struct lock l;
	struct lock_place place;
	double least[2];	/* nanoseconds: to read, to write */
	struct histogram all[2];
};

static void turn(struct took *t, bool writes)
{
	unsigned int rounds = t->kind->service ? 1 : ROUNDS, i;
	uint64_t begin = node_now_ns();
	double ns;

	t->l.writes = writes;
	for (i = 0; i < rounds; i++) {
		if (writes)
			t->kind->wrlock(&t->l);
		else
			t->kind->rdlock(&t->l);
		t->kind->unlock(&t->l);
	}
	begin = node_now_ns() - begin;
	ns = (double)begin / rounds;
	if (ns < t->least[writes])
		t->least[writes] = ns;
	histogram_add(&t->all[writes], begin / rounds);
}

/**
 * bench_latency() - measure each kind, and glibc
 * @b: the options
 */
int bench_latency(const struct lockbench *b)
{
	struct took *took = calloc(b->kinds_len + 1, sizeof(*took)), *t, *glibc;
	unsigned int i, k, writes;
	struct arena *a;

	if (node.count != 1)
		node_die("latency: is measured on one node alone: --nodes 1");
	if (!took)
		node_die("out of memory");
	a = arena_open(b, "latency", arena_size(b, b->kinds_len));
	for (k = 0; k <= b->kinds_len; k++) {
		t = &took[k];
		t->kind = k < b->kinds_len ? b->kinds[k] : &lock_glibc;
		arena_lock(b, a, t->kind, k < b->kinds_len ? k : 0, &t->l, &t->place);
		t->least[0] = t->least[1] = 1e18;
		if (t->kind == &lock_glibc) {
			t->l.at = mmap(NULL, NODE_PAGE, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
			if (t->l.at == MAP_FAILED)
				node_die("out of memory");
		}
		if (t->kind->init)
			t->kind->init(&t->l);
	}
	/* In turn, so that what disturbs them disturbs all. */
	for (i = 0; i < TURNS; i++)
		for (k = 0; k <= b->kinds_len; k++)
			for (writes = 0; writes < 2; writes++)
				if (i < TURNS_SERVICE || !took[k].kind->service)
					turn(&took[k], writes);
	glibc = &took[b->kinds_len];
	for (k = 0; k <= b->kinds_len; k++) {
		t = &took[k];
		printf("{\"bench\":\"latency\",\"label\":\"%s\",\"lock\":\"%s\",\"read_ns\":%.4g,\"write_ns\":%.4g,\"read_p50_ns\":%.4g,\"write_p50_ns\":%.4g,\"read_of_glibc\":%.4g,\"write_of_glibc\":%.4g}\n",
		       b->label, t->kind->name, t->least[0], t->least[1],
		       histogram_us(&t->all[0], 0.5) * 1e3,
		       histogram_us(&t->all[1], 0.5) * 1e3,
		       t->least[0] / glibc->least[0], t->least[1] / glibc->least[1]);
	}
	free(took);
	return 0;
}
