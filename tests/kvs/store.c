// SPDX-License-Identifier: GPL-2.0-only
/*
 * The store, in one process: what each function returns, limits, growth, and long
 * random sequences against a model; with each kind of locks.
 */
#include <pthread.h>

#include "tests/kvs/rig.h"
#include "tests/common/kernel/fake.h"
#include "tools/common/random.h"

static char directory[FOLDER_MAX];

/* --- One by one --------------------------------------------------------------- */

static void test_basics(const struct kvs_lock_ops *ops)
{
	struct kvs_make make = { .locks = ops, .buckets = 4 };
	unsigned char value[KVS_VALUE_MAX + 1];
	char key[KVS_KEY_MAX + 1];
	struct kvs_counts c;
	struct kvs_found f;
	struct rig r;

	rig_make(&r, directory, "basics", &make);
	rig_well(&r);
	CHECK_EQ(rig_get(&r, "a", &f), ENOENT);
	CHECK_EQ(rig_del(&r, "a"), ENOENT);
	CHECK_EQ(rig_put(&r, "a", "one", 3), 0);
	CHECK_EQ(rig_get(&r, "a", &f), 0);
	CHECK(f.len == 3 && !memcmp(f.value, "one", 3) && f.version == 1);
	CHECK_EQ(rig_put(&r, "a", "three", 5), 0);
	CHECK_EQ(rig_get(&r, "a", &f), 0);
	CHECK(f.len == 5 && !memcmp(f.value, "three", 5) && f.version == 2);
	CHECK_EQ(rig_get(&r, "b", &f), ENOENT);
	CHECK_EQ(rig_put(&r, "b", "", 0), 0);
	CHECK_EQ(rig_get(&r, "b", &f), 0);
	CHECK_EQ(f.len, 0);
	rig_check(&r, &c);
	CHECK_EQ(c.bad, 0);
	CHECK_EQ(c.entries, 2);
	CHECK_EQ(c.versions, 3);
	CHECK_EQ(rig_del(&r, "a"), 0);
	CHECK_EQ(rig_get(&r, "a", &f), ENOENT);
	/* A new life. */
	CHECK_EQ(rig_put(&r, "a", "x", 1), 0);
	CHECK_EQ(rig_get(&r, "a", &f), 0);
	CHECK_EQ(f.version, 1);

	memset(key, 'k', sizeof(key));
	memset(value, 'v', sizeof(value));
	CHECK_EQ(kvs_put(&r.t, key, KVS_KEY_MAX, value, KVS_VALUE_MAX), 0);
	CHECK_EQ(kvs_get(&r.t, key, KVS_KEY_MAX, &f), 0);
	CHECK(f.len == KVS_VALUE_MAX && !memcmp(f.value, value, f.len));
	CHECK_EQ(kvs_put(&r.t, key, KVS_KEY_MAX + 1, value, 1), EINVAL);
	CHECK_EQ(kvs_get(&r.t, key, KVS_KEY_MAX + 1, &f), EINVAL);
	CHECK_EQ(kvs_del(&r.t, key, 0), EINVAL);
	CHECK_EQ(kvs_put(&r.t, "", 0, value, 1), EINVAL);
	CHECK_EQ(kvs_put(&r.t, key, 1, value, KVS_VALUE_MAX + 1), EINVAL);
	/* All bytes are good for a key. */
	CHECK_EQ(kvs_put(&r.t, "a\0b", 3, "nul", 3), 0);
	CHECK_EQ(kvs_get(&r.t, "a\0b", 3, &f), 0);
	CHECK(f.len == 3 && !memcmp(f.value, "nul", 3));
	CHECK_EQ(kvs_get(&r.t, "a\0c", 3, &f), ENOENT);
	rig_well(&r);

	/* Another process would find it as well. */
	rig_close(&r);
	rig_open(&r);
	CHECK_EQ(rig_get(&r, "a", &f), 0);
	CHECK(f.len == 1 && !memcmp(f.value, "x", 1));
	rig_well(&r);
	rig_close(&r);
}

static int refuse(void *arg, struct kvs_change *c)
{
	CHECK_EQ(c->old.version, 1);
	CHECK_EQ(c->version, 2);
	memset(c->value, 0, 10);
	c->len = 10;
	return *(int *)arg;
}

