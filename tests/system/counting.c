// SPDX-License-Identifier: GPL-2.0-only
/*
 * What counting costs, for counting.sh: a module whose counting can be switched while it
 * runs takes batches of misses with it and without, in turns so short that both meet the
 * same disturbances.
 *
 *	system-counting fill FILE PAGES
 *	system-counting measure FILE FROM PAGES	a sample a line: kind, with or without,
 *						number of the batch, nanoseconds
 *	system-counting compare LIMIT		samples on standard input; LIMIT: percent
 *						that a miss may take longer with it
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/argument.h"
#include "tools/common/clock.h"
#include "tools/common/random.h"

#define PAGE		4096
#define BATCH		16	/* pages */
#define GROUP		8	/* batches, half of them with counting */
#define SWITCH		"/sys/module/weft/parameters/count"
#define DRAWS		1000	/* of the bootstrap */
#define WIDTH		6.0	/* percent: a wider interval says nothing */

enum { READ, UPGRADE, FAULT, KINDS };

static const char *const kinds[KINDS] = { "read", "upgrade", "fault" };

struct sample {
	uint32_t ns;
	uint32_t group;
};

/* Sorted by time, with (1) and without (0) counting. */
struct samples {
	struct sample *at[2];
	size_t n[2];
	uint32_t groups;
};

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "system-counting: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(2);
}

static volatile char *map(const char *path, uint64_t pages, bool make)
{
	int fd = open(path, O_RDWR | (make ? O_CREAT : 0), 0600);
	void *at;

	if (fd < 0 || (make && ftruncate(fd, pages * PAGE)))
		die("%s: %s", path, strerror(errno));
	at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		die("cannot map %s: %s", path, strerror(errno));
	/* Neighbours of what was asked for may not come along uninvited. */
	madvise(at, pages * PAGE, MADV_RANDOM);
	return at;
}

static void fill(const char *path, uint64_t pages)
{
	volatile char *at = map(path, pages, true);
	uint64_t i;

	for (i = 0; i < pages; i++)
		at[i * PAGE] = 1;
}

/* --- Measuring --------------------------------------------------------------- */

static void touch(volatile char *at, const uint32_t *page, int kind, bool with, uint64_t batch)
{
	uint64_t start;
	unsigned int i;

	/* The first one has the system call before it, and is not counted. */
	for (i = 0; i < BATCH; i++) {
		volatile char *byte = at + (uint64_t)page[i] * PAGE;

		start = now_ns();
		if (kind == UPGRADE)
			*byte = 2;
		else
			(void)*byte;
		start = now_ns() - start;
		if (i > 0)
			printf("%s %d %llu %llu\n", kinds[kind], with,
			       (unsigned long long)batch, (unsigned long long)start);
	}
}

/*
 * Pages in random order: read, which is a miss, written to, which is another, and read
 * once more after they were taken out of the page tables, which is none.
 */
static void measure(const char *path, uint64_t from, uint64_t pages)
{
	volatile char *at = map(path, from + pages, false);
	uint32_t *page = calloc(pages, sizeof(*page)), x;
	uint64_t random = from, i, k;
	int count = open(SWITCH, O_WRONLY | O_CLOEXEC);

	if (!page)
		die("out of memory");
	if (count < 0)
		die("%s: %s: is it the module that counting.sh makes?", SWITCH, strerror(errno));
	for (i = 0; i < pages; i++)
		page[i] = from + i;
	for (i = pages - 1; i > 0; i--) {
		k = random_below(&random, i + 1);
		x = page[i];
		page[i] = page[k];
		page[k] = x;
	}
	for (i = 0; i + GROUP * BATCH <= pages; i += GROUP * BATCH) {
		for (k = 0; k < GROUP; k++) {
			/* +--+-++-: neither drift nor order tells them apart */
			bool with = 0x69 >> k & 1;
			const uint32_t *batch = page + i + k * BATCH;
			uint64_t number = i / BATCH + k;
			unsigned int b;

			if (pwrite(count, with ? "1" : "0", 1, 0) != 1)
				die("%s: %s", SWITCH, strerror(errno));
			touch(at, batch, READ, with, number);
			touch(at, batch, UPGRADE, with, number);
			for (b = 0; b < BATCH; b++)
				madvise((void *)(at + (uint64_t)batch[b] * PAGE), PAGE,
					MADV_DONTNEED);
			touch(at, batch, FAULT, with, number);
		}
	}
	if (pwrite(count, "1", 1, 0) != 1)
		die("%s: %s", SWITCH, strerror(errno));
}

