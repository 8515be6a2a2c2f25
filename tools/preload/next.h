/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that the preload library stands before, and those behind it.
 */
#ifndef WEFT_PRELOAD_NEXT_H
#define WEFT_PRELOAD_NEXT_H

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/*
 * X(result, name, (parameters), (arguments)), in the order in which they are looked for: first
 * what malloc() may call, which dlsym() calls when it has not found another one.
 */
#define WEFT_NEXT(X)							\
	X(void *, mmap,							\
	  (void *a, size_t n, int p, int f, int d, off_t o), (a, n, p, f, d, o)) \
	X(int, munmap, (void *a, size_t n), (a, n))			\
	X(void *, mremap,						\
	  (void *a, size_t n, size_t m, int f, void *b), (a, n, m, f, b)) \
	X(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))		\
	X(int, pthread_mutex_trylock, (pthread_mutex_t *m), (m))	\
	X(int, pthread_mutex_unlock, (pthread_mutex_t *m), (m))		\
	X(int, pthread_rwlock_init,					\
	  (pthread_rwlock_t *l, const pthread_rwlockattr_t *a), (l, a))	\
	X(int, pthread_rwlock_destroy, (pthread_rwlock_t *l), (l))	\
	X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l))	\
	X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *l), (l))	\
	X(int, pthread_rwlock_timedrdlock,				\
	  (pthread_rwlock_t *l, const struct timespec *t), (l, t))	\
	X(int, pthread_rwlock_clockrdlock,				\
	  (pthread_rwlock_t *l, clockid_t c, const struct timespec *t), (l, c, t)) \
	X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l))	\
	X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *l), (l))	\
	X(int, pthread_rwlock_timedwrlock,				\
	  (pthread_rwlock_t *l, const struct timespec *t), (l, t))	\
	X(int, pthread_rwlock_clockwrlock,				\
	  (pthread_rwlock_t *l, clockid_t c, const struct timespec *t), (l, c, t)) \
	X(int, pthread_rwlock_unlock, (pthread_rwlock_t *l), (l))	\
	X(int, pthread_mutex_init,					\
	  (pthread_mutex_t *m, const pthread_mutexattr_t *a), (m, a))	\
	X(int, pthread_mutex_destroy, (pthread_mutex_t *m), (m))	\
	X(int, pthread_mutex_timedlock,					\
	  (pthread_mutex_t *m, const struct timespec *t), (m, t))	\
	X(int, pthread_mutex_clocklock,					\
	  (pthread_mutex_t *m, clockid_t c, const struct timespec *t), (m, c, t)) \
	X(int, pthread_mutex_consistent, (pthread_mutex_t *m), (m))	\
	X(int, pthread_mutex_getprioceiling,				\
	  (const pthread_mutex_t *m, int *c), (m, c))			\
	X(int, pthread_mutex_setprioceiling,				\
	  (pthread_mutex_t *m, int c, int *o), (m, c, o))		\
	X(int, pthread_cond_init,					\
	  (pthread_cond_t *c, const pthread_condattr_t *a), (c, a))	\
	X(int, pthread_cond_destroy, (pthread_cond_t *c), (c))		\
	X(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m)) \
	X(int, pthread_cond_timedwait,					\
	  (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t), (c, m, t)) \
	X(int, pthread_cond_clockwait,					\
	  (pthread_cond_t *c, pthread_mutex_t *m, clockid_t k,		\
	   const struct timespec *t), (c, m, k, t))			\
	X(int, pthread_cond_signal, (pthread_cond_t *c), (c))		\
	X(int, pthread_cond_broadcast, (pthread_cond_t *c), (c))	\
	X(int, pthread_barrier_init,					\
	  (pthread_barrier_t *b, const pthread_barrierattr_t *a, unsigned int n), (b, a, n)) \
	X(int, pthread_barrier_destroy, (pthread_barrier_t *b), (b))	\
	X(int, pthread_barrier_wait, (pthread_barrier_t *b), (b))	\
	X(int, sem_init, (sem_t *s, int p, unsigned int v), (s, p, v))	\
	X(int, sem_destroy, (sem_t *s), (s))				\
	X(int, sem_wait, (sem_t *s), (s))				\
	X(int, sem_trywait, (sem_t *s), (s))				\
	X(int, sem_timedwait, (sem_t *s, const struct timespec *t), (s, t)) \
	X(int, sem_clockwait,						\
	  (sem_t *s, clockid_t c, const struct timespec *t), (s, c, t))	\
	X(int, sem_post, (sem_t *s), (s))				\
	X(int, sem_getvalue, (sem_t *s, int *v), (s, v))		\
	X(int, mtx_init, (mtx_t *m, int t), (m, t))			\
	X(int, mtx_lock, (mtx_t *m), (m))				\
	X(int, mtx_trylock, (mtx_t *m), (m))				\
	X(int, mtx_timedlock, (mtx_t *m, const struct timespec *t), (m, t)) \
	X(int, mtx_unlock, (mtx_t *m), (m))				\
	X(int, cnd_init, (cnd_t *c), (c))				\
	X(int, cnd_wait, (cnd_t *c, mtx_t *m), (c, m))			\
	X(int, cnd_timedwait,						\
	  (cnd_t *c, mtx_t *m, const struct timespec *t), (c, m, t))	\
	X(int, cnd_signal, (cnd_t *c), (c))				\
	X(int, cnd_broadcast, (cnd_t *c), (c))				\
	X(void *, dlopen, (const char *f, int m), (f, m))		\
	X(int, close, (int d), (d))					\
	X(int, dup2, (int d, int e), (d, e))				\
	X(int, dup3, (int d, int e, int f), (d, e, f))			\
	X(int, close_range, (unsigned int d, unsigned int e, int f), (d, e, f))

enum {
#define X(result, name, parameters, arguments) WEFT_NEXT_##name,
	WEFT_NEXT(X)
#undef X
	WEFT_NEXT_COUNT
};

#pragma GCC visibility push(hidden)

extern void *weft_nexts[WEFT_NEXT_COUNT];

/* The one behind ours, of the type that headers give it. */
#define weft_next(name)	((__typeof__(name) *)weft_nexts[WEFT_NEXT_##name])

#define WEFT_DESTROY_MS	100	/* for those who were woken to look for the last time */

/* Is @address inside a region? */
bool weft_inside(const void *address);

#pragma GCC visibility pop

/* What programs see. */
#define WEFT_SHIM	__attribute__((visibility("default")))
#define WEFT_ALIAS(name, other)						\
	extern __typeof__(name) other					\
		__attribute__((nothrow, leaf, visibility("default"), alias(#name)))

/* The names that older libraries call. */
#define WEFT_OLDER(name)	WEFT_ALIAS(name, __##name)

/* Not inlined, so that the usual case needs no stack. */
#define WEFT_SLOW	static __attribute__((noinline))

#endif /* WEFT_PRELOAD_NEXT_H */
