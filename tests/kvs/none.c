// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kinds of locks for tests, also as a shared object for --lock-library: one that
 * takes much memory, and one that does not lock.
 */
#include <errno.h>
#include <pthread.h>

#include "tools/kvs/locks.h"

static int nothing(void *lock)
{
	(void)lock;
	return 0;
}

static const struct kvs_lock_ops none = {
	.name = "none", .about = "does not lock: results are wrong", .robust = true,
	.rdlock = nothing, .wrlock = nothing, .unlock = nothing,
};

/* --- Of 5000 bytes, to stand in an area of its own ------------------------------ */

#define BIG	5000
#define MARK	0x77

static char *inside(void *lock)
{
	return (char *)lock + 4160;
}

static int big_format(void *lock)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	((char *)lock)[BIG - 1] = MARK;
	return pthread_rwlock_init((pthread_rwlock_t *)inside(lock), &attr);
}

/* It guards memory elsewhere, unless it is the header's. */
static int big_init(void *lock, void *guarded, size_t size)
{
	if (((char *)lock)[BIG - 1] != MARK)
		return EBADMSG;
	if (size && guarded == lock)
		return EBADF;
	return 0;
}

static int big_rdlock(void *lock)
{
	return pthread_rwlock_rdlock((pthread_rwlock_t *)inside(lock));
}

static int big_wrlock(void *lock)
{
	return pthread_rwlock_wrlock((pthread_rwlock_t *)inside(lock));
}

static int big_unlock(void *lock)
{
	return pthread_rwlock_unlock((pthread_rwlock_t *)inside(lock));
}

static const struct kvs_lock_ops big = {
	.name = "big", .about = "of 5000 bytes", .size = BIG,
	.format = big_format, .init = big_init, .rdlock = big_rdlock,
	.wrlock = big_wrlock, .unlock = big_unlock,
};

extern const struct kvs_lock_ops *const kvs_locks[];
const struct kvs_lock_ops *const kvs_locks[] = { &none, &big, NULL };
