// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overflow blocks: got by buckets that are full, given back by those that are not
 * any more.
 *
 * They are divided among shards, each with a lock; a bucket asks its own shard
 * first, so that buckets seldom meet there.  The bucket's lock is held, that of a
 * shard is taken besides, and nothing is taken with that.
 */
#include <errno.h>
#include <string.h>

#include "kvs.h"

static struct kvs_shard *shard_at(const struct kvs *k, uint32_t shard)
{
	return kvs_at(k, k->g.shards_at + shard);
}

static uint32_t block_of(const struct kvs *k, uint32_t shard, uint32_t i)
{
	return k->g.overflow_at + shard * k->g.shard_blocks + i;
}

static bool in_chain(const struct kvs_chain *c, uint32_t block)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		if (c->blocks[i] == block)
			return true;
	return false;
}

/*
 * A block of the shard whose owner is @owner, and which is not in the bucket; it is
 * the bucket's then.  @block is 0 if there is none.
 */
static int get_from(struct kvs *k, uint32_t shard, uint32_t owner,
		    const struct kvs_chain *c, uint32_t *block)
{
	struct kvs_shard *s = shard_at(k, shard);
	int error = kvs_wrlock(k, kvs_lock_of_shard(shard));
	uint32_t i;

	*block = 0;
	if (error)
		return error;
	for (i = 0; i < k->g.shard_blocks; i++) {
		if (s->owner[i] != owner || in_chain(c, block_of(k, shard, i)))
			continue;
		s->owner[i] = c->bucket + 1;
		*block = block_of(k, shard, i);
		break;
	}
	return kvs_unlock(k, kvs_lock_of_shard(shard));
}

static int get(struct kvs *k, uint32_t owner, const struct kvs_chain *c, uint32_t *block)
{
	uint32_t i;
	int error;

	for (i = 0; i < k->g.shards; i++) {
		error = get_from(k, (c->bucket + i) % k->g.shards, owner, c, block);
		if (error || *block)
			return error;
	}
	return 0;
}

/*
 * One block more for a bucket.  If a process was killed in here, or in
 * kvs_shrink(), blocks may be the bucket's that are not linked: these come first.
 */
int kvs_grow(struct kvs *k, struct kvs_chain *c)
{
	struct kvs_block *first = kvs_at(k, c->blocks[0]), *last;
	uint64_t growing = atomic_load(&first->growing);
	uint32_t block = 0;
	int error = 0;

	if (c->n == KVS_CHAIN_MAX)
		return kvs_fail(ENOSPC, "bucket %u is full, with %u blocks: the store needs more buckets",
				c->bucket, c->n);
	if (growing)
		error = get(k, c->bucket + 1, c, &block);
	atomic_store(&first->growing, 1);
	if (!error && !block) {
		growing = 0;
		error = get(k, 0, c, &block);
	}
	if (error)
		return error;
	if (!block) {
		atomic_store(&first->growing, 0);
		return kvs_fail(ENOSPC, "all %llu blocks of overflow are in use: the store needs more buckets, or more overflow",
				(unsigned long long)k->g.shards * k->g.shard_blocks);
	}
	memset(kvs_at(k, block), 0, sizeof(struct kvs_block) + k->g.slots * 8);
	/* Of a bucket's own blocks only the first one's link is used. */
	last = c->n == k->g.bucket_blocks ? first : kvs_at(k, c->blocks[c->n - 1]);
	atomic_store_explicit(&last->next, block, memory_order_release);
	c->blocks[c->n++] = block;
	/* Where one was found there may be more. */
	atomic_store_explicit(&first->growing, growing, memory_order_release);
	return 0;
}

/* Gives back the block of the chain at @index, which must be one of overflow, and empty. */
int kvs_shrink(struct kvs *k, struct kvs_chain *c, uint32_t index)
{
	struct kvs_block *first = kvs_at(k, c->blocks[0]), *before;
	uint32_t block = c->blocks[index], shard, i;
	uint64_t growing = atomic_load(&first->growing);
	struct kvs_block *b = kvs_at(k, block);
	int error;

	shard = (block - k->g.overflow_at) / k->g.shard_blocks;
	i = (block - k->g.overflow_at) % k->g.shard_blocks;
	before = index == k->g.bucket_blocks ? first : kvs_at(k, c->blocks[index - 1]);
	atomic_store(&first->growing, 1);
	atomic_store(&before->next, atomic_load(&b->next));
	c->n--;
	memmove(&c->blocks[index], &c->blocks[index + 1],
		(c->n - index) * sizeof(c->blocks[0]));
	error = kvs_wrlock(k, kvs_lock_of_shard(shard));
	if (error)
		return error;
	shard_at(k, shard)->owner[i] = 0;
	error = kvs_unlock(k, kvs_lock_of_shard(shard));
	/* If somebody was killed before, there may be another block to be found. */
	atomic_store_explicit(&first->growing, growing, memory_order_release);
	return error;
}
