// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process of the benchmark: its threads read and change records, and look at
 * each that they see.  The first thing that is wrong ends the process.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "tools/common/random.h"
#include "tools/demo/node.h"
#include "bench.h"
#include "kvs.h"
#include "record.h"
#include "shared.h"
#include "zipf.h"

/**
 * struct task - a thread
 * @thread:	of pthreads
 * @b, @s, @k:	as given
 * @w:		results
 * @keys:	of all records
 * @random:	state of the generator
 * @draws:	numbers of records, in shared memory
 * @seen:	of each record the newest version that this thread has seen
 * @value_size:	of records
 * @t:		of the store
 */
struct task {
	pthread_t thread;
	const struct bench *b;
	struct shared *s;
	struct kvs *k;
	struct worker *w;
	const char (*keys)[RECORD_KEY];
	uint64_t random;
	uint32_t *draws;
	uint64_t *seen;
	size_t value_size;
	struct kvs_thread t;
};

static const unsigned int updates_of_100[] = { ['a'] = 50, ['b'] = 5, ['c'] = 0 };

static void look(struct task *t, uint64_t id, const struct kvs_found *f)
{
	uint64_t found = id;
	const char *what = record_wrong(f, &found);

	if (what)
		node_die("WRONG: record %llu: %s", (unsigned long long)id, what);
	if (f->version < t->seen[id])
		node_die("WRONG: record %llu went back from version %llu to %llu",
			 (unsigned long long)id, (unsigned long long)t->seen[id],
			 (unsigned long long)f->version);
	t->seen[id] = f->version;
}

static void do_read(struct task *t, uint64_t id)
{
	struct kvs_found f;

	if (kvs_get(&t->t, t->keys[id], RECORD_KEY, &f))
		node_die("WRONG: record %llu cannot be read: %s", (unsigned long long)id,
			 kvs_why());
	look(t, id, &f);
}

struct update {
	struct task *t;
	uint64_t id;
};

static int fill(void *arg, struct kvs_change *c)
{
	struct update *u = arg;
	struct record r = {
		.id = u->id, .version = c->version, .writer = u->t->t.writer,
		.filling = (uint32_t)u->t->random,
	};

	if (!c->old.version)
		return kvs_fail(ENOENT, "it is not there any more");
	look(u->t, u->id, &c->old);
	record_fill(c->value, u->t->value_size, &r);
	c->len = u->t->value_size;
	c->flags = KVS_RECORD;
	u->t->seen[u->id] = c->version;
	return 0;
}

static void do_update(struct task *t, uint64_t id)
{
	struct update u = { t, id };

	if (kvs_change(&t->t, t->keys[id], RECORD_KEY, fill, &u))
		node_die("WRONG: record %llu cannot be changed: %s", (unsigned long long)id,
			 kvs_why());
}

static void *work(void *arg)
{
	struct task *t = arg;
	unsigned int updates = updates_of_100[(unsigned char)t->b->workload], kind;
	uint64_t i, id, start = 0, first = t->random % DRAWS;
	bool timed;

	while (!atomic_load(&t->s->go))
		pause_us(500);
	for (i = 0; !t->b->operations || i < t->b->operations; i++) {
		if (atomic_load_explicit(&t->s->stop, memory_order_relaxed))
			break;
		id = t->draws[(first + i) % DRAWS];
		kind = random_below(&t->random, 100) < updates ? UPDATE : READ;
		timed = !(i % t->b->sample);
		if (timed)
			start = now_ns();
		if (kind == READ)
			do_read(t, id);
		else
			do_update(t, id);
		if (!atomic_load_explicit(&t->s->count, memory_order_relaxed)) {
			atomic_store_explicit(&t->w->warmed, t->w->warmed + 1,
					      memory_order_relaxed);
			continue;
		}
		if (timed)
			hist_add(&t->w->times[kind], now_ns() - start);
		atomic_store_explicit(&t->w->done[kind], t->w->done[kind] + 1,
				      memory_order_relaxed);
	}
	atomic_store(&t->w->ended_ns, now_ns());
	return NULL;
}

