// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that is killed at any instruction leaves a store that others can use.
 *
 * A child changes a store while the parent steps it, instruction by instruction.
 * Each state of the file that there was in between, with the locks free, as the
 * kernel gives back those of the dead, has to pass check; the change must have
 * happened or not; and a survivor goes on with it.
 */
#include <sys/ptrace.h>

#include "tests/kvs/rig.h"

#define SKIP	77

static char directory[FOLDER_MAX];
/* Two of these do not fit in a block; copied by few instructions. */
static unsigned char big[1900];

/* What the child does; the key is "victim". */
struct change {
	const char *name;
	void (*before)(struct rig *r);
	void (*change)(struct rig *r);
	size_t old_len, new_len;	/* of the value; GONE: not there */
};

#define GONE	SIZE_MAX

/* --- Changes ------------------------------------------------------------------ */

static void put(struct rig *r, size_t len)
{
	CHECK_EQ(rig_put(r, "victim", big, len), 0);
}

static void put_small(struct rig *r)
{
	put(r, 50);
}

static void put_small_too(struct rig *r)
{
	put(r, 60);
}

static void put_big(struct rig *r)
{
	put(r, sizeof(big));
}

static void take_away(struct rig *r)
{
	CHECK_EQ(rig_del(r, "victim"), 0);
}

static void nothing(struct rig *r)
{
	(void)r;
}

/* The bucket's own block is full, then the victim is in overflow. */
static void fill(struct rig *r)
{
	CHECK_EQ(rig_put(r, "filler", big, sizeof(big)), 0);
}

static void fill_put_big(struct rig *r)
{
	fill(r);
	put_big(r);
}

/* Three blocks of overflow, the victim in the one in the middle. */
static void fill_middle(struct rig *r)
{
	fill(r);
	CHECK_EQ(rig_put(r, "filler1", big, sizeof(big)), 0);
	put_big(r);
	CHECK_EQ(rig_put(r, "filler2", big, sizeof(big)), 0);
}

/* A survivor of several deaths. */
static void fill_lost(struct rig *r)
{
	struct kvs_shard *s = kvs_at(r->k, r->k->g.shards_at);
	struct kvs_block *first = kvs_at(r->k, kvs_bucket_block(r->k, 0));

	fill(r);
	s = kvs_at(r->k, r->k->g.shards_at + 7);
	s->owner[0] = 1;
	s = kvs_at(r->k, r->k->g.shards_at + 9);
	s->owner[0] = 1;
	first->growing = 1;
}

static const struct change changes[] = {
	{ "a new key", nothing, put_small, GONE, 50 },
	{ "another value", put_small, put_small_too, 50, 60 },
	{ "a key taken away", put_small, take_away, 50, GONE },
	{ "a new key, in a new block", fill, put_big, GONE, sizeof(big) },
	{ "another value, in a new block", fill_put_big, put_big, sizeof(big), sizeof(big) },
	{ "a larger value, in a new block", put_small, put_big, 50, sizeof(big) },
	{ "a smaller value, in another block", fill_put_big, put_small, sizeof(big), 50 },
	{ "a key taken away, and its block", fill_put_big, take_away, sizeof(big), GONE },
	{ "a key taken away, and its block in the middle", fill_middle, take_away,
	  sizeof(big), GONE },
	{ "a new key, in a block that was lost", fill_lost, put_big, GONE, sizeof(big) },
};

/* --- A state ------------------------------------------------------------------ */

/* All locks are free. */
static void free_locks(const struct kvs *k, char *file)
{
	uint32_t i;

	memset(file, 0, KVS_LOCK_ROOM);
	for (i = 0; i < k->g.shards + k->g.buckets; i++)
		memset(file + (size_t)(k->g.shards_at + i) * k->g.block, 0, KVS_LOCK_ROOM);
}

static void well(const struct change *c, struct rig *r, const char *when, unsigned long state)
{
	if (!rig_check(r, NULL))
		return;
	fprintf(stderr, "not ok: %s: state %lu, %s: %s\n", c->name, state, when, rig_said);
	_exit(1);
}

