/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A key-value store in a file that many processes map, on one machine or, with the
 * file in a region, on all machines of a rack.  layout.h tells what is in the file.
 *
 * Functions return 0 or an error number; kvs_why() has a sentence for the last one
 * of the thread.
 */
#ifndef WEFT_KVS_H
#define WEFT_KVS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"
#include "locks.h"

#define KVS_KEY_MAX	250
#define KVS_VALUE_MAX	3072
#define KVS_CHAIN_MAX	64	/* blocks of one bucket */

/* The store says one thing in one place and another one in another. */
#define KVS_DAMAGED	EUCLEAN

/**
 * struct kvs_make - what a new store is to be like; 0 or NULL: as is usual
 * @locks:	kind of locks
 * @buckets:	a power of two
 * @bucket_blocks: blocks of each, besides overflow
 * @overflow:	blocks that all buckets share
 * @block:	bytes, a power of two; at least that of the file
 * @sessions:	processes that may have it open to write at a time
 */
struct kvs_make {
	const struct kvs_lock_ops *locks;
	uint32_t buckets;
	uint32_t bucket_blocks;
	uint32_t overflow;
	uint32_t block;
	uint32_t sessions;
};

/**
 * struct kvs - an open store
 * @base:	the file, mapped
 * @header:	the same
 * @ops:	its locks
 * @g:		its geometry, which is not read from shared memory again
 * @length:	bytes mapped
 * @known:	locks that this process has called ops->init for; by index
 * @init_mutex:	guards that
 * @session:	number of the session of this process, -1: none yet
 * @lines:	of the session that threads have, a bit each
 */
struct kvs {
	char *base;
	struct kvs_header *header;
	const struct kvs_lock_ops *ops;
	struct kvs_geometry g;
	size_t length;

	_Atomic uint8_t *known;
	pthread_mutex_t init_mutex;
	int session;
	_Atomic uint64_t lines;
};

/**
 * struct kvs_thread - a thread that uses a store
 * @k:		the store
 * @line:	where it counts what it changes
 * @writer:	a number that no other thread has now
 * @copy:	what kvs_get() has found: an entry
 */
struct kvs_thread {
	struct kvs *k;
	struct kvs_line *line;
	uint32_t writer;
	unsigned char copy[sizeof(struct kvs_entry) + KVS_KEY_MAX + KVS_VALUE_MAX]
		__attribute__((aligned(8)));
};

/**
 * struct kvs_found - an entry; points into struct kvs_thread until its next call
 */
struct kvs_found {
	const void *value;
	size_t len;
	uint64_t version;
	unsigned int flags;
};

/**
 * struct kvs_change - what kvs_change() asks for
 * @old:	what is there, version 0: nothing.  In the store: to be looked at
 *		with care
 * @version:	that the new entry will have
 * @value:	room for KVS_VALUE_MAX bytes
 * @len:	to be set
 * @flags:	to be set
 */
struct kvs_change {
	struct kvs_found old;
	uint64_t version;
	unsigned char *value;
	size_t len;
	unsigned int flags;
};

/* Called with the lock held; what it returns, if not 0, kvs_change() returns. */
typedef int (*kvs_filler)(void *arg, struct kvs_change *c);

/* store.c */
int kvs_create(const char *path, const struct kvs_make *make);
int kvs_open(const char *path, struct kvs **k);
void kvs_close(struct kvs *k);

/*
 * @again: the session of a process that is known to be dead, to go on with it; else
 * -1.  Not needed to read.
 */
int kvs_session_begin(struct kvs *k, int again);
int kvs_session_end(struct kvs *k);
int kvs_thread_begin(struct kvs *k, struct kvs_thread *t);
void kvs_thread_end(struct kvs_thread *t);

/* bucket.c */
int kvs_get(struct kvs_thread *t, const void *key, size_t key_len, struct kvs_found *f);
int kvs_change(struct kvs_thread *t, const void *key, size_t key_len,
	       kvs_filler fill, void *arg);
