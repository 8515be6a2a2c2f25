// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stores as a whole: made, opened, sessions of processes, locks by their index.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kvs.h"

#define BLOCK_MIN	4096u
#define BLOCK_MAX	1048576u	/* a slot's word has 16 bits for the unit */
#define SHARDS		16u		/* at least */

_Static_assert(sizeof(struct kvs_header) <= BLOCK_MIN, "the header is a block");
_Static_assert(sizeof(struct kvs_session_block) <= BLOCK_MIN, "so is a session");
_Static_assert((sizeof(struct kvs_block) + KVS_SLOTS * 8) % KVS_UNIT == 0,
	       "entries begin at a unit");
_Static_assert(BLOCK_MIN - sizeof(struct kvs_block) - KVS_SLOTS * 8 >=
	       sizeof(struct kvs_entry) + KVS_KEY_MAX + KVS_VALUE_MAX,
	       "any entry fits in a block");

static _Thread_local char why[256];

const char *kvs_why(void)
{
	return why;
}

int kvs_fail(int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	return error;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

/* Two lanes, so that the processor has something to do meanwhile. */
uint64_t kvs_hash(const void *bytes, size_t len, uint64_t seed)
{
	uint64_t a = seed ^ 0x9e3779b97f4a7c15ull, b = (len + 1) * 0xc2b2ae3d27d4eb4full;
	const unsigned char *p = bytes;
	uint64_t w[2];

	for (; len >= 16; len -= 16, p += 16) {
		memcpy(w, p, 16);
		a = (a ^ w[0]) * 0xff51afd7ed558ccdull;
		b = (b ^ w[1]) * 0xc4ceb9fe1a85ec53ull;
		a ^= a >> 29;
		b ^= b >> 31;
	}
	if (len) {
		w[0] = w[1] = 0;
		memcpy(w, p, len);
		a = (a ^ w[0]) * 0xff51afd7ed558ccdull;
		b = (b ^ w[1]) * 0xc4ceb9fe1a85ec53ull;
	}
	return mix(mix(a) + b);
}

/* --- Locks -------------------------------------------------------------------- */

static void *guarded_by(const struct kvs *k, uint32_t lock)
{
	if (!lock)
		return k->base;
	if (lock <= k->g.shards)
		return kvs_at(k, k->g.shards_at + lock - 1);
	return kvs_at(k, kvs_bucket_block(k, lock - 1 - k->g.shards));
}

static void *lock_at(const struct kvs *k, uint32_t lock)
{
	if (k->g.locks_at)
		return kvs_at(k, k->g.locks_at + (uint64_t)lock * k->g.lock_blocks);
	return guarded_by(k, lock);
}

/* Of a bucket's blocks the first is bound to the lock; the others come as they do. */
static int init_lock(struct kvs *k, uint32_t lock)
{
	/* The header is read without its lock. */
	size_t size = lock ? k->g.block : 0;
	int error = 0;

	pthread_mutex_lock(&k->init_mutex);
	if (!k->known[lock]) {
		if (k->ops->init)
			error = k->ops->init(lock_at(k, lock), guarded_by(k, lock), size);
		if (!error)
			k->known[lock] = 1;
	}
	pthread_mutex_unlock(&k->init_mutex);
	return error;
}

static int locked(int error, const struct kvs *k, const char *what)
{
	if (!error)
		return 0;
	return kvs_fail(error, "a lock (%s) cannot be %s: %s", k->ops->name, what,
			strerror(error));
}

static int ready(struct kvs *k, uint32_t lock)
{
	if (__builtin_expect(atomic_load_explicit(&k->known[lock], memory_order_acquire), 1))
		return 0;
	return locked(init_lock(k, lock), k, "initialised");
}

int kvs_rdlock(struct kvs *k, uint32_t lock)
{
	int error = ready(k, lock);

	return error ? error : locked(k->ops->rdlock(lock_at(k, lock)), k, "taken to read");
}

int kvs_wrlock(struct kvs *k, uint32_t lock)
{
	int error = ready(k, lock);

	return error ? error : locked(k->ops->wrlock(lock_at(k, lock)), k, "taken to write");
}

int kvs_unlock(struct kvs *k, uint32_t lock)
{
	return locked(k->ops->unlock(lock_at(k, lock)), k, "left");
}

/* --- Making a store ----------------------------------------------------------- */

static uint32_t blocks_for(uint64_t bytes, uint32_t block)
{
	return (uint32_t)((bytes + block - 1) / block);
}

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* What the file system moves at a time, if that can be a block. */
static uint32_t usual_block(const struct stat *st)
{
	if (st->st_blksize < BLOCK_MIN || st->st_blksize > 65536 ||
	    !power_of_two((uint32_t)st->st_blksize))
		return BLOCK_MIN;
	return (uint32_t)st->st_blksize;
}

static int divide(struct kvs_geometry *g, const struct kvs_make *make, const struct stat *st)
{
	const struct kvs_lock_ops *ops = make->locks ? make->locks : &kvs_locks_weft;
	uint32_t overflow, owners;
	uint64_t locks, blocks;

	memset(g, 0, sizeof(*g));
	g->version = KVS_VERSION;
	g->block = make->block ? make->block : usual_block(st);
	g->buckets = make->buckets ? make->buckets : 1024;
	g->bucket_blocks = make->bucket_blocks ? make->bucket_blocks : 1;
	g->sessions = make->sessions ? make->sessions : 256;
	strncpy(g->locks, ops->name, sizeof(g->locks) - 1);
	if (g->block < BLOCK_MIN || g->block > BLOCK_MAX || !power_of_two(g->block))
		return kvs_fail(EINVAL, "a block is a power of two from %u to %u bytes",
				BLOCK_MIN, BLOCK_MAX);
	if (!power_of_two(g->buckets) || g->buckets > 1u << 24)
		return kvs_fail(EINVAL, "the number of buckets is a power of two up to %u",
				1u << 24);
	if (g->bucket_blocks > KVS_CHAIN_MAX / 2)
		return kvs_fail(EINVAL, "a bucket has %u blocks of its own at most",
				KVS_CHAIN_MAX / 2);
	if (g->sessions > KVS_SESSIONS_MAX)
		return kvs_fail(EINVAL, "there can be %u sessions at most", KVS_SESSIONS_MAX);
	g->slots = g->block / 4096 * KVS_SLOTS;

	overflow = make->overflow ? make->overflow : g->buckets;
	owners = (g->block - KVS_LOCK_ROOM) / sizeof(uint32_t);
	g->shards = (overflow + owners - 1) / owners;
	if (g->shards < SHARDS)
		g->shards = SHARDS;
	g->shard_blocks = (overflow + g->shards - 1) / g->shards;

	locks = 1ull + g->shards + g->buckets;
	g->sessions_at = 1;
	g->shards_at = g->sessions_at + g->sessions;
	blocks = g->shards_at + g->shards;
	if (ops->size > KVS_LOCK_ROOM) {
		g->locks_at = (uint32_t)blocks;
		g->lock_blocks = blocks_for(ops->size, g->block);
		blocks += locks * g->lock_blocks;
	}
	g->buckets_at = (uint32_t)blocks;
	blocks += (uint64_t)g->buckets * g->bucket_blocks;
	g->overflow_at = (uint32_t)blocks;
	blocks += (uint64_t)g->shards * g->shard_blocks;
	if (blocks > UINT32_MAX)
		return kvs_fail(EFBIG, "that would be %llu blocks, more than a file can have",
				(unsigned long long)blocks);
	g->blocks = (uint32_t)blocks;
	return 0;
}

static int map(struct kvs *k, int fd)
{
	k->length = (size_t)k->g.blocks * k->g.block;
	k->base = mmap(NULL, k->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (k->base == MAP_FAILED)
		return kvs_fail(errno, "%zu bytes cannot be mapped: %s", k->length,
				strerror(errno));
	k->header = (struct kvs_header *)k->base;
	return 0;
}

static int make_locks(struct kvs *k)
{
	uint32_t i;
	int error;

	error = k->ops == &kvs_locks_weft ? k->ops->init(lock_at(k, 0), k->base, 0) : 0;
	if (error)
		return kvs_fail(error, "it has no locks of weft (%s): it must be on a mounted weft, else say --locks pthread",
				strerror(error));
	if (!k->ops->format)
		return 0;
	for (i = 0; i < 1 + k->g.shards + k->g.buckets; i++) {
		error = k->ops->format(lock_at(k, i));
		if (error)
			return kvs_fail(error, "a lock (%s) cannot be made: %s",
					k->ops->name, strerror(error));
	}
	return 0;
}

static int fill(int fd, const struct kvs_make *make)
{
	struct kvs k = { .ops = make->locks ? make->locks : &kvs_locks_weft };
	struct stat st;
	int error;

	if (fstat(fd, &st))
		return kvs_fail(errno, "%s", strerror(errno));
	error = divide(&k.g, make, &st);
	if (error)
		return error;
	if (ftruncate(fd, (off_t)k.g.blocks * k.g.block))
		return kvs_fail(errno, "it cannot be made %llu bytes long: %s",
				(unsigned long long)k.g.blocks * k.g.block, strerror(errno));
	error = map(&k, fd);
	if (error)
		return error;
	error = make_locks(&k);
	if (!error) {
		k.header->geometry = k.g;
		k.header->sum = kvs_hash(&k.g, sizeof(k.g), KVS_MAGIC);
		atomic_store_explicit(&k.header->magic, KVS_MAGIC, memory_order_release);
	}
	munmap(k.base, k.length);
	return error;
}

int kvs_create(const char *path, const struct kvs_make *make)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int error;

	if (fd < 0)
		return kvs_fail(errno, "%s%s", strerror(errno),
				errno == EEXIST ? ": remove it first" : "");
	error = fill(fd, make);
	close(fd);
	if (error)
		unlink(path);
	return error;
}

/* --- Opening it --------------------------------------------------------------- */

/* Nothing that is wrong in there may lead out of the file. */
static bool sensible(const struct kvs_geometry *g, uint64_t size)
{
	return g->block >= BLOCK_MIN && g->block <= BLOCK_MAX && power_of_two(g->block) &&
	       power_of_two(g->buckets) && g->bucket_blocks && g->shards &&
	       g->slots == g->block / 4096 * KVS_SLOTS &&
	       g->sessions <= KVS_SESSIONS_MAX &&
	       (uint64_t)g->blocks * g->block <= size &&
	       g->overflow_at + (uint64_t)g->shards * g->shard_blocks == g->blocks &&
	       g->buckets_at + (uint64_t)g->buckets * g->bucket_blocks == g->overflow_at &&
	       g->shards_at + g->shards <= g->buckets_at;
}

static int read_header(struct kvs *k, int fd)
{
	struct kvs_header *h;
	struct stat st;
	uint64_t sum;

	if (fstat(fd, &st))
		return kvs_fail(errno, "%s", strerror(errno));
	if (st.st_size < (off_t)BLOCK_MIN)
		return kvs_fail(EINVAL, "it is no store, or was never finished: make one with weft-kvs create");
	h = mmap(NULL, BLOCK_MIN, PROT_READ, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED)
		return kvs_fail(errno, "it cannot be mapped: %s", strerror(errno));
	k->g = h->geometry;
	sum = h->sum;
	if (atomic_load_explicit(&h->magic, memory_order_acquire) != KVS_MAGIC)
		k->g.version = UINT32_MAX;
	munmap(h, BLOCK_MIN);
	if (k->g.version == UINT32_MAX)
		return kvs_fail(EINVAL, "it is no store, or was never finished: make one with weft-kvs create");
	if (k->g.version != KVS_VERSION)
		return kvs_fail(EINVAL, "it is a store of version %u, this program knows %u",
				k->g.version, KVS_VERSION);
	if (sum != kvs_hash(&k->g, sizeof(k->g), KVS_MAGIC) ||
	    !sensible(&k->g, (uint64_t)st.st_size))
		return kvs_fail(KVS_DAMAGED, "its header is damaged, or the file has been cut");
	k->ops = kvs_locks_find(k->g.locks);
	if (!k->ops)
		return kvs_fail(EINVAL, "its locks are of the kind %s, which is not known here: see --lock-library",
				k->g.locks);
	return 0;
}

int kvs_open(const char *path, struct kvs **result)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), error = ENOMEM;
	struct kvs *k;

	if (fd < 0)
		return kvs_fail(errno, "%s", strerror(errno));
	k = calloc(1, sizeof(*k));
	if (!k) {
		close(fd);
		return kvs_fail(ENOMEM, "out of memory");
	}
	k->session = -1;
	error = read_header(k, fd);
	if (!error) {
		pthread_mutex_init(&k->init_mutex, NULL);
		k->known = calloc(1 + k->g.shards + k->g.buckets, 1);
		error = k->known ? map(k, fd) : kvs_fail(ENOMEM, "out of memory");
	}
	close(fd);
	if (error) {
		free((void *)k->known);
		free(k);
		return error;
	}
	*result = k;
	return 0;
}

