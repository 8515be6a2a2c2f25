// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks at everything in a store: each entry is whole, in its bucket, there once;
 * blocks belong to who uses them; and what threads have counted is there.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kvs.h"
#include "record.h"

/**
 * struct walk - what has been seen so far
 * @k:		the store
 * @c:		counts
 * @say, @arg:	for what is wrong
 * @records:	how many there are, of the benchmark
 * @seen:	which of them, a bit each
 * @bucket_of:	of each overflow block, plus 1; 0: in none so far
 * @growing:	of each bucket
 * @used:	units of the blocks of a bucket
 */
struct walk {
	struct kvs *k;
	struct kvs_counts *c;
	void (*say)(void *arg, const char *sentence);
	void *arg;
	uint64_t records;
	uint64_t *seen;
	uint32_t *bucket_of;
	uint8_t *growing;
	uint8_t *used;
};

static void __attribute__((format(printf, 2, 3))) wrong(struct walk *w, const char *format, ...)
{
	char text[320];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	w->c->bad++;
	w->say(w->arg, text);
}

/* --- Entries ------------------------------------------------------------------ */

static void check_record(struct walk *w, uint32_t bucket, const struct kvs_entry *e)
{
	struct kvs_found f = { e->bytes + e->key_len, e->value_len, e->version, e->flags };
	uint64_t id = UINT64_MAX;
	const char *what = record_wrong(&f, &id);

	w->c->records++;
	if (!what)
		what = record_wrong_key(e->bytes, e->key_len, id);
	if (what) {
		wrong(w, "bucket %u: a record of the benchmark: %s", bucket, what);
	} else if (id >= w->records) {
		wrong(w, "record %llu is there, but only %llu were loaded: did weft-kvs load end?",
		      (unsigned long long)id, (unsigned long long)w->records);
	} else {
		if (w->seen[id / 64] & 1ull << id % 64)
			wrong(w, "record %llu is there twice", (unsigned long long)id);
		w->seen[id / 64] |= 1ull << id % 64;
	}
}

static int index_of(const struct kvs_chain *c, uint32_t block)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		if (c->blocks[i] == block)
			return (int)i;
	return -1;
}

/* Marks its units; do they belong to another entry? */
static bool overlaps(struct walk *w, int index, uint32_t unit, uint32_t n)
{
	uint8_t *used = w->used + (size_t)index * (w->k->g.block / KVS_UNIT);
	bool found = false;

	for (; n; n--, unit++) {
		found |= used[unit];
		used[unit] = 1;
	}
	return found;
}

static void check_entry(struct walk *w, const struct kvs_chain *c, uint64_t word)
{
	int index = index_of(c, kvs_slot_block(word));
	uint32_t bucket = c->bucket;
	struct kvs_entry *e = kvs_entry(w->k, bucket, word);
	uint64_t hash;

	if (!e) {
		wrong(w, "%s", kvs_why());
		return;
	}
	if (index < 0) {
		wrong(w, "bucket %u: a slot names block %u, which is none of the bucket",
		      bucket, kvs_slot_block(word));
		return;
	}
	if (overlaps(w, index, kvs_slot_unit(word), kvs_entry_units(e->key_len, e->value_len)))
		wrong(w, "bucket %u: two entries in block %u overlap", bucket,
		      kvs_slot_block(word));
	w->c->entries++;
	w->c->versions += e->version;
	if (kvs_entry_sum(e) != e->sum) {
		wrong(w, "bucket %u: an entry has a wrong checksum (block %u, unit %u)", bucket,
		      kvs_slot_block(word), kvs_slot_unit(word));
		return;
	}
	hash = kvs_hash(e->bytes, e->key_len, 0);
	if (kvs_bucket_of(w->k, hash) != bucket)
		wrong(w, "bucket %u: a key belongs to bucket %u", bucket,
		      kvs_bucket_of(w->k, hash));
	else if (kvs_tag_of(hash) != kvs_slot_tag(word))
		wrong(w, "bucket %u: a slot has the tag of another key", bucket);
	if (e->flags & KVS_RECORD)
		check_record(w, bucket, e);
}

/* --- Buckets ------------------------------------------------------------------ */

/* All slots of a bucket, one after the other. */
static uint64_t slot(struct kvs *k, const struct kvs_chain *c, uint32_t i)
{
	struct kvs_block *b = kvs_at(k, c->blocks[i / k->g.slots]);

	return atomic_load_explicit(&b->slots[i % k->g.slots], memory_order_acquire);
}

