// SPDX-License-Identifier: GPL-2.0-only
/*
 * sem_*() without a name: inside regions a count in coherent memory, and an eventcount for
 * those who wait; elsewhere the C library's.
 *
 * sem_post() is one atomic instruction, and if somebody waits a look at two tables and a
 * system call: it may be called by signal handlers, which run at no time when a
 * table is locked.
 */
#include <errno.h>
#include <limits.h>

#include "next.h"
#include "tools/libweft/internal.h"

/**
 * struct sem - what a sem_t in a region holds; zeros are a valid one
 * @value:	where the C library has it too
 * @waiting:	who waits; more, if some were killed
 */
struct sem {
	_Atomic uint32_t value;
	uint32_t unused[3];
	_Atomic uint32_t waiting;
};

_Static_assert(sizeof(struct sem) <= sizeof(sem_t), "it has to fit");

static _Atomic uint32_t *value_of(sem_t *s)
{
	return &((struct sem *)s)->value;
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

/* What has to be undone, also by who is cancelled. */
struct waiting {
	struct sem *sem;
	struct weft_await *await;
};

static void come_back(void *arg)
{
	struct waiting *w = arg;

	weft_await_end(w->await);
	atomic_fetch_sub(&w->sem->waiting, 1);
}

/* Returns why waiting has ended; 0: it has been taken. */
static int look(sem_t *s, struct weft_await *await)
{
	int error = 0;

	while (!error && !take(s)) {
		pthread_testcancel();
		error = weft_await(await);
	}
	return error;
}

/* The kernel knows which signals end it: those whose handlers do not restart calls. */
static int wait_for(sem_t *s, clockid_t clock, const struct timespec *deadline)
{
	struct weft_await await = { .clock = clock, .deadline = deadline, .cancellable = true };
	struct waiting w = { .sem = (struct sem *)s, .await = &await };
	int error;

	pthread_testcancel();
	if (take(s))
		return 0;
	if (deadline && (weft_no_time(deadline) || !weft_is_clock(clock))) {
		errno = EINVAL;
		return -1;
	}
	weft_await_begin(&await, s);
	atomic_fetch_add(&w.sem->waiting, 1);
	pthread_cleanup_push(come_back, &w);
	error = look(s, &await);
	pthread_cleanup_pop(1);
	if (!error)
		return 0;
	errno = error;
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
	if (atomic_load(&((struct sem *)s)->waiting))
		weft_advance(s);
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
