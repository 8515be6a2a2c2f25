// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many times a second threads lock and unlock: the C library's process-shared
 * locks, and through the preload library the same in a region, in one run.
 *
 *	preload-pairs FILE [TURNS [CASE...]]
 *
 * FILE is a new region.  Each turn measures both, one right after the other and the
 * one that begins in turn, so that what else the machine does meets both.  Prints a
 * line of JSON for each case: medians of million pairs a second, and the median of
 * the turns' ratios.  Where threads do not wait for each other the time is that
 * which their processors gave them; else that of the clock.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/common/argument.h"
#include "tests/libweft/speed.h"
#include "tests/preload/both.h"
#include "tools/common/clock.h"

#define TURN_MS		40
#define TURNS_MAX	999
#define THREADS_MAX	4
#define MANY		2000	/* locks of a thread */
#define STRIDE		64	/* from lock to lock, in bytes */
#define LOCKS		(MANY * THREADS_MAX)
#define SIZE		((size_t)LOCKS * STRIDE)

/**
 * struct form - what is measured
 * @name:	its name
 * @what:	in words
 * @threads:	so many
 * @locks:	each takes so many, at random
 * @together:	all the same ones
 * @writes:	one of so many pairs is to write; 0: none
 * @mutex:	mutexes
 * @outside:	ours are not in the region: what it costs that we stand before them
 */
struct form {
	const char *name;
	const char *what;
	unsigned int threads;
	unsigned int locks;
	bool together;
	unsigned int writes;
	bool mutex;
	bool outside;
};

static const struct form forms[] = {
	{ "read1", "1 thread reads one lock", 1, 1, false, 0, false, false },
	{ "write1", "1 thread writes, one lock", 1, 1, false, 1, false, false },
	{ "mutex1", "1 thread, one mutex", 1, 1, false, 1, true, false },
	{ "write2", "2 threads, a write lock each", 2, 1, false, 1, false, false },
	{ "share2", "2 threads read one lock", 2, 1, true, 0, false, false },
	{ "many1", "1 thread, 2000 locks at random, read", 1, MANY, false, 0, false, false },
	{ "many2", "2 threads, 2000 locks each, read", 2, MANY, false, 0, false, false },
	{ "both2", "2 threads, the same 2000 locks, 1 in 10 writes", 2, MANY, true, 10, false, false },
	{ "mixed2", "2 threads, one lock, 1 in 100 writes", 2, 1, true, 100, false, false },
	{ "contend2", "2 threads write, one lock", 2, 1, true, 1, false, false },
	{ "contend4", "4 threads write, one lock", 4, 1, true, 1, false, false },
	{ "read-out", "1 thread reads one lock, in no region", 1, 1, false, 0, false, true },
	{ "mutex-out", "1 thread, one mutex, in no region", 1, 1, false, 1, true, true },
};

/* Those who wait for others are measured by the clock. */
static bool by_clock(const struct form *f)
{
	return f->together && f->writes && f->locks == 1;
}

struct worker {
	pthread_t thread;
	const struct form *form;
	const struct functions *functions;
	char *locks;
	unsigned int number;
	double rate;
	unsigned long pairs;
} __attribute__((aligned(128)));

static pthread_barrier_t begin;
static _Atomic bool stop __attribute__((aligned(128)));

static double own_seconds(void)
{
	return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

static void stay_on(unsigned int cpu)
{
	cpu_set_t allowed, set;
	int i, n = -1;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &allowed) || ++n != (int)cpu)
			continue;
		CPU_ZERO(&set);
		CPU_SET(i, &set);
		sched_setaffinity(0, sizeof(set), &set);
		return;
	}
}