static bool same_key(struct kvs *k, uint32_t bucket, uint64_t a, uint64_t b)
{
	struct kvs_entry *x = kvs_entry(k, bucket, a), *y = kvs_entry(k, bucket, b);

	return x && y && x->key_len == y->key_len && !memcmp(x->bytes, y->bytes, x->key_len);
}

static void check_twice(struct walk *w, const struct kvs_chain *c)
{
	uint32_t n = c->n * w->k->g.slots, i, j;

	for (i = 0; i < n; i++)
		for (j = i + 1; slot(w->k, c, i) && j < n; j++)
			if (slot(w->k, c, j) &&
			    same_key(w->k, c->bucket, slot(w->k, c, i), slot(w->k, c, j)))
				wrong(w, "bucket %u: a key is there twice", c->bucket);
}

static void check_blocks(struct walk *w, const struct kvs_chain *c)
{
	uint32_t i, *owner;

	for (i = w->k->g.bucket_blocks; i < c->n; i++) {
		owner = &w->bucket_of[c->blocks[i] - w->k->g.overflow_at];
		if (*owner)
			wrong(w, "block %u is in bucket %u, and in bucket %u", c->blocks[i],
			      *owner - 1, c->bucket);
		*owner = c->bucket + 1;
	}
	if (c->n > w->c->longest)
		w->c->longest = c->n;
}

static void check_bucket(struct walk *w, uint32_t bucket)
{
	struct kvs_block *first = kvs_at(w->k, kvs_bucket_block(w->k, bucket));
	struct kvs_chain c;
	uint32_t i;

	w->growing[bucket] = !!atomic_load(&first->growing);
	if (kvs_chain(w->k, bucket, &c)) {
		wrong(w, "%s", kvs_why());
		return;
	}
	memset(w->used, 0, (size_t)KVS_CHAIN_MAX * (w->k->g.block / KVS_UNIT));
	check_blocks(w, &c);
	for (i = 0; i < c.n * w->k->g.slots; i++)
		if (slot(w->k, &c, i))
			check_entry(w, &c, slot(w->k, &c, i));
	check_twice(w, &c);
}

static int check_buckets(struct walk *w)
{
	uint32_t i;
	int error;

	for (i = 0; i < w->k->g.buckets; i++) {
		error = kvs_rdlock(w->k, kvs_lock_of_bucket(w->k, i));
		if (error)
			return error;
		check_bucket(w, i);
		error = kvs_unlock(w->k, kvs_lock_of_bucket(w->k, i));
		if (error)
			return error;
	}
	return 0;
}

/* --- The allocator ------------------------------------------------------------ */

static void check_owner(struct walk *w, uint32_t i, uint32_t owner)
{
	uint32_t user = w->bucket_of[i], block = w->k->g.overflow_at + i;

	w->c->blocks += !!user;
	if (owner > w->k->g.buckets)
		wrong(w, "block %u belongs to bucket %u, which there is not", block, owner - 1);
	else if (user && user != owner)
		wrong(w, "block %u is in bucket %u, but is %s", block, user - 1,
		      owner ? "that of another one" : "free");
	else if (owner && !user && !w->growing[owner - 1])
		wrong(w, "block %u belongs to bucket %u, but is not in it", block, owner - 1);
	else if (owner && !user)
		w->c->spare++;
}

static int check_shards(struct walk *w)
{
	struct kvs_geometry *g = &w->k->g;
	struct kvs_shard *s;
	uint32_t i, j;
	int error;

	for (i = 0; i < g->shards; i++) {
		s = kvs_at(w->k, g->shards_at + i);
		error = kvs_rdlock(w->k, kvs_lock_of_shard(i));
		if (error)
			return error;
		for (j = 0; j < g->shard_blocks; j++)
			check_owner(w, i * g->shard_blocks + j, s->owner[j]);
		error = kvs_unlock(w->k, kvs_lock_of_shard(i));
		if (error)
			return error;
	}
	return 0;
}

/* --- What was counted --------------------------------------------------------- */

static struct kvs_line *line(struct kvs *k, uint32_t session, uint32_t i)
{
	struct kvs_session_block *s = kvs_at(k, k->g.sessions_at + session);

	return &s->lines[i];
}

