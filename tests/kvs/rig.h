/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of the store share. */
#ifndef WEFT_TESTS_KVS_RIG_H
#define WEFT_TESTS_KVS_RIG_H

#include "tests/common/child.h"
#include "tests/common/folder.h"
#include "tools/kvs/kvs.h"

/* Of none.c. */
extern const struct kvs_lock_ops *const kvs_locks[];
#define NONE	kvs_locks[0]
#define BIG	kvs_locks[1]

struct rig {
	char path[128];
	struct kvs *k;
	struct kvs_thread t;
};

static inline void rig_open(struct rig *r)
{
	CHECK_EQ(kvs_open(r->path, &r->k), 0);
	CHECK_EQ(kvs_session_begin(r->k, -1), 0);
	CHECK_EQ(kvs_thread_begin(r->k, &r->t), 0);
}

static inline void rig_close(struct rig *r)
{
	kvs_thread_end(&r->t);
	CHECK_EQ(kvs_session_end(r->k), 0);
	kvs_close(r->k);
}

static inline void rig_make(struct rig *r, const char *directory, const char *name,
			    const struct kvs_make *make)
{
	snprintf(r->path, sizeof(r->path), "%s/%s", directory, name);
	unlink(r->path);
	CHECK_EQ(kvs_create(r->path, make), 0);
	rig_open(r);
}

/* What check has said last. */
static char rig_said[400];

static inline void rig_say(void *arg, const char *sentence)
{
	(void)arg;
	snprintf(rig_said, sizeof(rig_said), "%s", sentence);
}

/* How many things are wrong. */
static inline uint64_t rig_check(struct rig *r, struct kvs_counts *c)
{
	struct kvs_counts unused;

	c = c ? c : &unused;
	*rig_said = '\0';
	CHECK_EQ(kvs_check(r->k, false, c, rig_say, NULL), 0);
	return c->bad;
}

static inline void rig_well(struct rig *r)
{
	if (rig_check(r, NULL)) {
		fprintf(stderr, "not ok: %s\n", rig_said);
		_exit(1);
	}
}

static inline int rig_put(struct rig *r, const char *key, const void *value, size_t len)
{
	return kvs_put(&r->t, key, strlen(key), value, len);
}

static inline int rig_get(struct rig *r, const char *key, struct kvs_found *f)
{
	return kvs_get(&r->t, key, strlen(key), f);
}

static inline int rig_del(struct rig *r, const char *key)
{
	return kvs_del(&r->t, key, strlen(key));
}

#endif /* WEFT_TESTS_KVS_RIG_H */
