// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several nodes at one page: handing it to and fro, and counting together, for a number
 * of times or for a time.
 */
#include <pthread.h>

#include "tools/demo/node.h"
#include "bench.h"

/* The shared file of a measurement; zeros at first, good for one run. */
struct arena {
	struct meeting meeting;
	union {
		_Atomic uint64_t value;
		char page[NODE_PAGE];
	} ball, counter, done[NODE_MAX], taken[NODE_MAX];
};

static struct arena *arena_open(const struct bench *b, const char *name)
{
	static char path[4096];
	struct arena *a;

	snprintf(path, sizeof(path), "%s/bench-%s", b->dir, name);
	a = node_map(path, sizeof(*a), NULL);
	node_join(&a->meeting, path);
	node.pause_us = 50;
	return a;
}

/* Wait until the ball is there, not for ever. */
static void await(_Atomic uint64_t *ball, uint64_t value)
{
	uint64_t end = now_ns() + node.timeout * 1000000000ull;
	uint32_t looks = 0;

	while (atomic_load_explicit(ball, memory_order_acquire) != value) {
		if (node_wait_a_bit(&looks) && now_ns() > end)
			node_die("pingpong: the other node has not answered for %u s",
				 node.timeout);
	}
}

/**
 * bench_pingpong() - two nodes write to the same page in turns
 * @b:		the options
 *
 * The result is the time of one way: from one node's write to the other's.
 */
int bench_pingpong(const struct bench *b)
{
	double us[BENCH_REPEATS];
	uint64_t ball = 0, start, i;
	struct arena *a;
	unsigned int k;

	if (node.count != 2)
		node_die("pingpong: needs --nodes 2");
	a = arena_open(b, "pingpong");
	/* One repeat more, unmeasured, first. */
	for (k = 0; k <= b->repeats; k++) {
		node_meet();
		start = now_ns();
		for (i = 0; i < b->count; i++, ball += 2) {
			if (node.number == 1) {
				atomic_store_explicit(&a->ball.value, ball + 1,
						      memory_order_release);
				await(&a->ball.value, ball + 2);
			} else {
				await(&a->ball.value, ball + 1);
				atomic_store_explicit(&a->ball.value, ball + 2,
						      memory_order_release);
			}
		}
		if (k)
			us[k - 1] = (now_ns() - start) / 1e3 / b->count / 2;
	}
	node_meet();
	if (node.number == 1)
		result_print(b, "pingpong", "one way", "us", us, b->repeats);
	return 0;
}

struct adder {
	pthread_t thread;
	_Atomic uint64_t *counter;
	uint64_t count;
};

static void *add(void *arg)
{
	struct adder *t = arg;
	uint64_t i;

	for (i = 0; i < t->count; i++)
		atomic_fetch_add_explicit(t->counter, 1, memory_order_relaxed);
	return NULL;
}

/* This node's threads add; returns the nanoseconds it took. */
static uint64_t add_at_once(const struct bench *b, struct arena *a, unsigned int threads)
{
	struct adder adders[BENCH_THREADS];
	uint64_t start = now_ns();
	unsigned int i;
	int err;

	for (i = 0; i < threads; i++) {
		adders[i] = (struct adder){ .counter = &a->counter.value,
					    .count = b->count };
		err = pthread_create(&adders[i].thread, NULL, add, &adders[i]);
		if (err)
			node_die("cannot start a thread: %s", strerror(err));
	}
	for (i = 0; i < threads; i++)
		pthread_join(adders[i].thread, NULL);
	return now_ns() - start;
}

/**
 * bench_counter() - all nodes add to one counter
 * @b:		the options
 *
 * The result is the additions of all nodes a second; none may be lost.
 */
