// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several nodes at one page: handing it to and fro, and counting together.
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
	} ball, counter, done[NODE_MAX];
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