void kvs_close(struct kvs *k)
{
	munmap(k->base, k->length);
	pthread_mutex_destroy(&k->init_mutex);
	free((void *)k->known);
	free(k);
}

/* --- Sessions ----------------------------------------------------------------- */

int kvs_session_begin(struct kvs *k, int again)
{
	int error, unlocked;
	uint32_t i;

	if (again >= 0) {
		k->session = again;
		return 0;
	}
	error = kvs_wrlock(k, 0);
	if (error)
		return error;
	for (i = 0; i < k->g.sessions && k->header->used[i]; i++)
		;
	if (i < k->g.sessions) {
		k->header->used[i] = 1;
		k->session = (int)i;
	} else {
		error = kvs_fail(EUSERS, "all %u sessions are in use: if that is by processes that were killed, run weft-kvs check --settle",
				 k->g.sessions);
	}
	unlocked = kvs_unlock(k, 0);
	return error ? error : unlocked;
}

int kvs_session_end(struct kvs *k)
{
	int error;

	if (k->session < 0)
		return 0;
	error = kvs_wrlock(k, 0);
	if (error)
		return error;
	k->header->used[k->session] = 0;
	k->session = -1;
	return kvs_unlock(k, 0);
}

int kvs_thread_begin(struct kvs *k, struct kvs_thread *t)
{
	struct kvs_session_block *s;
	uint64_t lines = atomic_load(&k->lines), unused;
	unsigned int i;

	t->k = k;
	t->line = NULL;
	t->writer = UINT32_MAX;
	if (k->session < 0)
		return 0;
	do {
		unused = ~lines;
		i = (unsigned int)__builtin_ffsll((long long)unused);
		if (!i || i > KVS_LINES)
			return kvs_fail(EAGAIN, "a process can have %u threads that write",
					KVS_LINES);
	} while (!atomic_compare_exchange_weak(&k->lines, &lines, lines | 1ull << (i - 1)));
	s = kvs_at(k, k->g.sessions_at + (uint32_t)k->session);
	t->line = &s->lines[i - 1];
	t->writer = (uint32_t)k->session * (KVS_LINES + 1) + i - 1;
	return 0;
}

void kvs_thread_end(struct kvs_thread *t)
{
	if (t->line)
		atomic_fetch_and(&t->k->lines, ~(1ull << t->writer % (KVS_LINES + 1)));
	t->line = NULL;
}
