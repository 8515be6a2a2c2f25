// SPDX-License-Identifier: GPL-2.0-only
/*
 * One process alone: how long a lock takes that this node had last, beside the C
 * library's own in ordinary memory.
 */
#include "arena.h"

#define ROUNDS		500	/* of a turn: short, so that most are not disturbed */
#define TURNS		100
#define TURNS_SERVICE	10	/* of one round: it is never cached */

/* @ns: of a lock and unlock, in each turn, to read and to write. */
struct took {
	const struct lock_kind *kind;
	struct lock l;
	struct lock_place place;
	double ns[2][TURNS];
	unsigned int turns[2];
};

static void turn(struct took *t, bool writes)
{
	unsigned int rounds = t->kind->service ? 1 : ROUNDS, i;
	uint64_t begin = now_ns();

	t->l.writes = writes;
	for (i = 0; i < rounds; i++) {
		if (writes)
			t->kind->wrlock(&t->l);
		else
			t->kind->rdlock(&t->l);
		t->kind->unlock(&t->l);
	}
	begin = now_ns() - begin;
	t->ns[writes][t->turns[writes]++] = (double)begin / rounds;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of @n values; the least of them goes to @least. */
static double median(const double *values, unsigned int n, double *least)
{
	double sorted[TURNS];

	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_size);
	*least = sorted[0];
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/*
 * How many times as long as glibc's: the median of the turns' own ratios, as what
 * disturbs one of a turn disturbs the other.
 */
static double of_glibc(const struct took *t, const struct took *glibc, bool writes)
{
	double ratio[TURNS], least;
	unsigned int i;

	for (i = 0; i < t->turns[writes]; i++)
		ratio[i] = t->ns[writes][i] / glibc->ns[writes][i];
	return median(ratio, t->turns[writes], &least);
}

static void print(const struct lockbench *b, const struct took *t, const struct took *glibc)
{
	double read_least, write_least;
	double read = median(t->ns[false], t->turns[false], &read_least);
	double write = median(t->ns[true], t->turns[true], &write_least);

	struct json j;

	result_begin(&j, b, "latency", t->kind->name);
	json_real(&j, "read_p50_ns", read);
	json_real(&j, "write_p50_ns", write);
	json_real(&j, "read_least_ns", read_least);
	json_real(&j, "write_least_ns", write_least);
	json_real(&j, "read_of_glibc", of_glibc(t, glibc, false));
	json_real(&j, "write_of_glibc", of_glibc(t, glibc, true));
	json_end(&j);
}

/**
 * bench_latency() - measure each kind, and glibc
 * @b: the options
 */
int bench_latency(const struct lockbench *b)
{
	struct took *took = calloc(b->kinds_len + 1, sizeof(*took)), *t;
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
	for (k = 0; k <= b->kinds_len; k++)
		print(b, &took[k], &took[b->kinds_len]);
	free(took);
	return 0;
}
