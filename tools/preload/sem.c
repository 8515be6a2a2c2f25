// SPDX-License-Identifier: GPL-2.0-only
/*
 * sem_*() without a name: inside regions a count in coherent memory, which those
 * who wait look at; elsewhere the C library's.
 *
 * sem_post() is one atomic instruction and a look at a table, for it may be called
 * by signal handlers.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>

#include "next.h"
#include "tools/libweft/internal.h"

/* The value, where the C library has it too; zeros are a valid semaphore. */
static _Atomic uint32_t *value_of(sem_t *s)
{
	return (_Atomic uint32_t *)s;
}

static bool take(sem_t *s)
{
	_Atomic uint32_t *value = value_of(s);
	uint32_t v = atomic_load(value);

	while (v)
		if (atomic_compare_exchange_weak(value, &v, v - 1))
			return true;
	return false;
}

static void set_mask(void *mask)
{
	pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/*
 * Signals are let in only while it sleeps, so that none whose handler ran between
 * two looks is missed: it ends the waiting.
 */
static int wait_for(sem_t *s, clockid_t clock, const struct timespec *deadline)
{
	struct weft_nap nap = { .clock = clock, .deadline = deadline };
	sigset_t all, mask;

	pthread_testcancel();
	if (take(s))
		return 0;
	if (deadline && (weft_no_time(deadline) || !weft_is_clock(clock))) {
		errno = EINVAL;
		return -1;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	nap.mask = &mask;
	pthread_cleanup_push(set_mask, &mask);
	while (!nap.error && !take(s)) {
		pthread_testcancel();
		weft_nap(&nap);
	}
	pthread_cleanup_pop(1);
	if (!nap.error)
		return 0;
	errno = nap.error;
	return -1;
}

WEFT_SHIM int sem_wait(sem_t *s)
{
	return weft_inside(s) ? wait_for(s, 0, NULL) : weft_next(sem_wait)(s);
}

WEFT_SHIM int sem_timedwait(sem_t *s, const struct timespec *deadline)
{
	return weft_inside(s) ? wait_for(s, CLOCK_REALTIME, deadline) :
				weft_next(sem_timedwait)(s, deadline);
}

WEFT_SHIM int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *deadline)
{
	return weft_inside(s) ? wait_for(s, clock, deadline) :
				weft_next(sem_clockwait)(s, clock, deadline);
}

WEFT_SHIM int sem_trywait(sem_t *s)
{
	if (!weft_inside(s))
		return weft_next(sem_trywait)(s);
	if (take(s))
		return 0;
	errno = EAGAIN;
	return -1;
}

WEFT_SHIM int sem_post(sem_t *s)
{
	_Atomic uint32_t *value = value_of(s);
	uint32_t v;

	if (!weft_inside(s))
		return weft_next(sem_post)(s);
	v = atomic_load(value);
	do {
		if (v == SEM_VALUE_MAX) {
			errno = EOVERFLOW;
			return -1;
		}
	} while (!atomic_compare_exchange_weak(value, &v, v + 1));
	return 0;
}

WEFT_SHIM int sem_getvalue(sem_t *s, int *value)
{
	if (!weft_inside(s))
		return weft_next(sem_getvalue)(s, value);
	*value = (int)atomic_load(value_of(s));
	return 0;
}

WEFT_SHIM int sem_init(sem_t *s, int shared, unsigned int value)
{
	if (!weft_inside(s))
		return weft_next(sem_init)(s, shared, value);
	if (value > SEM_VALUE_MAX) {
		errno = EINVAL;
		return -1;
	}
	*s = (sem_t){ 0 };
	atomic_store(value_of(s), value);
	return 0;
}

WEFT_SHIM int sem_destroy(sem_t *s)
{
	return weft_inside(s) ? 0 : weft_next(sem_destroy)(s);
}
