// SPDX-License-Identifier: GPL-2.0-only
/* weft's own: a line of the coherence protocol, and the data with it. */
#include "lock.h"
#include "tools/libweft/lock.h"

static void must(const struct lock *l, const char *what, int error)
{
	if (error)
		node_die("lock %s: %s: %s", l->kind->name, what, strerror(error));
}

static size_t weft_size(const struct lock_place *p)
{
	(void)p;
	return NODE_PAGE;
}

static void weft_init(struct lock *l)
{
	struct weft_range range = { l->data, l->data_size };

	must(l, "weft_rwlock_init", weft_rwlock_init(l->at, &range, l->data_size != 0));
}

/* A lock of the same kind that does not say what it guards. */
static void bare_init(struct lock *l)
{
	must(l, "weft_rwlock_init", weft_rwlock_init(l->at, NULL, 0));
}

static void weft_rdlock(struct lock *l)
{
	must(l, "weft_rwlock_rdlock", weft_rwlock_rdlock(l->at));
}

static void weft_wrlock(struct lock *l)
{
	must(l, "weft_rwlock_wrlock", weft_rwlock_wrlock(l->at));
}

static void weft_unlock(struct lock *l)
{
	must(l, "weft_rwlock_unlock", weft_rwlock_unlock(l->at));
}

const struct lock_kind lock_weft = {
	.name = "weft",
	.what = "a line that can be held, which knows what it guards",
	.kernel = true,
	.size = weft_size,
	.init = weft_init,
	.rdlock = weft_rdlock,
	.wrlock = weft_wrlock,
	.unlock = weft_unlock,
};

const struct lock_kind lock_bare = {
	.name = "weft-bare",
	.what = "weft without ranges: what it guards is learnt, or comes by faults of its own",
	.kernel = true,
	.size = weft_size,
	.init = bare_init,
	.rdlock = weft_rdlock,
	.wrlock = weft_wrlock,
	.unlock = weft_unlock,
};