/* It has the old length or the new one; once new, then for good. */
static bool is_new(const struct change *c, struct rig *r)
{
	struct kvs_found f;
	int error = rig_get(r, "victim", &f);
	size_t len = GONE;

	CHECK(!error || error == ENOENT);
	if (!error) {
		len = f.len;
		CHECK(!memcmp(f.value, big, len));
	}
	CHECK(len == c->old_len || len == c->new_len);
	if (c->old_len == c->new_len)
		return f.version == 2;
	return len == c->new_len;
}

/* Everything that a store must be able to do, until all its blocks are in use. */
static void survive(const struct change *c, struct rig *r, unsigned long state)
{
	struct kvs_counts counts;
	unsigned int i, n = 0;
	struct kvs_found f;
	char key[16];

	CHECK_EQ(rig_put(r, "victim", big, 10), 0);
	CHECK_EQ(rig_get(r, "victim", &f), 0);
	CHECK(f.len == 10 && !memcmp(f.value, big, 10));
	well(c, r, "one more put", state);
	CHECK_EQ(rig_del(r, "victim"), 0);
	for (i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "more%u", i);
		if (rig_put(r, key, big, sizeof(big)))
			break;
		n++;
	}
	well(c, r, "all blocks in use", state);
	rig_check(r, &counts);
	CHECK_EQ(counts.blocks, (uint64_t)r->k->g.shards * r->k->g.shard_blocks);
	CHECK_EQ(counts.spare, 0);
	for (i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "more%u", i);
		CHECK_EQ(rig_del(r, key), 0);
	}
	well(c, r, "all taken away", state);
}

/* The file as it would be found; returns whether the change is in it. */
static bool judge(const struct change *c, const struct rig *from, const char *file,
		  unsigned long state)
{
	struct rig r;
	bool new;
	int fd;

	snprintf(r.path, sizeof(r.path), "%s/copy", directory);
	fd = open(r.path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, file, from->k->length), from->k->length);
	close(fd);
	rig_open(&r);
	well(c, &r, "as found", state);
	new = is_new(c, &r);
	survive(c, &r, state);
	rig_close(&r);
	return new;
}

/* --- Steps -------------------------------------------------------------------- */

static void child(const struct change *c, struct rig *r)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(SKIP);
	raise(SIGSTOP);
	c->change(r);
	_exit(0);
}

static void run(const struct change *c)
{
	struct kvs_make make = {
		.locks = &kvs_locks_pthread, .buckets = 1, .overflow = 16, .sessions = 2,
	};
	unsigned long steps = 0, states = 0;
	char *last, *now;
	bool new = false;
	struct rig r;
	int status;
	pid_t pid;

	rig_make(&r, directory, "store", &make);
	c->before(&r);
	rig_well(&r);
	last = calloc(1, r.k->length);
	now = calloc(1, r.k->length);
	CHECK(last && now);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		child(c, &r);
	for (;; steps++) {
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status))
			break;
		CHECK(WIFSTOPPED(status));
		/* The child is still, the file is as if it were dead. */
		memcpy(now, r.k->base, r.k->length);
		free_locks(r.k, now);
		if (memcmp(now, last, r.k->length)) {
			bool now_new = judge(c, &r, now, ++states);

			CHECK(now_new || !new);
			new = now_new;
			memcpy(last, now, r.k->length);
		}
		CHECK(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
	}
	if (WEXITSTATUS(status) == SKIP) {
		printf("skipped: no process can be traced here\n");
		exit(SKIP);
	}
	CHECK_EQ(WEXITSTATUS(status), 0);
	CHECK(new);
	/* It was really looked at in between. */
	CHECK(states > 3 && steps > 300);
	printf("kvs-torn: %s: %lu instructions, %lu states\n", c->name, steps, states);
	free(last);
	free(now);
	rig_close(&r);
}

int main(void)
{
	size_t i;

	alarm(250 * check_scale());
	folder_make(directory, sizeof(directory), folder_in_memory(), "kvs");
	for (i = 0; i < sizeof(big); i++)
		big[i] = (unsigned char)(i * 7 >> 2);
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		run(&changes[i]);
	return check_result();
}