int kvs_put(struct kvs_thread *t, const void *key, size_t key_len,
	    const void *value, size_t len);
int kvs_del(struct kvs_thread *t, const void *key, size_t key_len);

/* check.c */
struct kvs_counts {
	uint64_t entries;	/* and of these: */
	uint64_t records;	/* of the benchmark */
	uint64_t versions;	/* their sum */
	uint64_t blocks;	/* of overflow, in use */
	uint64_t spare;		/* the same, in no bucket yet */
	uint64_t longest;	/* bucket, in blocks */
	uint64_t sessions;	/* not ended */
	uint64_t puts_min, puts_max;		/* what the lines say */
	uint64_t entries_min, entries_max;
	uint64_t bad;		/* things that are wrong */
};

/*
 * Walks all of it, with a call of @say for each thing that is wrong.  Exact if
 * nobody changes the store meanwhile.  @settle: who is in a session is dead; what
 * was found in the store counts as right from now on.
 */
int kvs_check(struct kvs *k, bool settle, struct kvs_counts *counts,
	      void (*say)(void *arg, const char *sentence), void *arg);

/* Why the last function of this thread failed. */
const char *kvs_why(void);

/* --- Inside ------------------------------------------------------------------- */

int kvs_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

uint64_t kvs_hash(const void *bytes, size_t len, uint64_t seed);

static inline uint64_t kvs_entry_sum(const struct kvs_entry *e)
{
	return kvs_hash(&e->version, sizeof(*e) - sizeof(e->sum) + e->key_len + e->value_len, 0);
}

static inline uint32_t kvs_entry_units(size_t key_len, size_t value_len)
{
	return (uint32_t)((sizeof(struct kvs_entry) + key_len + value_len + KVS_UNIT - 1) /
			  KVS_UNIT);
}

static inline uint32_t kvs_bucket_of(const struct kvs *k, uint64_t hash)
{
	return (uint32_t)(hash & (k->g.buckets - 1));
}

static inline uint16_t kvs_tag_of(uint64_t hash)
{
	return (uint16_t)(hash >> 48);
}

static inline void *kvs_at(const struct kvs *k, uint64_t block)
{
	return k->base + block * k->g.block;
}

static inline uint32_t kvs_bucket_block(const struct kvs *k, uint32_t bucket)
{
	return k->g.buckets_at + bucket * k->g.bucket_blocks;
}

/* Where entries begin in a block. */
static inline uint32_t kvs_first_unit(const struct kvs *k)
{
	return (uint32_t)((sizeof(struct kvs_block) + k->g.slots * 8) / KVS_UNIT);
}

/* Locks: by index, the header's first, then shards, then buckets. */
static inline uint32_t kvs_lock_of_shard(uint32_t shard)
{
	return 1 + shard;
}

static inline uint32_t kvs_lock_of_bucket(const struct kvs *k, uint32_t bucket)
{
	return 1 + k->g.shards + bucket;
}

int kvs_rdlock(struct kvs *k, uint32_t lock);
int kvs_wrlock(struct kvs *k, uint32_t lock);
int kvs_unlock(struct kvs *k, uint32_t lock);

/**
 * struct kvs_chain - all blocks of a bucket
 */
struct kvs_chain {
	uint32_t bucket;
	uint32_t n;
	uint32_t blocks[KVS_CHAIN_MAX];
};

int kvs_chain(struct kvs *k, uint32_t bucket, struct kvs_chain *c);

/*
 * The entry that a slot of the bucket names, all of which is in its block; NULL: the
 * store is damaged.
 */
struct kvs_entry *kvs_entry(struct kvs *k, uint32_t bucket, uint64_t word);

/* overflow.c: with the bucket's lock held to write. */
int kvs_grow(struct kvs *k, struct kvs_chain *c);
int kvs_shrink(struct kvs *k, struct kvs_chain *c, uint32_t index);

#endif /* WEFT_KVS_H */
