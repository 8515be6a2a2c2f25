// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buckets: keys looked up, put and taken away.
 */
#include <errno.h>
#include <string.h>

#include "kvs.h"

static bool is_own(const struct kvs *k, uint32_t bucket, uint64_t block)
{
	return block - kvs_bucket_block(k, bucket) < k->g.bucket_blocks;
}

static bool is_overflow(const struct kvs *k, uint64_t block)
{
	return block - k->g.overflow_at < k->g.blocks - k->g.overflow_at;
}

/* The first block after those of its own, 0: there is none. */
static uint64_t overflow_of(struct kvs *k, uint32_t bucket)
{
	struct kvs_block *first = kvs_at(k, kvs_bucket_block(k, bucket));

	return atomic_load_explicit(&first->next, memory_order_acquire);
}

int kvs_chain(struct kvs *k, uint32_t bucket, struct kvs_chain *c)
{
	uint64_t block = overflow_of(k, bucket);
	struct kvs_block *b;

	c->bucket = bucket;
	for (c->n = 0; c->n < k->g.bucket_blocks; c->n++)
		c->blocks[c->n] = kvs_bucket_block(k, bucket) + c->n;
	while (block) {
		if (!is_overflow(k, block) || c->n == KVS_CHAIN_MAX)
			return kvs_fail(KVS_DAMAGED, "bucket %u is damaged: its blocks have no end, or block %llu is none of overflow",
					bucket, (unsigned long long)block);
		c->blocks[c->n++] = (uint32_t)block;
		b = kvs_at(k, block);
		block = atomic_load_explicit(&b->next, memory_order_acquire);
	}
	return 0;
}

struct kvs_entry *kvs_entry(struct kvs *k, uint32_t bucket, uint64_t word)
{
	uint32_t block = kvs_slot_block(word), unit = kvs_slot_unit(word);
	uint64_t at = (uint64_t)unit * KVS_UNIT;
	size_t key_len, value_len;
	struct kvs_entry *e;

	if ((!is_own(k, bucket, block) && !is_overflow(k, block)) ||
	    unit < kvs_first_unit(k) || at + sizeof(*e) > k->g.block) {
		kvs_fail(KVS_DAMAGED, "bucket %u is damaged: a slot names block %u, unit %u",
			 bucket, block, unit);
		return NULL;
	}
	e = (struct kvs_entry *)((char *)kvs_at(k, block) + at);
	key_len = e->key_len;
	value_len = e->value_len;
	if (!key_len || key_len > KVS_KEY_MAX || value_len > KVS_VALUE_MAX ||
	    at + sizeof(*e) + key_len + value_len > k->g.block) {
		kvs_fail(KVS_DAMAGED, "bucket %u is damaged: an entry in block %u, unit %u, has a key of %zu and a value of %zu bytes",
			 bucket, block, unit, key_len, value_len);
		return NULL;
	}
	return e;
}

/* The slot of a key; @slot is NULL if it is not there. */
static int find_in(struct kvs *k, uint32_t bucket, struct kvs_block *b, uint16_t tag,
		   const void *key, size_t key_len, _Atomic uint64_t **slot,
		   struct kvs_entry **e)
{
	uint64_t word;
	uint32_t i;

	for (i = 0; i < k->g.slots; i++) {
		word = atomic_load_explicit(&b->slots[i], memory_order_acquire);
		if (!word || kvs_slot_tag(word) != tag)
			continue;
		*e = kvs_entry(k, bucket, word);
		if (!*e)
			return KVS_DAMAGED;
		if ((*e)->key_len == key_len && !memcmp((*e)->bytes, key, key_len)) {
			*slot = &b->slots[i];
			return 0;
		}
	}
	return 0;
}