static void test_refused(void)
{
	struct kvs_make make = { .locks = &kvs_locks_pthread, .buckets = 1 };
	int error = ECANCELED;
	struct kvs_found f;
	struct rig r;

	rig_make(&r, directory, "refused", &make);
	CHECK_EQ(rig_put(&r, "a", "one", 3), 0);
	CHECK_EQ(kvs_change(&r.t, "a", 1, refuse, &error), ECANCELED);
	CHECK_EQ(rig_get(&r, "a", &f), 0);
	CHECK(f.version == 1 && f.len == 3);
	rig_well(&r);
	rig_close(&r);
	/* Without a session. */
	CHECK_EQ(kvs_open(r.path, &r.k), 0);
	CHECK_EQ(kvs_thread_begin(r.k, &r.t), 0);
	CHECK_EQ(rig_get(&r, "a", &f), 0);
	CHECK_EQ(rig_put(&r, "a", "two", 3), EBADF);
	CHECK_EQ(rig_del(&r, "a"), EBADF);
	kvs_close(r.k);
}

/* --- Growth ------------------------------------------------------------------- */

static void test_growth(void)
{
	struct kvs_make make = {
		.locks = &kvs_locks_pthread, .buckets = 2, .overflow = 32,
	};
	unsigned char value[KVS_VALUE_MAX];
	unsigned int i, n, round;
	struct kvs_counts c;
	struct kvs_found f;
	char key[16];
	struct rig r;

	rig_make(&r, directory, "growth", &make);
	memset(value, 7, sizeof(value));
	for (round = 0; round < 3; round++) {
		/* Each takes a block: its bucket's, then of overflow until none is left. */
		for (n = 0; n < 100; n++) {
			snprintf(key, sizeof(key), "key%u", n);
			if (rig_put(&r, key, value, sizeof(value)))
				break;
		}
		CHECK_EQ(rig_put(&r, key, value, sizeof(value)), ENOSPC);
		CHECK_EQ(n, 34);
		rig_check(&r, &c);
		CHECK_EQ(c.bad, 0);
		CHECK_EQ(c.entries, n);
		CHECK_EQ(c.blocks, 32);
		for (i = 0; i < n; i++) {
			snprintf(key, sizeof(key), "key%u", i);
			CHECK_EQ(rig_get(&r, key, &f), 0);
			CHECK_EQ(f.len, sizeof(value));
		}
		/* What is full can still be read, and emptied, in another order. */
		for (i = 0; i < n; i++) {
			snprintf(key, sizeof(key), "key%u", i * 5 % n);
			CHECK_EQ(rig_del(&r, key), 0);
			rig_well(&r);
		}
		rig_check(&r, &c);
		CHECK_EQ(c.entries, 0);
		CHECK_EQ(c.blocks, 0);
		CHECK_EQ(c.spare, 0);
	}
	rig_close(&r);
}

/* A bucket has no more blocks than it may. */
static void test_longest(void)
{
	struct kvs_make make = {
		.locks = &kvs_locks_pthread, .buckets = 1, .overflow = 200, .bucket_blocks = 3,
	};
	unsigned char value[KVS_VALUE_MAX] = { 0 };
	struct kvs_counts c;
	char key[16];
	unsigned int n;
	struct rig r;

	rig_make(&r, directory, "longest", &make);
	for (n = 0; n < 100; n++) {
		snprintf(key, sizeof(key), "key%u", n);
		if (rig_put(&r, key, value, sizeof(value)))
			break;
	}
	CHECK_EQ(n, KVS_CHAIN_MAX);
	CHECK(strstr(kvs_why(), "bucket 0 is full"));
	rig_check(&r, &c);
	CHECK_EQ(c.bad, 0);
	CHECK_EQ(c.longest, KVS_CHAIN_MAX);
	CHECK_EQ(c.blocks, KVS_CHAIN_MAX - 3);
	rig_close(&r);
}

/* More small keys than one block has slots. */
static void test_slots(void)
{
	struct kvs_make make = { .locks = &kvs_locks_pthread, .buckets = 1 };
	struct kvs_counts c;
	struct kvs_found f;
	unsigned int i;
	char key[16];
	struct rig r;

	make.overflow = 4;
	rig_make(&r, directory, "slots", &make);
	for (i = 0; i < 3 * KVS_SLOTS; i++) {
		snprintf(key, sizeof(key), "%u", i);
		CHECK_EQ(rig_put(&r, key, &i, sizeof(i)), 0);
	}
	rig_check(&r, &c);
	CHECK_EQ(c.bad, 0);
	CHECK_EQ(c.longest, 3);
	for (i = 0; i < 3 * KVS_SLOTS; i++) {
		snprintf(key, sizeof(key), "%u", i);
		CHECK_EQ(rig_get(&r, key, &f), 0);
		CHECK(f.len == sizeof(i) && !memcmp(f.value, &i, sizeof(i)));
	}
	rig_close(&r);
}