int bench_counter(const struct bench *b)
{
	double rate[BENCH_REPEATS];
	struct arena *a = arena_open(b, "counter");
	uint64_t expected = 0, slowest, ns;
	unsigned int w, i, k;
	char label[64];

	for (w = 0; w < b->widths; w++) {
		for (i = 0; i < b->repeats; i++) {
			node_meet();
			ns = add_at_once(b, a, b->threads[w]);
			atomic_store(&a->done[node.number - 1].value, ns);
			node_meet();
			for (k = 0, slowest = 1; k < node.count; k++) {
				ns = atomic_load(&a->done[k].value);
				if (ns > slowest)
					slowest = ns;
			}
			expected += b->count * b->threads[w] * node.count;
			if (atomic_load(&a->counter.value) != expected)
				node_die("counter: additions were lost: %llu instead of %llu",
					 (unsigned long long)atomic_load(&a->counter.value),
					 (unsigned long long)expected);
			rate[i] = b->count * b->threads[w] * node.count * 1e9 / slowest;
			/* Nobody adds again before all have looked. */
			node_meet();
		}
		snprintf(label, sizeof(label), "nodes=%u threads=%u", node.count,
			 b->threads[w]);
		if (node.number == 1)
			result_print(b, "counter", label, "additions/s", rate,
				     b->repeats);
	}
	return 0;
}

/* What a node did in a repeat. */
struct share {
	uint64_t added;
	uint64_t taken;		/* times that others had added since its last addition */
};

#define LOOKS	32	/* additions for one look at the clock, which is a system call in some guests */

/* Add until the time is over. */
static struct share add_until(_Atomic uint64_t *counter, uint64_t end)
{
	struct share s = { };
	uint64_t last = ~0ull, was;

	do {
		was = atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
		s.taken += was != last;
		last = was + 1;
		s.added++;
	} while (s.added % LOOKS || now_ns() < end);
	return s;
}

/* All nodes' together, and what the one with the least has of an equal share. */
static struct share sum_up(struct arena *a, double *least)
{
	struct share sum = { };
	uint64_t min = ~0ull, added;
	unsigned int k;

	for (k = 0; k < node.count; k++) {
		added = atomic_load(&a->done[k].value);
		if (added < min)
			min = added;
		sum.added += added;
		sum.taken += atomic_load(&a->taken[k].value);
	}
	*least = (double)min * node.count / sum.added;
	return sum;
}

/**
 * bench_contend() - all nodes add to one counter, each as fast as it can, for a time
 * @b:		the options
 *
 * The results are the additions of all nodes a second, how often a second the counter
 * came to another node, and the smallest share that a node had of the additions: 1 if all
 * had the same, 0 if one had none.
 */
int bench_contend(const struct bench *b)
{
	double rate[BENCH_REPEATS], taken[BENCH_REPEATS], least[BENCH_REPEATS];
	uint64_t expected = 0, start;
	struct share mine, sum;
	struct arena *a;
	char label[64];
	double seconds;
	unsigned int k;

	a = arena_open(b, "contend");
	for (k = 0; k < b->repeats; k++) {
		node_meet();
		start = now_ns();
		mine = add_until(&a->counter.value, start + b->count * 1000000ull);
		seconds = (now_ns() - start) / 1e9;
		atomic_store(&a->done[node.number - 1].value, mine.added);
		atomic_store(&a->taken[node.number - 1].value, mine.taken);
		node_meet();
		sum = sum_up(a, &least[k]);
		expected += sum.added;
		if (atomic_load(&a->counter.value) != expected)
			node_die("contend: additions were lost: %llu instead of %llu",
				 (unsigned long long)atomic_load(&a->counter.value),
				 (unsigned long long)expected);
		rate[k] = sum.added / seconds;
		taken[k] = sum.taken / seconds;
		/* Nobody adds again before all have looked. */
		node_meet();
	}
	if (node.number != 1)
		return 0;
	snprintf(label, sizeof(label), "nodes=%u additions", node.count);
	result_print(b, "contend", label, "additions/s", rate, b->repeats);
	snprintf(label, sizeof(label), "nodes=%u changes of node", node.count);
	result_print(b, "contend", label, "changes/s", taken, b->repeats);
	snprintf(label, sizeof(label), "nodes=%u least share", node.count);
	result_print(b, "contend", label, "ratio", least, b->repeats);
	return 0;
}