static void *need(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		node_die("out of memory");
	return p;
}

static void draw(struct task *t, uint64_t records)
{
	struct zipf z;
	size_t i;

	if (atomic_load(&t->w->drawn))
		return;
	zipf_init(&z);
	for (i = 0; i < DRAWS; i++) {
		double u = random_unit(&t->random);

		t->draws[i] = (uint32_t)(zipf_scatter(zipf_rank(&z, u)) % records);
	}
	atomic_store(&t->w->drawn, 1);
}

static void prepare(struct task *t, uint64_t records, uint64_t stream)
{
	t->random = random_stream(t->b->seed, stream);
	t->seen = need(records, sizeof(*t->seen));
	draw(t, records);
	if (kvs_thread_begin(t->k, &t->t))
		node_die("%s: %s", t->b->file, kvs_why());
}

static void times_used(uint64_t *user, uint64_t *system)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	*user = (uint64_t)r.ru_utime.tv_sec * 1000000 + (uint64_t)r.ru_utime.tv_usec;
	*system = (uint64_t)r.ru_stime.tv_sec * 1000000 + (uint64_t)r.ru_stime.tv_usec;
}

static const char (*all_keys(uint64_t records))[RECORD_KEY]
{
	char (*keys)[RECORD_KEY] = need(records, sizeof(*keys));
	uint64_t i;

	for (i = 0; i < records; i++)
		record_key(keys[i], i);
	return (const char (*)[RECORD_KEY])keys;
}

static void run(const struct bench *b, struct shared *s, struct client *c, struct task *tasks)
{
	uint64_t user, system, user_then, system_then;
	unsigned int i;
	int error;

	for (i = 0; i < b->threads; i++) {
		error = pthread_create(&tasks[i].thread, NULL, work, &tasks[i]);
		if (error)
			node_die("cannot start a thread: %s", strerror(error));
	}
	atomic_store(&c->ready, 1);
	while (!atomic_load(&s->count))
		pause_us(500);
	times_used(&user_then, &system_then);
	for (i = 0; i < b->threads; i++)
		pthread_join(tasks[i].thread, NULL);
	times_used(&user, &system);
	c->user_us = user - user_then;
	c->system_us = system - system_then;
}

void client_run(const struct bench *b, struct shared *s, unsigned int number)
{
	struct task *tasks = need(b->threads, sizeof(*tasks));
	struct client *c = &s->clients[number];
	const char (*keys)[RECORD_KEY];
	uint64_t records, value_size;
	unsigned int i;
	struct kvs *k;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (kvs_open(b->file, &k) || kvs_session_begin(k, c->session))
		node_die("%s: %s", b->file, kvs_why());
	c->session = k->session;
	records = k->header->records;
	value_size = k->header->value_size;
	if (!records || value_size < RECORD_MIN || value_size > KVS_VALUE_MAX)
		node_die("%s: there are no records of the benchmark: run weft-kvs load",
			 b->file);
	keys = all_keys(records);
	for (i = 0; i < b->threads; i++) {
		tasks[i] = (struct task){
			.b = b, .s = s, .k = k, .keys = keys, .value_size = value_size,
			.w = &s->workers[number * b->threads + i],
			.draws = s->draws + (size_t)(number * b->threads + i) * DRAWS,
		};
		prepare(&tasks[i], records,
			((uint64_t)node.number << 40) + ((uint64_t)s->generation << 8) + i);
	}
	run(b, s, c, tasks);
	for (i = 0; i < b->threads; i++) {
		kvs_thread_end(&tasks[i].t);
		free(tasks[i].seen);
	}
	if (kvs_session_end(k))
		node_die("%s: %s", b->file, kvs_why());
	kvs_close(k);
	free((void *)keys);
	free(tasks);
}