static int find(struct kvs *k, uint32_t bucket, uint16_t tag, const void *key,
		size_t key_len, _Atomic uint64_t **slot, struct kvs_entry **e)
{
	uint64_t block = kvs_bucket_block(k, bucket);
	struct kvs_block *b;
	uint32_t n;
	int error;

	*slot = NULL;
	for (n = 1; ; n++) {
		b = kvs_at(k, block);
		error = find_in(k, bucket, b, tag, key, key_len, slot, e);
		if (error || *slot)
			return error;
		if (n < k->g.bucket_blocks)
			block++;
		else if (n == k->g.bucket_blocks)
			block = overflow_of(k, bucket);
		else
			block = atomic_load_explicit(&b->next, memory_order_acquire);
		if (!block)
			return 0;
		if ((n >= k->g.bucket_blocks && !is_overflow(k, block)) || n == KVS_CHAIN_MAX)
			return kvs_fail(KVS_DAMAGED, "bucket %u is damaged: its blocks have no end, or block %llu is none of overflow",
					bucket, (unsigned long long)block);
	}
}

static int check_key(size_t key_len)
{
	if (key_len && key_len <= KVS_KEY_MAX)
		return 0;
	return kvs_fail(EINVAL, "a key has 1 to %u bytes", KVS_KEY_MAX);
}

/* --- Looking up --------------------------------------------------------------- */

/*
 * Copied while the lock is held, checked after: what a writer waits for is short,
 * and what is checked is what the caller gets.
 */
int kvs_get(struct kvs_thread *t, const void *key, size_t key_len, struct kvs_found *f)
{
	_Atomic uint64_t *slot = NULL;
	uint64_t hash = kvs_hash(key, key_len, 0);
	uint32_t bucket = kvs_bucket_of(t->k, hash);
	struct kvs_entry *e, *copy = (struct kvs_entry *)t->copy;
	int error = check_key(key_len), unlocked;

	if (error)
		return error;
	error = kvs_rdlock(t->k, kvs_lock_of_bucket(t->k, bucket));
	if (error)
		return error;
	error = find(t->k, bucket, kvs_tag_of(hash), key, key_len, &slot, &e);
	if (slot) {
		/* Looked at once: a lock that does not hold must not lead astray. */
		uint32_t len = *(volatile uint32_t *)&e->value_len;

		memcpy(copy, e, sizeof(*e) + key_len + (len <= KVS_VALUE_MAX ? len : 0));
	}
	unlocked = kvs_unlock(t->k, kvs_lock_of_bucket(t->k, bucket));
	if (error || unlocked)
		return error ? error : unlocked;
	if (!slot)
		return kvs_fail(ENOENT, "there is no such key");
	if (copy->key_len != key_len || copy->value_len > KVS_VALUE_MAX ||
	    kvs_entry_sum(copy) != copy->sum)
		return kvs_fail(KVS_DAMAGED, "an entry of bucket %u has a wrong checksum",
				bucket);
	f->value = copy->bytes + key_len;
	f->len = copy->value_len;
	f->version = copy->version;
	f->flags = copy->flags;
	return 0;
}

/* --- Changing ----------------------------------------------------------------- */

/* Which units of a block entries are in. */
struct units {
	uint64_t used[65536 / 64];
};

static void use_units(struct units *u, uint32_t first, uint32_t n)
{
	for (; n; n--, first++)
		u->used[first / 64] |= 1ull << first % 64;
}

/* @empty: none are, and none of the block's slots names anything. */
static int used_units(struct kvs *k, const struct kvs_chain *c, uint32_t block,
		      struct units *u, bool *empty)
{
	struct kvs_entry *e;
	struct kvs_block *b;
	uint32_t i, j;
	uint64_t word;

	memset(u->used, 0, k->g.block / KVS_UNIT / 8);
	use_units(u, 0, kvs_first_unit(k));
	*empty = true;
	for (i = 0; i < c->n; i++) {
		b = kvs_at(k, c->blocks[i]);
		for (j = 0; j < k->g.slots; j++) {
			word = atomic_load_explicit(&b->slots[j], memory_order_relaxed);
			if (word && c->blocks[i] == block)
				*empty = false;
			if (!word || kvs_slot_block(word) != block)
				continue;
			*empty = false;
			e = kvs_entry(k, c->bucket, word);
			if (!e)
				return KVS_DAMAGED;
			use_units(u, kvs_slot_unit(word),
				  kvs_entry_units(e->key_len, e->value_len));
		}
	}
	return 0;
}

