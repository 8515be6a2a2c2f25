// SPDX-License-Identifier: GPL-2.0-only
/*
 * That what is wrong is found: a store is damaged on purpose, in each way that
 * check knows, and in a way that nobody has thought of, bit by bit.
 */
#include "tests/kvs/rig.h"
#include "tools/kvs/record.h"

static char directory[FOLDER_MAX];

#define RECORDS	40

static int fill(void *arg, struct kvs_change *c)
{
	struct record r = { .id = *(uint64_t *)arg, .version = c->version };

	record_fill(c->value, 64, &r);
	c->len = 64;
	c->flags = KVS_RECORD;
	return 0;
}

/* Two buckets with records of the benchmark, some other keys, some overflow. */
static void make(struct rig *r)
{
	struct kvs_make how = { .locks = &kvs_locks_pthread, .buckets = 2, .overflow = 20 };
	unsigned char big[KVS_VALUE_MAX];
	char key[RECORD_KEY];
	uint64_t id;
	int i;

	rig_make(r, directory, "store", &how);
	for (id = 0; id < RECORDS; id++) {
		record_key(key, id);
		CHECK_EQ(kvs_change(&r->t, key, RECORD_KEY, fill, &id), 0);
		if (id % 3)
			CHECK_EQ(kvs_change(&r->t, key, RECORD_KEY, fill, &id), 0);
	}
	r->k->header->records = RECORDS;
	r->k->header->value_size = 64;
	memset(big, 9, sizeof(big));
	for (i = 0; i < 8; i++) {
		snprintf(key, sizeof(key), "big%d", i);
		CHECK_EQ(rig_put(r, key, big, sizeof(big)), 0);
	}
	CHECK_EQ(rig_put(r, "gone", "x", 1), 0);
	CHECK_EQ(rig_del(r, "gone"), 0);
	rig_well(r);
}

static struct kvs_block *block(struct rig *r, uint32_t bucket)
{
	return kvs_at(r->k, kvs_bucket_block(r->k, bucket));
}

/* A slot of a bucket's first block whose entry is a record, or is not. */
static _Atomic uint64_t *slot(struct rig *r, uint32_t bucket, bool record)
{
	struct kvs_entry *e;
	uint32_t i;

	for (i = 0; i < r->k->g.slots; i++) {
		uint64_t word = block(r, bucket)->slots[i];

		e = word ? kvs_entry(r->k, bucket, word) : NULL;
		if (e && !!(e->flags & KVS_RECORD) == record)
			return &block(r, bucket)->slots[i];
	}
	CHECK(!"there is such a slot");
	return NULL;
}

static struct kvs_entry *entry(struct rig *r, bool record)
{
	struct kvs_entry *e = kvs_entry(r->k, 0, *slot(r, 0, record));

	CHECK(e);
	return e;
}

static _Atomic uint64_t *free_slot(struct rig *r, uint32_t bucket)
{
	struct kvs_block *b = block(r, bucket);
	uint32_t i;

	/* The first may be full. */
	for (;;) {
		for (i = 0; i < r->k->g.slots; i++)
			if (!b->slots[i])
				return &b->slots[i];
		CHECK(b->next);
		b = kvs_at(r->k, b->next);
	}
}

static uint32_t unused_block(struct rig *r)
{
	struct kvs_shard *s;
	uint32_t i;

	for (i = 0; ; i++) {
		CHECK(i < r->k->g.shards);
		s = kvs_at(r->k, r->k->g.shards_at + i);
		if (!s->owner[0])
			return i;
	}
}

/* --- Ways to damage it ---------------------------------------------------------- */

static void flip_value(struct rig *r)
{
	entry(r, true)->bytes[RECORD_KEY + 40] ^= 4;
}

static void flip_key(struct rig *r)
{
	entry(r, true)->bytes[7] ^= 1;
}

/* As when two writers did not see each other: all is right but one version. */
static void lose_update(struct rig *r)
{
	struct kvs_entry *e = entry(r, false);

	CHECK(e->version == 1);
	r->t.line->puts_begun++;
	r->t.line->puts_done++;
}

static void nobody_wrote(struct rig *r)
{
	struct kvs_entry *e = entry(r, false);

	e->version++;
	e->sum = kvs_entry_sum(e);
}

static void version_differs(struct rig *r)
{
	struct kvs_entry *e = entry(r, true);

	e->version++;
	e->sum = kvs_entry_sum(e);
	r->t.line->puts_begun++;
	r->t.line->puts_done++;
}

static void other_record(struct rig *r)
{
	struct kvs_entry *e = entry(r, true);

	e->bytes[RECORD_KEY] ^= 1;
	e->sum = kvs_entry_sum(e);
}

static void beyond(struct rig *r)
{
	r->k->header->records = RECORDS - 1;
}

static void too_many_records(struct rig *r)
{
	r->k->header->records = 1ull << 60;
}

static void lose_key(struct rig *r)
{
	struct kvs_entry *e = entry(r, false);

	/* The sums are right, though. */
	r->t.line->erased_begun += e->version;
	r->t.line->erased_done += e->version;
	*slot(r, 0, false) = 0;
}

