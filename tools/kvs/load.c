// SPDX-License-Identifier: GPL-2.0-only
/* Puts the records of the benchmark into a store. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tools/demo/node.h"
#include "bench.h"
#include "kvs.h"
#include "record.h"

struct loader {
	pthread_t thread;
	const struct bench *b;
	struct kvs_thread t;
	unsigned int number;
	uint64_t id;
};

static int fill(void *arg, struct kvs_change *c)
{
	struct loader *l = arg;
	struct record r = { .id = l->id, .version = c->version, .writer = l->t.writer };

	if (c->old.version)
		return kvs_fail(EEXIST, "it is there already");
	record_fill(c->value, l->b->value_size, &r);
	c->len = l->b->value_size;
	c->flags = KVS_RECORD;
	return 0;
}

static void *load(void *arg)
{
	struct loader *l = arg;
	char key[RECORD_KEY];

	for (l->id = l->number; l->id < l->b->records; l->id += l->b->threads) {
		record_key(key, l->id);
		if (kvs_change(&l->t, key, RECORD_KEY, fill, l))
			node_die("%s: record %llu cannot be put: %s", l->b->file,
				 (unsigned long long)l->id, kvs_why());
	}
	return NULL;
}

int bench_load(const struct bench *b)
{
	struct loader *loaders = calloc(b->threads, sizeof(*loaders));
	uint64_t begin;
	unsigned int i;
	struct kvs *k;
	double took;
	int error;

	if (!loaders)
		node_die("out of memory");
	if (kvs_open(b->file, &k) || kvs_session_begin(k, -1))
		node_die("%s: %s", b->file, kvs_why());
	if (k->header->records)
		node_die("%s: it has %llu records of the benchmark already", b->file,
			 (unsigned long long)k->header->records);
	begin = now_ns();
	for (i = 0; i < b->threads; i++) {
		loaders[i].b = b;
		loaders[i].number = i;
		error = kvs_thread_begin(k, &loaders[i].t);
		if (error)
			node_die("%s: %s", b->file, kvs_why());
		error = pthread_create(&loaders[i].thread, NULL, load, &loaders[i]);
		if (error)
			node_die("cannot start a thread: %s", strerror(error));
	}
	for (i = 0; i < b->threads; i++) {
		pthread_join(loaders[i].thread, NULL);
		kvs_thread_end(&loaders[i].t);
	}
	/* Now they are all there. */
	k->header->value_size = b->value_size;
	k->header->records = b->records;
	took = (double)(now_ns() - begin) / 1e9;
	if (kvs_session_end(k))
		node_die("%s: %s", b->file, kvs_why());
	kvs_close(k);
	free(loaders);
	printf("%llu records of %llu bytes in %.2f s\n", (unsigned long long)b->records,
	       (unsigned long long)b->value_size, took);
	return 0;
}