/* --- Against a model ---------------------------------------------------------- */

#define KEYS	60

struct model {
	uint64_t version;	/* 0: not there */
	uint32_t seed;
	uint32_t len;
};

static void value_of(unsigned char *value, const struct model *m)
{
	uint32_t i;

	for (i = 0; i < m->len; i++)
		value[i] = (unsigned char)(m->seed * (i + 1) >> 7);
}

static void compare(struct rig *r, const char *key, const struct model *m)
{
	unsigned char value[KVS_VALUE_MAX];
	struct kvs_found f;

	if (!m->version) {
		CHECK_EQ(rig_get(r, key, &f), ENOENT);
		return;
	}
	CHECK_EQ(rig_get(r, key, &f), 0);
	CHECK_EQ(f.version, m->version);
	CHECK_EQ(f.len, m->len);
	value_of(value, m);
	CHECK(!memcmp(f.value, value, f.len));
}

static void test_model(const struct kvs_make *make, uint64_t seed, unsigned int steps)
{
	struct model model[KEYS] = { 0 };
	unsigned char value[KVS_VALUE_MAX];
	unsigned int i, k, full = 0;
	char key[200];
	struct rig r;

	rig_make(&r, directory, "model", make);
	for (i = 0; i < steps; i++) {
		struct model *m;
		int error;

		k = (unsigned int)random_below(&seed, KEYS);
		m = &model[k];
		/* Keys of several lengths. */
		snprintf(key, sizeof(key), "%0*u", (int)(1 + k * 3), k);
		switch (random_below(&seed, 8)) {
		case 0:
			error = rig_del(&r, key);
			CHECK_EQ(error, m->version ? 0 : ENOENT);
			memset(m, 0, sizeof(*m));
			break;
		case 1:
		case 2:
			compare(&r, key, m);
			break;
		default: {
			struct model new = {
				m->version + 1, random_u32(&seed),
				random_below(&seed, random_below(&seed, 4) ? 120 :
						   KVS_VALUE_MAX),
			};

			value_of(value, &new);
			error = rig_put(&r, key, value, new.len);
			if (error == ENOSPC)
				full++;
			else
				CHECK_EQ(error, 0);
			if (!error)
				*m = new;
		}
		}
		if (i % 64 == 0)
			rig_well(&r);
	}
	for (k = 0; k < KEYS; k++) {
		snprintf(key, sizeof(key), "%0*u", (int)(1 + k * 3), k);
		compare(&r, key, &model[k]);
	}
	rig_well(&r);
	/* The small ones must have been full at times. */
	CHECK(!full == (make->overflow > 60));
	rig_close(&r);
}

/* --- Several threads ---------------------------------------------------------- */

#define THREADS	4

struct worker {
	pthread_t thread;
	struct rig *r;
	unsigned int number;
	unsigned int rounds;
};

static int count(void *arg, struct kvs_change *c)
{
	uint64_t n = 0;

	(void)arg;
	if (c->old.version)
		memcpy(&n, c->old.value, sizeof(n));
	n++;
	CHECK_EQ(n, c->version);
	memcpy(c->value, &n, sizeof(n));
	c->len = sizeof(n);
	return 0;
}

static void *count_up(void *arg)
{
	struct worker *w = arg;
	struct kvs_thread t;
	unsigned int i;
	char key[16];

	CHECK_EQ(kvs_thread_begin(w->r->k, &t), 0);
	for (i = 0; i < w->rounds; i++) {
		snprintf(key, sizeof(key), "%u", i % 7);
		CHECK_EQ(kvs_change(&t, key, strlen(key), count, NULL), 0);
	}
	kvs_thread_end(&t);
	return NULL;
}

static void test_threads(const struct kvs_lock_ops *ops)
{
	struct kvs_make make = { .locks = ops, .buckets = 4 };
	struct worker w[THREADS];
	struct kvs_found f;
	uint64_t sum = 0, n;
	struct kvs_counts c;
	unsigned int i;
	char key[16];
	struct rig r;

	rig_make(&r, directory, "threads", &make);
	for (i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ .r = &r, .number = i, .rounds = 7000 };
		CHECK(!pthread_create(&w[i].thread, NULL, count_up, &w[i]));
	}
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(w[i].thread, NULL));
	for (i = 0; i < 7; i++) {
		snprintf(key, sizeof(key), "%u", i);
		CHECK_EQ(rig_get(&r, key, &f), 0);
		memcpy(&n, f.value, sizeof(n));
		sum += n;
	}
	CHECK_EQ(sum, THREADS * 7000);
	rig_check(&r, &c);
	CHECK_EQ(c.bad, 0);
	CHECK_EQ(c.versions, THREADS * 7000);
	rig_close(&r);
}