static void lose_record(struct rig *r)
{
	struct kvs_entry *e = entry(r, true);

	r->t.line->erased_begun += e->version;
	r->t.line->erased_done += e->version;
	/* As many keys as there should be: two are put by others. */
	r->t.line->added_begun -= 1;
	r->t.line->added_done -= 1;
	r->t.line->removed_begun = 0;
	r->t.line->removed_done = 0;
	r->t.line->added_begun -= 1;
	r->t.line->added_done -= 1;
	*slot(r, 0, true) = 0;
}

static void same_twice(struct rig *r)
{
	*free_slot(r, 0) = *slot(r, 0, true);
}

/* A copy elsewhere, of a key that may be anything. */
static void copy_twice(struct rig *r)
{
	uint32_t i = unused_block(r), number;
	struct kvs_entry *e = entry(r, false);
	struct kvs_shard *s = kvs_at(r->k, r->k->g.shards_at + i);
	struct kvs_block *b, *last = block(r, 0);

	number = r->k->g.overflow_at + i * r->k->g.shard_blocks;
	b = kvs_at(r->k, number);
	while (last->next)
		last = kvs_at(r->k, last->next);
	memset(b, 0, r->k->g.block);
	memcpy((char *)b + kvs_first_unit(r->k) * KVS_UNIT, e,
	       sizeof(*e) + e->key_len + e->value_len);
	b->slots[0] = kvs_slot_word(kvs_slot_tag(*slot(r, 0, false)), number,
				    kvs_first_unit(r->k));
	s->owner[0] = 1;
	last->next = number;
	r->t.line->added_begun++;
	r->t.line->added_done++;
	r->t.line->puts_begun++;
	r->t.line->puts_done++;
}

static void wrong_bucket(struct rig *r)
{
	uint64_t word = *slot(r, 0, true);
	struct kvs_entry *e = entry(r, true);
	_Atomic uint64_t *to = slot(r, 1, true);
	struct kvs_entry *there;

	/* Of the same length, so that nothing else is wrong. */
	there = kvs_entry(r->k, 1, *to);
	CHECK(there);
	memcpy(there, e, kvs_entry_units(e->key_len, e->value_len) * KVS_UNIT);
	*to = kvs_slot_word(kvs_slot_tag(word), kvs_slot_block(*to), kvs_slot_unit(*to));
}

static void wrong_tag(struct rig *r)
{
	*slot(r, 0, true) ^= 1ull << 50;
}

static void overlap(struct rig *r)
{
	_Atomic uint64_t *s = slot(r, 0, true);

	*s += 1;
}

static void outside(struct rig *r)
{
	_Atomic uint64_t *s = slot(r, 0, true);

	*s = kvs_slot_word(kvs_slot_tag(*s), r->k->g.blocks, kvs_first_unit(r->k));
}

static void in_header(struct rig *r)
{
	_Atomic uint64_t *s = slot(r, 0, true);

	*s = kvs_slot_word(kvs_slot_tag(*s), kvs_slot_block(*s), 2);
}

static void long_value(struct rig *r)
{
	entry(r, true)->value_len = 1u << 30;
}

static void long_key(struct rig *r)
{
	entry(r, true)->key_len = 0xffff;
}

static void endless(struct rig *r)
{
	struct kvs_block *b = block(r, 0);

	CHECK(b->next);
	b = kvs_at(r->k, b->next);
	b->next = block(r, 0)->next;
}

static void link_outside(struct rig *r)
{
	block(r, 0)->next = 1ull << 40;
}

static void two_owners(struct rig *r)
{
	struct kvs_block *b = block(r, 1);

	while (b->next)
		b = kvs_at(r->k, b->next);
	b->next = block(r, 0)->next;
}

static void not_owned(struct rig *r)
{
	struct kvs_block *b = block(r, 0);
	uint64_t at = b->next - r->k->g.overflow_at;
	struct kvs_shard *s = kvs_at(r->k, r->k->g.shards_at + at / r->k->g.shard_blocks);

	s->owner[at % r->k->g.shard_blocks] = 0;
}

static void leaked(struct rig *r)
{
	struct kvs_shard *s = kvs_at(r->k, r->k->g.shards_at + unused_block(r));

	s->owner[0] = 1;
}

static void owner_outside(struct rig *r)
{
	struct kvs_shard *s = kvs_at(r->k, r->k->g.shards_at + unused_block(r));

	s->owner[0] = 99;
}

