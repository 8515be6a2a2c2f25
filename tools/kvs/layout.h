/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is in the file of a store.
 *
 * The file is made of blocks, no smaller than those of the region, so that what
 * different locks guard never meets on one:
 *
 *	header		geometry; which sessions are in use
 *	sessions	a block for each process that has the store open to write:
 *			what its threads have begun to change, and have changed
 *	shards		a block each: which bucket has which overflow block
 *	locks		a block for each lock, if they do not fit in front of what
 *			they guard
 *	buckets		bucket_blocks each
 *	overflow	more blocks for buckets that are full
 *
 * Zeros are an empty store, but for the header and locks that have to be made.
 *
 * All blocks of buckets are alike: a header, slots, units of 16 bytes for entries.
 * A key is in a bucket if and only if one of its slots names the entry: one word
 * of 64 bits, which is the only thing that a change of the store changes for
 * others.  The entry lies in any block of the same bucket.  What no slot names is
 * free; nothing else says so, hence nothing else can be wrong about it.
 *
 * So a process may be killed at any time: its entry is there, or it is not.  What
 * needs two steps is only how a bucket gets a block and gives it back: the block's
 * owner is set in its shard, and the block is linked to the bucket.  GROWING is set
 * meanwhile: who finds it set looks for blocks that belong to the bucket and are
 * not linked to it.
 *
 * This relies on stores reaching the memory of others in the order in which they
 * were made, which x86 promises, and weft for all machines of a rack.
 */
#ifndef WEFT_KVS_LAYOUT_H
#define WEFT_KVS_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#include "locks.h"

#define KVS_MAGIC	0x3173766b74666577ull	/* "weftkvs1" */
#define KVS_VERSION	1
#define KVS_UNIT	16

/**
 * struct kvs_line - what a thread has changed, ever
 *
 * "begun" grows before the change, "done" after it: what is in the store lies in
 * between, and the two are equal unless a process was killed or is at work.
 *
 * @puts_begun, @puts_done: changes of a key; the version of its entry grows by one
 * @added_begun, @added_done: of these, keys that were new
 * @removed_begun, @removed_done: keys taken away
 * @erased_begun, @erased_done: sum of the versions that these had
 *
 * Whoever uses the line next goes on counting.
 */
struct kvs_line {
	_Atomic uint64_t puts_begun, puts_done;
	_Atomic uint64_t added_begun, added_done;
	_Atomic uint64_t removed_begun, removed_done;
	_Atomic uint64_t erased_begun, erased_done;
};

#define KVS_LINES	63	/* threads of a process that write */

struct kvs_session_block {
	uint64_t unused[8];
	struct kvs_line lines[KVS_LINES];
};

/**
 * struct kvs_geometry - how the file is divided; never changes
 * @version:	KVS_VERSION
 * @block:	bytes of a block
 * @buckets:	a power of two
 * @bucket_blocks: blocks of a bucket; the first is bound to the lock
 * @shards:	of the allocator of overflow blocks
 * @shard_blocks: overflow blocks of each
 * @sessions:	processes that may write
 * @slots:	of a block of a bucket
 * @sessions_at, @shards_at, @locks_at, @buckets_at, @overflow_at: block numbers;
 *		@locks_at is 0 if the locks stand in front of what they guard
 * @lock_blocks: blocks of a lock, if @locks_at
 * @blocks:	of the file
 * @locks:	name of the kind of locks
 */
struct kvs_geometry {
	uint32_t version;
	uint32_t block;
	uint32_t buckets;
	uint32_t bucket_blocks;
	uint32_t shards;
	uint32_t shard_blocks;
	uint32_t sessions;
	uint32_t slots;
	uint32_t sessions_at;
	uint32_t shards_at;
	uint32_t locks_at;
	uint32_t lock_blocks;
	uint32_t buckets_at;
	uint32_t overflow_at;
	uint32_t blocks;
	uint32_t unused;
	char locks[32];
};

#define KVS_SESSIONS_MAX	1024

/**
 * struct kvs_header - the first block
 * @lock:	guards @used
 * @magic:	KVS_MAGIC, written when all else is there
 * @sum:	of @geometry
 * @records:	that weft-kvs load has put: those of the benchmark are 0 to this
 * @value_size:	of these
 * @puts_settled, @present_settled: by how much check --settle has corrected what
 *		the lines say, in two's complement
 * @used:	sessions that somebody has
 */
struct kvs_header {
	char lock[KVS_LOCK_ROOM];
	_Atomic uint64_t magic;
	uint64_t sum;
	struct kvs_geometry geometry;
	_Atomic uint64_t records;
	_Atomic uint64_t value_size;
	_Atomic uint64_t puts_settled;
	_Atomic uint64_t present_settled;
	char gap[2048 - KVS_LOCK_ROOM - 6 * 8 - sizeof(struct kvs_geometry)];
	_Atomic uint8_t used[KVS_SESSIONS_MAX];
};

/**
 * struct kvs_shard - which bucket has which overflow block
 * @lock:	guards the rest
 * @owner:	bucket + 1; 0: the block is free
 */
struct kvs_shard {
	char lock[KVS_LOCK_ROOM];
	_Atomic uint32_t owner[];
};

/**
 * struct kvs_block - a block of a bucket
 * @lock:	of the bucket, in its first block
 * @next:	the bucket's first overflow block, or the one after this
 * @growing:	in its first block: its blocks and the shards may differ
 * @slots:	kvs_slot_word()
 */
struct kvs_block {
	char lock[KVS_LOCK_ROOM];
	_Atomic uint64_t next;
	_Atomic uint64_t growing;
	uint64_t unused[2];
	_Atomic uint64_t slots[];
};

#define KVS_SLOTS	40	/* for each 4 KiB of a block */

/**
 * struct kvs_entry - a key and its value
 * @sum:	of all that follows
 * @version:	1 for a new key, grows with each change
 * @key_len, @value_len: of what stands behind
 * @flags:	KVS_RECORD
 */
struct kvs_entry {
	uint64_t sum;
	uint64_t version;
	uint16_t key_len;
	uint16_t flags;
	uint32_t value_len;
	unsigned char bytes[];
};

/* A record of the benchmark: see record.h. */
#define KVS_RECORD	1

/* 16 bits of the key's hash, block number, unit in the block. */
static inline uint64_t kvs_slot_word(uint16_t tag, uint32_t block, uint32_t unit)
{
	return (uint64_t)tag << 48 | (uint64_t)block << 16 | unit;
}

static inline uint16_t kvs_slot_tag(uint64_t word)
{
	return (uint16_t)(word >> 48);
}

static inline uint32_t kvs_slot_block(uint64_t word)
{
	return (uint32_t)(word >> 16);
}

static inline uint32_t kvs_slot_unit(uint64_t word)
{
	return (uint32_t)(word & 0xffff);
}

#endif /* WEFT_KVS_LAYOUT_H */
