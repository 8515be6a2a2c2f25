// SPDX-License-Identifier: GPL-2.0-only
/* The shared file of a measurement, see arena.h. */
#include "arena.h"
#include "tools/common/random.h"

struct arena *arena_open(const struct lockbench *b, const char *what, size_t size)
{
	static char path[4096];
	struct arena *a;

	snprintf(path, sizeof(path), "%s/lockbench-%s-%s", b->dir, what, b->name);
	a = node_map(path, sizeof(*a) + size, NULL);
	/* What is near a lock may not come along uninvited, and be counted. */
	madvise(a, sizeof(*a) + size, MADV_RANDOM);
	node_join(&a->meeting, path);
	/* The others read it after the first meeting. */
	if (node.number == 1)
		atomic_store(&a->session.value, random_stream(clock_ns(CLOCK_REALTIME), getpid()));
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

static double each(uint64_t value, uint64_t n)
{
	return n ? (double)value / (double)n : 0;
}

void tally_json(struct json *j, const struct found *f, uint64_t n)
{
	const struct tally *c = &f->grown;
	uint64_t locks = tally_get(c, "lock_requests"), misses = tally_misses(c);

	if (f->datagrams)
		json_real(j, "datagrams_per_acquire", each(f->datagrams, n));
	if (!c->len)
		return;
	if (tally_get(c, "lock_blocks_came") || tally_get(c, "lock_blocks_fetched")) {
		json_real(j, "blocks_with_lock_per_acquire",
			  each(tally_get(c, "lock_blocks_came"), n));
		json_real(j, "blocks_after_lock_per_acquire",
			  each(tally_get(c, "lock_blocks_fetched"), n));
	}
	json_real(j, "transactions_per_acquire", each(locks + misses, n));
	json_real(j, "lock_requests_per_acquire", each(locks, n));
	json_real(j, "misses_per_acquire", each(misses, n));
	json_real(j, "round_trips_per_acquire",
		  each(locks + tally_get(c, "miss_round_trips"), n));
	json_real(j, "messages_per_acquire", each(tally_messages(c), n));
	json_u64(j, "retransmissions", tally_get(c, "retransmissions"));
}

/* NAME_WHAT. */
static void time_json(struct json *j, const char *name, const char *what, double ns)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_%s_us", name, what);
	json_real(j, key, ns / 1e3);
}

void times_json(struct json *j, const char *name, const struct hist *h)
{
	time_json(j, name, "p50", hist_quantile(h, 500));
	time_json(j, name, "p99", hist_quantile(h, 990));
	time_json(j, name, "max", (double)h->max);
	time_json(j, name, "mean", hist_mean(h));
	hist_json(j, name, h);
}

void result_begin(struct json *j, const struct lockbench *b, const char *bench,
		  const char *lock)
{
	json_begin(j, stdout, false);
	json_string(j, "bench", bench);
	json_string(j, "label", b->label);
	json_string(j, "lock", lock);
}