static const struct way {
	const char *name;
	const char *said;
	void (*damage)(struct rig *r);
} ways[] = {
	{ "a bit of a value", "wrong checksum", flip_value },
	{ "a bit of a key", "wrong checksum", flip_key },
	{ "a lost update", "updates were lost", lose_update },
	{ "a version from nowhere", "come from nowhere", nobody_wrote },
	{ "a value of another version", "another version", version_differs },
	{ "a value of another record", "another key", other_record },
	{ "a record that was not loaded", "only 39 were loaded", beyond },
	{ "more records than there can be", "missing", too_many_records },
	{ "a lost key", "there should be", lose_key },
	{ "a lost record", "missing", lose_record },
	{ "a slot twice", "overlap", same_twice },
	{ "a key twice", "a key is there twice", copy_twice },
	{ "a key in another bucket", "belongs to bucket", wrong_bucket },
	{ "a wrong tag", "tag of another key", wrong_tag },
	{ "entries that overlap", "", overlap },
	{ "a slot that leads outside", "", outside },
	{ "a slot that leads into the slots", "", in_header },
	{ "a value that is too long", "", long_value },
	{ "a key that is too long", "", long_key },
	{ "blocks in a circle", "", endless },
	{ "a link that leads outside", "", link_outside },
	{ "a block of two buckets", "", two_owners },
	{ "a block of nobody", "but is free", not_owned },
	{ "a lost block", "is not in it", leaked },
	{ "a block of a bucket that there is not", "which there is not", owner_outside },
};

/* Everything that was said. */
static char all[65536];

static void say_all(void *arg, const char *sentence)
{
	size_t at = strlen(all);

	(void)arg;
	snprintf(all + at, sizeof(all) - at, "%s\n", sentence);
}

static void test_ways(void)
{
	struct kvs_counts c;
	struct rig r;
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		make(&r);
		ways[i].damage(&r);
		*all = '\0';
		CHECK_EQ(kvs_check(r.k, false, &c, say_all, NULL), 0);
		if (!c.bad || !strstr(all, ways[i].said)) {
			fprintf(stderr, "not ok: %s: '%s' was wanted, check said: %s\n",
				ways[i].name, ways[i].said, all);
			_exit(1);
		}
		kvs_thread_end(&r.t);
		kvs_close(r.k);
		CHECK(true);
	}
}

/* Who reads sees it as well. */
static void test_readers(void)
{
	struct kvs_found f;
	char key[RECORD_KEY];
	struct kvs_entry *e;
	struct rig r;
	uint64_t id = 0;

	make(&r);
	e = entry(&r, true);
	memcpy(key, e->bytes, RECORD_KEY);
	CHECK_EQ(kvs_get(&r.t, key, RECORD_KEY, &f), 0);
	id = UINT64_MAX;
	CHECK(!record_wrong(&f, &id));
	e->bytes[RECORD_KEY + 50] ^= 1;
	CHECK_EQ(kvs_get(&r.t, key, RECORD_KEY, &f), KVS_DAMAGED);
	CHECK_EQ(kvs_change(&r.t, key, RECORD_KEY, fill, &id), KVS_DAMAGED);
	e->bytes[RECORD_KEY + 50] ^= 1;
	e->version++;
	e->sum = kvs_entry_sum(e);
	CHECK_EQ(kvs_get(&r.t, key, RECORD_KEY, &f), 0);
	CHECK(strstr(record_wrong(&f, &id), "another version"));
	id++;
	CHECK(strstr(record_wrong(&f, &id), "another record"));
	link_outside(&r);
	CHECK_EQ(rig_get(&r, "no such key", &f) == KVS_DAMAGED ||
		 rig_get(&r, "none of these", &f) == KVS_DAMAGED ||
		 rig_get(&r, "nor this", &f) == KVS_DAMAGED, true);
	kvs_thread_end(&r.t);
	kvs_close(r.k);
}

/*
 * Any bit that counts: of the first block of a bucket, all of it that is in use.
 * Nothing may crash, and whatever is not found may not be there to be seen.
 */
static void test_bits(void)
{
	static unsigned char before[4096];
	unsigned long found = 0, harmless = 0;
	struct kvs_counts good, c;
	unsigned int i;
	struct rig r;

	make(&r);
	rig_check(&r, &good);
	memcpy(before, block(&r, 0), sizeof(before));
	for (i = KVS_LOCK_ROOM * 8; i < 4096 * 8; i += 1) {
		unsigned char *b = (unsigned char *)block(&r, 0);

		b[i / 8] ^= 1u << i % 8;
		if (rig_check(&r, &c)) {
			found++;
		} else {
			/* Free space, unused words, that the bucket is growing. */
			CHECK_EQ(c.entries, good.entries);
			CHECK_EQ(c.versions, good.versions);
			CHECK_EQ(c.blocks, good.blocks);
			harmless++;
		}
		memcpy(b + KVS_LOCK_ROOM, before + KVS_LOCK_ROOM, 4096 - KVS_LOCK_ROOM);
	}
	rig_well(&r);
	/* Most of the block is in use. */
	CHECK(found > 15000);
	printf("kvs-damage: %lu flipped bits were found, %lu do not matter\n", found, harmless);
	kvs_thread_end(&r.t);
	kvs_close(r.k);
}

int main(void)
{
	alarm(100 * check_scale());
	folder_make(directory, sizeof(directory), folder_in_memory(), "kvs");
	test_ways();
	test_readers();
	test_bits();
	return check_result();
}
