// SPDX-License-Identifier: GPL-2.0-only
/*
 * The C library's own lock, for what one node does alone; and the same calls where the preload
 * library makes a lock of all nodes of them, as in a program that knows nothing of that.
 */
#include <pthread.h>

#include "lock.h"

static void must(const struct lock *l, int error)
{
	if (error)
		node_die("lock %s: %s", l->kind->name, strerror(error));
}

static size_t glibc_size(const struct lock_place *p)
{
	(void)p;
	return NODE_PAGE;
}

static void glibc_init(struct lock *l)
{
	pthread_rwlockattr_t attr;

	must(l, pthread_rwlockattr_init(&attr));
	must(l, pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	must(l, pthread_rwlock_init(l->at, &attr));
}

static void glibc_rdlock(struct lock *l)
{
	must(l, pthread_rwlock_rdlock(l->at));
}

static void glibc_wrlock(struct lock *l)
{
	must(l, pthread_rwlock_wrlock(l->at));
}

static void glibc_unlock(struct lock *l)
{
	must(l, pthread_rwlock_unlock(l->at));
}

const struct lock_kind lock_glibc = {
	.name = "glibc",
	.what = "the C library's, process-shared; one node only",
	.size = glibc_size,
	.init = glibc_init,
	.rdlock = glibc_rdlock,
	.wrlock = glibc_wrlock,
	.unlock = glibc_unlock,
};

/* Zeros are unlocked, as with PTHREAD_RWLOCK_INITIALIZER. */
const struct lock_kind lock_pthread = {
	.name = "pthread",
	.what = "a pthread_rwlock_t, with LD_PRELOAD=libweft-preload.so",
	.kernel = true,
	.size = glibc_size,
	.rdlock = glibc_rdlock,
	.wrlock = glibc_wrlock,
	.unlock = glibc_unlock,
};