/* --- Comparing --------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

static void add(struct samples *s, bool with, uint32_t group, uint32_t ns)
{
	size_t n = s->n[with];

	/* room doubles */
	if (!(n & (n - 1))) {
		s->at[with] = realloc(s->at[with], (n ? 2 * n : 1) * sizeof(*s->at[with]));
		if (!s->at[with])
			die("out of memory");
	}
	s->at[with][n] = (struct sample){ .ns = ns, .group = group };
	s->n[with]++;
	if (group >= s->groups)
		s->groups = group + 1;
}

static void take(struct samples *of)
{
	unsigned long long batch, ns, last = 0;
	uint32_t base = 0, group = 0;
	char name[16];
	int with, k;

	while (scanf("%15s %d %llu %llu", name, &with, &batch, &ns) == 4) {
		for (k = 0; k < KINDS && strcmp(kinds[k], name); k++)
			;
		if (k == KINDS || with < 0 || with > 1 || ns > UINT32_MAX)
			die("no sample: %s %d %llu %llu", name, with, batch, ns);
		/* the next run of "measure" */
		if (batch < last)
			base = group + 1;
		last = batch;
		group = base + batch / GROUP;
		add(&of[k], with, group, ns);
	}
}

/* A quartile of samples whose groups weigh as much as that. */
static double quartile(const struct samples *s, int with, const uint32_t *weight)
{
	uint64_t all = 0, sum = 0;
	size_t i;

	for (i = 0; i < s->n[with]; i++)
		all += weight[s->at[with][i].group];
	for (i = 0; i < s->n[with]; i++) {
		sum += weight[s->at[with][i].group];
		if (4 * sum >= all)
			break;
	}
	return s->at[with][i].ns;
}

static double cost(const struct samples *s, const uint32_t *weight)
{
	return 100 * (quartile(s, 1, weight) / quartile(s, 0, weight) - 1);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * The lower quartile: what disturbs an emulated machine comes on top of what a miss takes,
 * and half of them are disturbed.  How far it can be trusted: the same of groups drawn
 * anew from those that there are.
 */
static bool compare_kind(const char *name, struct samples *s, double limit)
{
	double draw[DRAWS], found, from, to;
	uint32_t *weight = calloc(s->groups + 1, sizeof(*weight)), g;
	uint64_t random = 1;
	unsigned int i;

	if (!weight)
		die("out of memory");
	if (s->n[0] < 1000 || s->n[1] < 1000)
		die("%s: %zu and %zu samples are too few", name, s->n[0], s->n[1]);
	for (i = 0; i < 2; i++)
		qsort(s->at[i], s->n[i], sizeof(*s->at[i]), by_time);
	for (g = 0; g < s->groups; g++)
		weight[g] = 1;
	found = cost(s, weight);
	printf("%s: %zu without counting, lower quartile %.2f us; %zu with it, %.2f us: ",
	       name, s->n[0], quartile(s, 0, weight) / 1e3, s->n[1],
	       quartile(s, 1, weight) / 1e3);
	for (i = 0; i < DRAWS; i++) {
		memset(weight, 0, s->groups * sizeof(*weight));
		for (g = 0; g < s->groups; g++)
			weight[random_below(&random, s->groups)]++;
		draw[i] = cost(s, weight);
	}
	free(weight);
	qsort(draw, DRAWS, sizeof(*draw), by_value);
	from = draw[DRAWS / 40];
	to = draw[DRAWS - 1 - DRAWS / 40];
	printf("%+.2f %% (95 %%: %+.2f to %+.2f)\n", found, from, to);
	if (to - from > WIDTH) {
		printf("%s: disturbed too much to tell: more rounds, or a machine that does nothing else\n",
		       name);
		return false;
	}
	return found <= limit;
}

static int compare(double limit)
{
	struct samples of[KINDS] = { 0 };
	bool good = true;
	int k;

	take(of);
	for (k = 0; k < KINDS; k++)
		good &= compare_kind(kinds[k], &of[k], limit);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "fill"))
		fill(argv[2], argument(argv[3], 0, SIZE_MAX / PAGE));
	else if (argc == 5 && !strcmp(argv[1], "measure"))
		measure(argv[2], argument(argv[3], 0, SIZE_MAX / PAGE), argument(argv[4], 1, SIZE_MAX / PAGE));
	else if (argc == 3 && !strcmp(argv[1], "compare"))
		return compare(argument_real(argv[2]));
	else
		die("fill FILE PAGES, measure FILE FROM PAGES or compare LIMIT");
	return 0;
}
