// SPDX-License-Identifier: GPL-2.0-only
/*
 * soak-check: judges the history of a soak.  Exit status 0: it is as was promised; 1: it is
 * not, and what is wrong was printed; 2: it cannot be judged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "tests/common/argument.h"
#include "tools/common/clock.h"

static const char usage[] =
"usage: soak-check --bound MS FILE...\n"
"       soak-check --selftest\n"
"Judges what soak-worker, and the script that did things to its rack, have written down.\n"
"  --bound MS       no operation may take longer while there is no fault\n"
"  --selftest       prove that it finds what it has to find\n";

static int by_name(const void *a, const void *b)
{
	const struct soak_fault *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	return x->longest < y->longest ? -1 : x->longest > y->longest;
}

static void print(struct soak_history *h, const struct soak_verdict *v)
{
	size_t i, n;
	int kind;

	printf("operations:");
	for (kind = 0; kind < SOAK_KINDS; kind++)
		printf(" %s %zu", soak_about[kind].name + strlen("soak-"), v->done[kind]);
	printf("; %zu records made safe\n", v->acks);
	printf("lost with a node: %zu writes; seen, but never written down: %zu; told of a dead owner: %zu times; errors: %zu; processes: %zu\n",
	       v->lost, v->unlogged, v->told, h->errors.n, h->processes.n);
	printf("longest operation, ms, median and max:");
	if (h->faults.n)
		qsort(h->faults.at, h->faults.n, sizeof(*h->faults.at), by_name);
	for (i = 0; i < h->faults.n; i += n) {
		const struct soak_fault *f = &h->faults.at[i];

		for (n = 1; i + n < h->faults.n && !strcmp(f[n].name, f->name); n++)
			;
		printf("%s %s (%zu) %llu, %llu", i ? ";" : "", f->name, n,
		       (unsigned long long)(f[n / 2].longest / NS_IN_MS),
		       (unsigned long long)(f[n - 1].longest / NS_IN_MS));
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	static struct soak_history h;
	static struct soak_verdict v;
	uint64_t bound;
	int i;

	if (argc == 2 && !strcmp(argv[1], "--selftest"))
		return soak_selftest();
	if (argc < 4 || strcmp(argv[1], "--bound")) {
		fputs(usage, stderr);
		return 2;
	}
	bound = argument(argv[2], 1, 100000000) * NS_IN_MS;
	for (i = 3; i < argc; i++)
		if (soak_read(&h, argv[i]))
			return 2;
	soak_judge(&h, bound, &v);
	print(&h, &v);
	if (v.wrong)
		printf("%zu things are WRONG\n", v.wrong);
	soak_free(&h);
	return v.wrong ? 1 : 0;
}