/* --- Sessions, files ---------------------------------------------------------- */

static void test_sessions(void)
{
	struct kvs_make make = { .locks = &kvs_locks_pthread, .buckets = 1, .sessions = 2 };
	static struct kvs_thread threads[KVS_LINES + 1];
	struct rig a, b, c;
	unsigned int i;
	pid_t pid;

	rig_make(&a, directory, "sessions", &make);
	strcpy(b.path, a.path);
	strcpy(c.path, a.path);
	rig_open(&b);
	CHECK(a.t.writer != b.t.writer);
	CHECK_EQ(kvs_open(c.path, &c.k), 0);
	CHECK_EQ(kvs_session_begin(c.k, -1), EUSERS);
	rig_close(&b);
	CHECK_EQ(kvs_session_begin(c.k, -1), 0);
	CHECK_EQ(kvs_session_end(c.k), 0);
	kvs_close(c.k);
	for (i = 1; i < KVS_LINES; i++)
		CHECK_EQ(kvs_thread_begin(a.k, &threads[i]), 0);
	CHECK_EQ(kvs_thread_begin(a.k, &threads[0]), EAGAIN);
	kvs_thread_end(&threads[5]);
	CHECK_EQ(kvs_thread_begin(a.k, &threads[0]), 0);
	for (i = 0; i < KVS_LINES; i++)
		if (i != 5)
			kvs_thread_end(&threads[i]);
	/* One dies; who knows that may take its place, or all are declared dead. */
	CHILD(pid, rig_open(&b); CHECK_EQ(rig_put(&b, "a", "b", 1), 0); _exit(0));
	child_ok(pid);
	CHECK_EQ(kvs_open(b.path, &b.k), 0);
	CHECK_EQ(kvs_session_begin(b.k, -1), EUSERS);
	CHECK_EQ(kvs_session_begin(b.k, 1), 0);
	CHECK_EQ(kvs_thread_begin(b.k, &b.t), 0);
	CHECK_EQ(rig_put(&b, "a", "c", 1), 0);
	rig_well(&a);
	rig_close(&b);
	rig_close(&a);
}

static void test_settle(void)
{
	struct kvs_make make = { .locks = &kvs_locks_pthread, .buckets = 1 };
	struct kvs_counts c;
	struct rig r;

	rig_make(&r, directory, "settle", &make);
	CHECK_EQ(rig_put(&r, "a", "b", 1), 0);
	CHECK_EQ(rig_put(&r, "b", "b", 1), 0);
	CHECK_EQ(rig_put(&r, "b", "c", 1), 0);
	CHECK_EQ(rig_del(&r, "a"), 0);
	/* As if killed before a put, and before a key was taken away. */
	r.t.line->puts_begun++;
	r.t.line->added_begun++;
	r.t.line->removed_begun++;
	r.t.line->erased_begun += 2;
	rig_check(&r, &c);
	CHECK_EQ(c.bad, 0);
	CHECK_EQ(c.versions, 2);
	CHECK_EQ(c.puts_min, 0);
	CHECK_EQ(c.puts_max, 3);
	CHECK_EQ(c.entries_min, 0);
	CHECK_EQ(c.entries_max, 2);
	CHECK_EQ(kvs_check(r.k, true, &c, rig_say, NULL), 0);
	CHECK_EQ(c.bad, 0);
	rig_check(&r, &c);
	CHECK_EQ(c.bad, 0);
	CHECK_EQ(c.puts_min, 2);
	CHECK_EQ(c.puts_max, 2);
	CHECK_EQ(c.entries_min, 1);
	CHECK_EQ(c.entries_max, 1);
	CHECK_EQ(c.sessions, 0);
	CHECK_EQ(rig_put(&r, "a", "b", 1), 0);
	rig_well(&r);
	rig_close(&r);
}

static void write_at(const char *path, off_t at, const void *bytes, size_t len)
{
	int fd = open(path, O_RDWR);

	CHECK(fd >= 0);
	CHECK_EQ(pwrite(fd, bytes, len, at), len);
	close(fd);
}

