// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kinds of locks: those of libweft, and POSIX ones.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/libweft/lock.h"
#include "locks.h"

/* --- libweft ------------------------------------------------------------------ */

static int weft_init(void *lock, void *guarded, size_t size)
{
	struct weft_range range = { guarded, size };

	return weft_rwlock_init(lock, &range, size ? 1 : 0);
}

/* What a client left half changed is found by whoever looks at the bucket, and mended. */
static int weft_rdlock(void *lock)
{
	int error = weft_rwlock_rdlock(lock);

	return error == EOWNERDEAD ? 0 : error;
}

static int weft_wrlock(void *lock)
{
	int error = weft_rwlock_wrlock(lock);

	return error == EOWNERDEAD ? weft_rwlock_consistent(lock) : error;
}

static int weft_unlock(void *lock)
{
	return weft_rwlock_unlock(lock);
}

const struct kvs_lock_ops kvs_locks_weft = {
	.name = "weft", .about = "libweft: FILE is on a mounted weft", .robust = true,
	.init = weft_init, .rdlock = weft_rdlock, .wrlock = weft_wrlock,
	.unlock = weft_unlock,
};

/* --- POSIX -------------------------------------------------------------------- */

static int posix_format(void *lock)
{
	pthread_rwlockattr_t attr;
	int error = pthread_rwlockattr_init(&attr);

	if (error)
		return error;
	error = pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (!error)
		error = pthread_rwlock_init(lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	return error;
}

static int posix_rdlock(void *lock)
{
	return pthread_rwlock_rdlock(lock);
}

static int posix_wrlock(void *lock)
{
	return pthread_rwlock_wrlock(lock);
}

static int posix_unlock(void *lock)
{
	return pthread_rwlock_unlock(lock);
}

/* With libweft-preload it is robust, but whether that is there nobody tells. */
const struct kvs_lock_ops kvs_locks_pthread = {
	.name = "pthread", .size = sizeof(pthread_rwlock_t),
	.about = "pthread_rwlock_t: one machine, or with libweft-preload.so",
	.format = posix_format, .rdlock = posix_rdlock, .wrlock = posix_wrlock,
	.unlock = posix_unlock,
};

/*
 * The C library's lock puts who waits to sleep on a futex, which nobody on another
 * machine wakes.  Its memory is coherent, though: so it is tried again and again.
 * After some tries the thread sleeps in between, as the holder may need this very
 * processor, and the fewer look, the sooner it gets its page back.
 */
#define SPINS		64
#define PAUSE_MIN	2000	/* nanoseconds */
#define PAUSE_MAX	256000

static int spin(int (*try)(pthread_rwlock_t *lock), void *lock)
{
	struct timespec pause = { 0, PAUSE_MIN };
	unsigned int tries = 0;
	int error;

	while ((error = try(lock)) == EBUSY) {
		if (++tries < SPINS) {
			__builtin_ia32_pause();
			continue;
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_MAX)
			pause.tv_nsec *= 2;
	}
	return error;
}

static int spin_rdlock(void *lock)
{
	return spin(pthread_rwlock_tryrdlock, lock);
}

static int spin_wrlock(void *lock)
{
	return spin(pthread_rwlock_trywrlock, lock);
}

const struct kvs_lock_ops kvs_locks_spin = {
	.name = "spin", .size = sizeof(pthread_rwlock_t),
	.about = "pthread_rwlock_t in coherent memory, tried until it is had",
	.format = posix_format, .rdlock = spin_rdlock, .wrlock = spin_wrlock,
	.unlock = posix_unlock,
};

/* --- All of them -------------------------------------------------------------- */

static const struct kvs_lock_ops *kinds[16] = {
	&kvs_locks_weft, &kvs_locks_pthread, &kvs_locks_spin,
};

#define N_KINDS	(sizeof(kinds) / sizeof(kinds[0]))

const struct kvs_lock_ops *kvs_locks_list(unsigned int i)
{
	return i < N_KINDS ? kinds[i] : NULL;
}

const struct kvs_lock_ops *kvs_locks_find(const char *name)
{
	const struct kvs_lock_ops *ops;
	unsigned int i;

	for (i = 0; (ops = kvs_locks_list(i)); i++)
		if (!strcmp(ops->name, name))
			return ops;
	return NULL;
}

const char *kvs_locks_load(const char *file)
{
	const struct kvs_lock_ops *const *more;
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	unsigned int n = 0, i;

	if (!library)
		return dlerror();
	more = dlsym(library, "kvs_locks");
	if (!more)
		return dlerror();
	while (kvs_locks_list(n))
		n++;
	for (i = 0; more[i]; i++) {
		if (!more[i]->name || strlen(more[i]->name) > 31 || !more[i]->rdlock ||
		    !more[i]->wrlock || !more[i]->unlock)
			return "kvs_locks has an entry without a name of up to 31 characters, or without a function that takes or leaves a lock";
		if (kvs_locks_find(more[i]->name))
			return "it has a kind of locks whose name is taken";
		if (n == N_KINDS - 1)
			return "there are too many kinds of locks already";
		kinds[n++] = more[i];
	}
	return NULL;
}
