/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the C library and those that the preload library puts before
 * them, to compare what they cost.
 */
#ifndef WEFT_TESTS_PRELOAD_BOTH_H
#define WEFT_TESTS_PRELOAD_BOTH_H

#include <dlfcn.h>
#include <pthread.h>

#include "tests/common/child.h"

enum { READ, WRITE, MUTEX, KINDS };

/* Each is called in the same way. */
struct functions {
	int (*read)(pthread_rwlock_t *l);
	int (*write)(pthread_rwlock_t *l);
	int (*unlock)(pthread_rwlock_t *l);
	int (*lock_mutex)(pthread_mutex_t *m);
	int (*unlock_mutex)(pthread_mutex_t *m);
};

static struct functions libc_own, shim;

static inline void find_function(void *to, void *handle, const char *name)
{
	void *p = dlsym(handle, name);

	CHECK(p);
	memcpy(to, &p, sizeof(p));
}

static inline void find_functions(struct functions *f, void *handle)
{
	find_function(&f->read, handle, "pthread_rwlock_rdlock");
	find_function(&f->write, handle, "pthread_rwlock_wrlock");
	find_function(&f->unlock, handle, "pthread_rwlock_unlock");
	find_function(&f->lock_mutex, handle, "pthread_mutex_lock");
	find_function(&f->unlock_mutex, handle, "pthread_mutex_unlock");
}

static inline void find_both(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);

	CHECK(libc);
	find_functions(&libc_own, libc);
	find_functions(&shim, RTLD_DEFAULT);
	CHECK(libc_own.read != shim.read);
}

#endif /* WEFT_TESTS_PRELOAD_BOTH_H */