/* Always as many pairs between two looks at the end. */
static __attribute__((noinline)) void some(struct worker *w, unsigned int *seed)
{
	const struct functions *f = w->functions;
	const struct form *form = w->form;
	unsigned int i, s = *seed;

	for (i = 0; i < 256; i++) {
		char *l = w->locks;

		s = s * 1664525u + 1013904223u;
		if (form->locks > 1)
			l += (size_t)((uint64_t)s * form->locks >> 32) * STRIDE;
		if (form->mutex) {
			f->lock_mutex((pthread_mutex_t *)l);
			f->unlock_mutex((pthread_mutex_t *)l);
			continue;
		}
		if (form->writes && (form->writes == 1 || s % form->writes == 0))
			f->write((pthread_rwlock_t *)l);
		else
			f->read((pthread_rwlock_t *)l);
		f->unlock((pthread_rwlock_t *)l);
	}
	*seed = s;
	w->pairs += 256;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int seed = w->number * 12345 + 1, i;
	double t, own;

	if (w->form->threads <= 2)
		stay_on(w->number);
	/* What is found for the first time costs more. */
	for (i = 0; i < 20 || i < w->form->locks / 16; i++)
		some(w, &seed);
	pthread_barrier_wait(&begin);
	w->pairs = 0;
	t = now_seconds();
	own = own_seconds();
	while (!stop)
		some(w, &seed);
	t = by_clock(w->form) ? now_seconds() - t : own_seconds() - own;
	w->rate = (double)w->pairs / t / 1e6;
	return NULL;
}

static double turn(const struct form *form, const struct functions *functions, char *locks)
{
	static struct worker workers[THREADS_MAX];
	double rate = 0;
	unsigned int i;

	stop = false;
	CHECK(!pthread_barrier_init(&begin, NULL, form->threads + 1));
	for (i = 0; i < form->threads; i++) {
		workers[i] = (struct worker){
			.form = form, .functions = functions, .number = i,
			.locks = locks + (form->together ? 0 : (size_t)i * MANY * STRIDE),
		};
		CHECK(!pthread_create(&workers[i].thread, NULL, work, &workers[i]));
	}
	pthread_barrier_wait(&begin);
	pause_ms(TURN_MS);
	stop = true;
	for (i = 0; i < form->threads; i++) {
		CHECK(!pthread_join(workers[i].thread, NULL));
		rate += workers[i].rate;
	}
	CHECK(!pthread_barrier_destroy(&begin));
	return rate;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double median(double *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), by_value);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void measure(const struct form *form, char *memory, char *region, unsigned int turns)
{
	static double own[TURNS_MAX], ours[TURNS_MAX], ratio[TURNS_MAX];
	unsigned int i;

	if (form->outside)
		region = memory;
	for (i = 0; i < LOCKS; i++) {
		if (form->mutex) {
			init_shared_mutex((pthread_mutex_t *)(memory + (size_t)i * STRIDE));
			init_shared_mutex((pthread_mutex_t *)(region + (size_t)i * STRIDE));
		} else {
			init_shared((pthread_rwlock_t *)(memory + (size_t)i * STRIDE));
		}
	}
	for (i = 0; i < turns; i++) {
		if (i % 2)
			ours[i] = turn(form, &shim, region);
		own[i] = turn(form, &libc_own, memory);
		if (i % 2 == 0)
			ours[i] = turn(form, &shim, region);
		ratio[i] = ours[i] / own[i];
	}
	printf("{\"case\": \"%s\", \"what\": \"%s\", \"turns\": %u, \"glibc\": %.1f, \"weft\": %.1f, \"ratio\": %.2f}\n",
	       form->name, form->what, turns, median(own, turns), median(ours, turns),
	       median(ratio, turns));
	fflush(stdout);
}

static bool wanted(const struct form *form, int argc, char **argv)
{
	int i;

	for (i = 3; i < argc; i++)
		if (!strcmp(argv[i], form->name))
			return true;
	return argc <= 3;
}

int main(int argc, char **argv)
{
	unsigned int turns = 9, i;
	char *memory, *region;
	int fd;

	if (argc > 2)
		turns = argument_u32(argv[2]);
	if (argc < 2 || !turns || turns > TURNS_MAX) {
		fprintf(stderr, "usage: preload-pairs FILE [TURNS [CASE...]]\n");
		return 2;
	}
	find_both();
	fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, SIZE));
	region = map_region(fd, SIZE);
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (wanted(&forms[i], argc, argv))
			measure(&forms[i], memory, region, turns);
	return 0;
}