static void test_files(void)
{
	struct kvs_make make = { .locks = &kvs_locks_pthread, .buckets = 3 };
	char path[128], outside[FOLDER_MAX], byte;
	struct stat st;
	struct kvs *k;
	int fd;

	snprintf(path, sizeof(path), "%s/files", directory);
	CHECK_EQ(kvs_create(path, &make), EINVAL);
	CHECK(access(path, F_OK));
	make.buckets = 4;
	make.block = 5000;
	CHECK_EQ(kvs_create(path, &make), EINVAL);
	make.block = 65536;
	CHECK_EQ(kvs_create(path, &make), 0);
	CHECK_EQ(kvs_create(path, &make), EEXIST);
	CHECK_EQ(kvs_open(path, &k), 0);
	CHECK_EQ(k->g.block, 65536);
	kvs_close(k);
	CHECK(!stat(path, &st));
	CHECK(!truncate(path, st.st_size - 1));
	CHECK_EQ(kvs_open(path, &k), KVS_DAMAGED);
	CHECK(!truncate(path, st.st_size));
	CHECK_EQ(kvs_open(path, &k), 0);
	kvs_close(k);
	/* One bit of the geometry. */
	fd = open(path, O_RDONLY);
	CHECK_EQ(pread(fd, &byte, 1, KVS_LOCK_ROOM + 16 + 9), 1);
	close(fd);
	byte ^= 1;
	write_at(path, KVS_LOCK_ROOM + 16 + 9, &byte, 1);
	CHECK_EQ(kvs_open(path, &k), KVS_DAMAGED);
	byte ^= 1;
	write_at(path, KVS_LOCK_ROOM + 16 + 9, &byte, 1);
	write_at(path, KVS_LOCK_ROOM, "x", 1);
	CHECK_EQ(kvs_open(path, &k), EINVAL);
	CHECK(!truncate(path, 0));
	CHECK_EQ(kvs_open(path, &k), EINVAL);
	unlink(path);
	CHECK_EQ(kvs_open(path, &k), ENOENT);
	/* Kinds of locks that nobody knows here. */
	make.locks = NONE;
	CHECK_EQ(kvs_create(path, &make), 0);
	CHECK_EQ(kvs_open(path, &k), EINVAL);
	CHECK(strstr(kvs_why(), "--lock-library"));
	unlink(path);

	/* Not on a weft. */
	snprintf(outside, sizeof(outside), "%s/weft-kvs-XXXXXX", folder_in_memory());
	close(mkstemp(outside));
	unlink(outside);
	make.locks = NULL;
	CHECK_EQ(kvs_create(outside, &make), EINVAL);
	CHECK(strstr(kvs_why(), "mounted weft"));
	CHECK(access(outside, F_OK));
}

/* Locks with their own area; the library is the one of the tests. */
static void test_big(void)
{
	const char *library = getenv("KVS_LOCKS");
	struct kvs_make make = { .buckets = 8 };

	if (!library)
		return;
	CHECK(kvs_locks_load("/nonexistent.so"));
	CHECK(!kvs_locks_load(library));
	CHECK(strstr(kvs_locks_load(library), "taken"));
	make.locks = kvs_locks_find("big");
	CHECK(make.locks);
	test_basics(make.locks);
	test_threads(make.locks);
	make.overflow = 100;
	test_model(&make, 5, 5000);
}

int main(void)
{
	const struct kvs_lock_ops *kinds[] = {
		&kvs_locks_weft, &kvs_locks_pthread, &kvs_locks_spin,
	};
	struct kvs_make make;
	unsigned int i;

	alarm(100 * check_scale());
	folder_make(directory, sizeof(directory), folder_in_memory(), "kvs");
	fake_begin(directory);
	for (i = 0; i < 3; i++) {
		test_basics(kinds[i]);
		test_threads(kinds[i]);
	}
	test_refused();
	test_growth();
	test_longest();
	test_slots();
	make = (struct kvs_make){ .locks = &kvs_locks_weft, .buckets = 8, .overflow = 100 };
	test_model(&make, 1, 20000);
	make.bucket_blocks = 2;
	test_model(&make, 2, 20000);
	make = (struct kvs_make){ .locks = &kvs_locks_pthread, .buckets = 1, .overflow = 16 };
	test_model(&make, 3, 20000);
	make.block = 16384;
	make.overflow = 64;
	test_model(&make, 4, 20000);
	test_sessions();
	test_settle();
	test_files();
	test_big();
	return check_result();
}