/* First fit; 0: none does. */
static uint32_t find_units(const struct units *u, uint32_t units, uint32_t n)
{
	uint32_t i, run = 0;

	for (i = 0; i < units; i++) {
		run = u->used[i / 64] & 1ull << i % 64 ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return 0;
}

/* Where an entry of @n units can be, in the first block that has room. */
static int find_room(struct kvs *k, struct kvs_chain *c, uint32_t n, uint32_t *block,
		     uint32_t *unit)
{
	struct units u;
	uint32_t i;
	bool empty;
	int error;

	*unit = 0;
	for (i = 0; i < c->n && !*unit; i++) {
		*block = c->blocks[i];
		error = used_units(k, c, *block, &u, &empty);
		if (error)
			return error;
		*unit = find_units(&u, k->g.block / KVS_UNIT, n);
	}
	return 0;
}

static _Atomic uint64_t *free_slot(struct kvs *k, const struct kvs_chain *c)
{
	struct kvs_block *b;
	uint32_t i, j;

	for (i = 0; i < c->n; i++) {
		b = kvs_at(k, c->blocks[i]);
		for (j = 0; j < k->g.slots; j++)
			if (!atomic_load_explicit(&b->slots[j], memory_order_relaxed))
				return &b->slots[j];
	}
	return NULL;
}

/* Room for an entry, and a slot unless there is one: blocks are added as needed. */
static int make_room(struct kvs *k, uint32_t bucket, uint32_t n, _Atomic uint64_t **slot,
		     uint32_t *block, uint32_t *unit)
{
	struct kvs_chain c;
	int error = kvs_chain(k, bucket, &c);

	if (error)
		return error;
	if (!*slot)
		*slot = free_slot(k, &c);
	error = find_room(k, &c, n, block, unit);
	if (error || (*slot && *unit))
		return error;
	error = kvs_grow(k, &c);
	if (error)
		return error;
	if (!*slot)
		*slot = free_slot(k, &c);
	if (*unit)
		return 0;
	/* An empty block has room for anything. */
	*block = c.blocks[c.n - 1];
	*unit = kvs_first_unit(k);
	return 0;
}

/* Only this thread writes there. */
static void add(_Atomic uint64_t *count, uint64_t n)
{
	uint64_t now = atomic_load_explicit(count, memory_order_relaxed);

	atomic_store_explicit(count, now + n, memory_order_release);
}

/* The new entry, in memory of our own. */
static int compose(struct kvs_entry *e, const struct kvs_entry *old, const void *key,
		   size_t key_len, kvs_filler fill, void *arg)
{
	struct kvs_change change = { .version = 1 };
	int error;

	if (old) {
		change.version = old->version + 1;
		change.old = (struct kvs_found){ old->bytes + key_len, old->value_len,
						 old->version, old->flags };
	}
	change.value = e->bytes + key_len;
	error = fill(arg, &change);
	if (error)
		return error;
	if (change.len > KVS_VALUE_MAX)
		return kvs_fail(EINVAL, "a value has up to %u bytes", KVS_VALUE_MAX);
	memcpy(e->bytes, key, key_len);
	e->version = change.version;
	e->key_len = (uint16_t)key_len;
	e->value_len = (uint32_t)change.len;
	e->flags = (uint16_t)change.flags;
	e->sum = kvs_entry_sum(e);
	return 0;
}

/*
 * The entry is written where nobody looks, then the slot is made to name it: until
 * then it is the old one that counts.  Its place is free after that.
 */
static int change_locked(struct kvs_thread *t, uint32_t bucket, uint16_t tag,
			 const void *key, size_t key_len, kvs_filler fill, void *arg,
			 bool *is_new)
{
	struct kvs_entry *old, *e = (struct kvs_entry *)t->copy;
	_Atomic uint64_t *slot;
	uint32_t block, unit;
	int error;

	error = find(t->k, bucket, tag, key, key_len, &slot, &old);
	if (error)
		return error;
	*is_new = !slot;
	if (slot && kvs_entry_sum(old) != old->sum)
		return kvs_fail(KVS_DAMAGED, "an entry of bucket %u has a wrong checksum",
				bucket);
	error = compose(e, slot ? old : NULL, key, key_len, fill, arg);
	if (!error)
		error = make_room(t->k, bucket, kvs_entry_units(key_len, e->value_len),
				  &slot, &block, &unit);
	if (error)
		return error;
	memcpy((char *)kvs_at(t->k, block) + (size_t)unit * KVS_UNIT, e,
	       sizeof(*e) + key_len + e->value_len);
	add(&t->line->puts_begun, 1);
	if (*is_new)
		add(&t->line->added_begun, 1);
	atomic_store_explicit(slot, kvs_slot_word(tag, block, unit), memory_order_release);
	return 0;
}

static int may_write(const struct kvs_thread *t)
{
	return t->line ? 0 : kvs_fail(EBADF, "this thread has no session, it may only read");
}

int kvs_change(struct kvs_thread *t, const void *key, size_t key_len,
	       kvs_filler fill, void *arg)
{
	uint64_t hash = kvs_hash(key, key_len, 0);
	uint32_t bucket = kvs_bucket_of(t->k, hash);
	int error = check_key(key_len), unlocked;
	bool is_new = false;

	if (!error)
		error = may_write(t);
	if (!error)
		error = kvs_wrlock(t->k, kvs_lock_of_bucket(t->k, bucket));
	if (error)
		return error;
	error = change_locked(t, bucket, kvs_tag_of(hash), key, key_len, fill, arg, &is_new);
	unlocked = kvs_unlock(t->k, kvs_lock_of_bucket(t->k, bucket));
	if (!error) {
		add(&t->line->puts_done, 1);
		if (is_new)
			add(&t->line->added_done, 1);
	}
	return error ? error : unlocked;
}

struct put {
	const void *value;
	size_t len;
};

static int fill_put(void *arg, struct kvs_change *c)
{
	struct put *p = arg;

	memcpy(c->value, p->value, p->len);
	c->len = p->len;
	return 0;
}

int kvs_put(struct kvs_thread *t, const void *key, size_t key_len,
	    const void *value, size_t len)
{
	struct put p = { value, len };

	if (len > KVS_VALUE_MAX)
		return kvs_fail(EINVAL, "a value has up to %u bytes", KVS_VALUE_MAX);
	return kvs_change(t, key, key_len, fill_put, &p);
}

/* --- Taking away -------------------------------------------------------------- */

/* Blocks of overflow that are empty now are given back. */
static int give_back(struct kvs *k, uint32_t bucket)
{
	struct kvs_chain c;
	struct units u;
	uint32_t i;
	bool empty;
	int error = kvs_chain(k, bucket, &c);

	for (i = k->g.bucket_blocks; !error && i < c.n; ) {
		error = used_units(k, &c, c.blocks[i], &u, &empty);
		if (error || !empty)
			i++;
		else
			error = kvs_shrink(k, &c, i);
	}
	return error;
}

int kvs_del(struct kvs_thread *t, const void *key, size_t key_len)
{
	uint64_t hash = kvs_hash(key, key_len, 0), version = 0;
	uint32_t bucket = kvs_bucket_of(t->k, hash);
	int error = check_key(key_len), unlocked;
	_Atomic uint64_t *slot = NULL;
	struct kvs_entry *e;

	if (!error)
		error = may_write(t);
	if (!error)
		error = kvs_wrlock(t->k, kvs_lock_of_bucket(t->k, bucket));
	if (error)
		return error;
	error = find(t->k, bucket, kvs_tag_of(hash), key, key_len, &slot, &e);
	if (slot) {
		version = e->version;
		add(&t->line->removed_begun, 1);
		add(&t->line->erased_begun, version);
		atomic_store_explicit(slot, 0, memory_order_release);
		error = give_back(t->k, bucket);
	}
	unlocked = kvs_unlock(t->k, kvs_lock_of_bucket(t->k, bucket));
	if (slot) {
		add(&t->line->removed_done, 1);
		add(&t->line->erased_done, version);
	}
	if (error || unlocked)
		return error ? error : unlocked;
	return slot ? 0 : kvs_fail(ENOENT, "there is no such key");
}
