// SPDX-License-Identifier: GPL-2.0-only
/* The shared file of a measurement, see arena.h. */
#include "arena.h"

struct arena *arena_open(const struct lockbench *b, const char *what, size_t size)
{
	static char path[4096];
	struct timespec now;
	struct arena *a;

	snprintf(path, sizeof(path), "%s/lockbench-%s-%s", b->dir, what, b->name);
	a = node_map(path, sizeof(*a) + size, NULL);
	/* What is near a lock may not come along uninvited, and be counted. */
	madvise(a, sizeof(*a) + size, MADV_RANDOM);
	node_join(&a->meeting, path);
	/* The others read it after the first meeting. */
	clock_gettime(CLOCK_REALTIME, &now);
	if (node.number == 1)
		atomic_store(&a->session.value, node_seed(now.tv_sec * 1000000000ull +
							  now.tv_nsec, getpid()));
	node_meet();
	return a;
}

/* Any of the kinds fits. */
static size_t room_of(const struct lockbench *b)
{
	struct lock_place p = { .nodes = node.count, .procs = b->procs };
	size_t most = NODE_PAGE, size;
	unsigned int i;

	for (i = 0; i < b->kinds_len; i++) {
		size = b->kinds[i]->size(&p);
		if (size > most)
			most = size;
	}
	return most + (size_t)b->pages * NODE_PAGE;
}

size_t arena_size(const struct lockbench *b, unsigned int locks)
{
	return locks * room_of(b);
}

void arena_lock(const struct lockbench *b, struct arena *a, const struct lock_kind *kind,
		unsigned int index, struct lock *l, struct lock_place *p)
{
	size_t room = room_of(b);

	*p = (struct lock_place){
		.node = node.number - 1, .nodes = node.count, .procs = b->procs,
		.timeout = node.timeout, .service = b->service,
	};
	*l = (struct lock){
		.kind = kind, .place = p, .at = a->memory + index * room,
		.data_size = (size_t)b->pages * NODE_PAGE,
		.name = atomic_load(&a->session.value) + index,
	};
	l->data = (char *)l->at + room - l->data_size;
}

void arena_touch(const struct lock *l)
{
	union lock_line *line = l->data;
	size_t lines = l->data_size / sizeof(*line), i, k;
	uint64_t first = 0, found;

	for (i = 0; i < lines; i++) {
		/*
		 * A writer writes first: to read before would cost it a miss more
		 * with all locks that do not bring the data along.
		 */
		if (l->writes)
			lock_own(&line[i].value);
		if (!i)
			first = atomic_load_explicit(&line->value, memory_order_relaxed);
		for (k = 0; k < LOCK_WORDS; k++) {
			found = atomic_load_explicit(&line[i].word[k], memory_order_relaxed);
			if (found != first)
				node_die("lock %s: torn: word %zu of page %zu is %llu, the first was %llu: somebody writes while the lock is held to %s",
					 l->kind->name, k, i, (unsigned long long)found,
					 (unsigned long long)first,
					 l->writes ? "write" : "read");
			if (l->writes)
				atomic_store_explicit(&line[i].word[k], first + 1,
						      memory_order_relaxed);
		}
	}
}

uint64_t arena_written(const struct lock *l)
{
	return atomic_load((_Atomic uint64_t *)l->data);
}

void sleep_until(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static double each(uint64_t value, uint64_t n)
{
	return n ? (double)value / (double)n : 0;
}

void tally_print(const struct found *f, uint64_t n)
{
	const struct tally *c = &f->grown;
	uint64_t locks = tally_get(c, "lock_requests"), misses = tally_misses(c);

	if (f->datagrams)
		printf(",\"datagrams_per_acquire\":%.4g", each(f->datagrams, n));
	if (!c->len)
		return;
	if (tally_get(c, "lock_blocks_came") || tally_get(c, "lock_blocks_fetched"))
		printf(",\"blocks_with_lock_per_acquire\":%.4g,\"blocks_after_lock_per_acquire\":%.4g",
		       each(tally_get(c, "lock_blocks_came"), n),
		       each(tally_get(c, "lock_blocks_fetched"), n));
	printf(",\"transactions_per_acquire\":%.4g,\"lock_requests_per_acquire\":%.4g,\"misses_per_acquire\":%.4g,\"round_trips_per_acquire\":%.4g,\"messages_per_acquire\":%.4g,\"retransmissions\":%llu",
	       each(locks + misses, n), each(locks, n), each(misses, n),
	       each(locks + tally_get(c, "miss_round_trips"), n),
	       each(tally_messages(c), n),
	       (unsigned long long)tally_get(c, "retransmissions"));
}