static void add_up(struct walk *w, uint64_t *removed_max)
{
	struct kvs_header *h = w->k->header;
	struct kvs_counts *c = w->c;
	uint32_t i, j;

	c->puts_min = c->puts_max = h->puts_settled;
	c->entries_min = c->entries_max = h->present_settled;
	*removed_max = 0;
	for (i = 0; i < w->k->g.sessions; i++) {
		c->sessions += !!h->used[i];
		for (j = 0; j < KVS_LINES; j++) {
			struct kvs_line *l = line(w->k, i, j);

			c->puts_min += l->puts_done - l->erased_begun;
			c->puts_max += l->puts_begun - l->erased_done;
			c->entries_min += l->added_done - l->removed_begun;
			c->entries_max += l->added_begun - l->removed_done;
			*removed_max += l->removed_begun;
		}
	}
}

/* Sums can be below 0 while nothing is wrong: what is settled may be. */
static bool between(uint64_t min, uint64_t value, uint64_t max)
{
	return (int64_t)(value - min) >= 0 && (int64_t)(max - value) >= 0;
}

static void check_sums(struct walk *w)
{
	uint64_t removed_max, missing = 0, i;
	struct kvs_counts *c = w->c;

	add_up(w, &removed_max);
	if (!between(c->puts_min, c->versions, c->puts_max))
		wrong(w, "%llu to %llu changes were made, the versions in the store are %llu: %s",
		      (unsigned long long)c->puts_min, (unsigned long long)c->puts_max,
		      (unsigned long long)c->versions,
		      (int64_t)(c->versions - c->puts_min) < 0 ? "updates were lost" :
		      "some come from nowhere");
	if (!between(c->entries_min, c->entries, c->entries_max))
		wrong(w, "there should be %llu to %llu keys, there are %llu",
		      (unsigned long long)c->entries_min, (unsigned long long)c->entries_max,
		      (unsigned long long)c->entries);
	for (i = 0; i < w->records; i++)
		missing += !(w->seen[i / 64] & 1ull << i % 64);
	if (missing > removed_max)
		wrong(w, "%llu of %llu records of the benchmark are missing, and only %llu keys were taken away",
		      (unsigned long long)missing, (unsigned long long)w->records,
		      (unsigned long long)removed_max);
}

/* What is in the store is right from now on, and nobody is in a session. */
static void settle(struct walk *w)
{
	struct kvs_header *h = w->k->header;
	uint64_t puts = 0, present = 0;
	uint32_t i, j;

	for (i = 0; i < w->k->g.sessions; i++) {
		h->used[i] = 0;
		for (j = 0; j < KVS_LINES; j++) {
			struct kvs_line *l = line(w->k, i, j);

			if (!l->puts_begun && !l->removed_begun)
				continue;
			l->puts_done = l->puts_begun;
			l->added_done = l->added_begun;
			l->removed_done = l->removed_begun;
			l->erased_done = l->erased_begun;
			puts += l->puts_done - l->erased_done;
			present += l->added_done - l->removed_done;
		}
	}
	h->puts_settled = w->c->versions - puts;
	h->present_settled = w->c->entries - present;
}

static int walk(struct walk *w, bool settled)
{
	int error;

	/* As many as there can be: nothing else is lost if the number is wrong. */
	if (w->k->header->records > w->records)
		wrong(w, "%llu records were loaded, it says, which cannot be",
		      (unsigned long long)w->k->header->records);
	error = check_buckets(w);
	if (!error)
		error = check_shards(w);
	if (error)
		return error;
	check_sums(w);
	if (settled)
		settle(w);
	return 0;
}

int kvs_check(struct kvs *k, bool settled, struct kvs_counts *counts,
	      void (*say)(void *arg, const char *sentence), void *arg)
{
	struct walk w = { .k = k, .c = counts, .say = say, .arg = arg };
	uint64_t room;
	int error;

	memset(counts, 0, sizeof(*counts));
	room = (uint64_t)(k->g.blocks - k->g.buckets_at) * k->g.slots;
	w.records = k->header->records < room ? k->header->records : room;
	w.seen = calloc(w.records / 64 + 1, 8);
	w.bucket_of = calloc(k->g.blocks - k->g.overflow_at, sizeof(*w.bucket_of));
	w.growing = calloc(k->g.buckets, 1);
	w.used = calloc(KVS_CHAIN_MAX, k->g.block / KVS_UNIT);
	if (w.seen && w.bucket_of && w.growing && w.used)
		error = walk(&w, settled);
	else
		error = kvs_fail(ENOMEM, "out of memory");
	free(w.seen);
	free(w.bucket_of);
	free(w.growing);
	free(w.used);
	return error;
}
