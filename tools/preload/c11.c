// SPDX-License-Identifier: GPL-2.0-only
/*
 * mtx_*() and cnd_*() of C11: inside regions what pthread_mutex_*() and pthread_cond_*() are,
 * of which they have the memory; elsewhere the C library's, which calls its own of these, past us.
 * Destroying is left to it: it finds nobody there, and what it writes is for itself.
 */
#include <threads.h>

#include "next.h"
#include "tools/libweft/internal.h"

_Static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t), "it has to fit");
_Static_assert(sizeof(cnd_t) >= sizeof(pthread_cond_t), "it has to fit");

static pthread_mutex_t *mutex_of(mtx_t *m)
{
	return (pthread_mutex_t *)m;
}

static pthread_cond_t *cond_of(cnd_t *c)
{
	return (pthread_cond_t *)c;
}

static int result_of(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	case ENOMEM:
		return thrd_nomem;
	default:
		return thrd_error;
	}
}

WEFT_SHIM int mtx_init(mtx_t *m, int type)
{
	pthread_mutexattr_t attr;

	if (!weft_inside(m))
		return weft_next(mtx_init)(m, type);
	pthread_mutexattr_init(&attr);
	if (type & mtx_recursive)
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	return result_of(pthread_mutex_init(mutex_of(m), &attr));
}

WEFT_SHIM int mtx_lock(mtx_t *m)
{
	return weft_inside(m) ? result_of(pthread_mutex_lock(mutex_of(m))) :
				weft_next(mtx_lock)(m);
}

WEFT_SHIM int mtx_trylock(mtx_t *m)
{
	return weft_inside(m) ? result_of(pthread_mutex_trylock(mutex_of(m))) :
				weft_next(mtx_trylock)(m);
}

WEFT_SHIM int mtx_timedlock(mtx_t *m, const struct timespec *deadline)
{
	return weft_inside(m) ? result_of(pthread_mutex_timedlock(mutex_of(m), deadline)) :
				weft_next(mtx_timedlock)(m, deadline);
}

WEFT_SHIM int mtx_unlock(mtx_t *m)
{
	return weft_inside(m) ? result_of(pthread_mutex_unlock(mutex_of(m))) :
				weft_next(mtx_unlock)(m);
}

WEFT_SHIM int cnd_init(cnd_t *c)
{
	return weft_inside(c) ? result_of(pthread_cond_init(cond_of(c), NULL)) :
				weft_next(cnd_init)(c);
}

/* With a mutex inside it is refused, as of pthreads. */
WEFT_SHIM int cnd_wait(cnd_t *c, mtx_t *m)
{
	return weft_inside(c) || weft_inside(m) ?
		       result_of(pthread_cond_wait(cond_of(c), mutex_of(m))) :
		       weft_next(cnd_wait)(c, m);
}

WEFT_SHIM int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *deadline)
{
	return weft_inside(c) || weft_inside(m) ?
		       result_of(pthread_cond_timedwait(cond_of(c), mutex_of(m), deadline)) :
		       weft_next(cnd_timedwait)(c, m, deadline);
}

WEFT_SHIM int cnd_signal(cnd_t *c)
{
	return weft_inside(c) ? result_of(pthread_cond_signal(cond_of(c))) :
				weft_next(cnd_signal)(c);
}

WEFT_SHIM int cnd_broadcast(cnd_t *c)
{
	return weft_inside(c) ? result_of(pthread_cond_broadcast(cond_of(c))) :
				weft_next(cnd_broadcast)(c);
}
