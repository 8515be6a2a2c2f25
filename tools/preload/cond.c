// SPDX-License-Identifier: GPL-2.0-only
/*
 * pthread_cond_*(): inside regions a count of signals in coherent memory, and an
 * eventcount for those who wait; elsewhere the C library's.
 *
 * Each signal wakes all, as POSIX lets it: so nobody who gave up waiting, or was
 * killed, can have taken a signal away with him.
 */
#include <errno.h>

#include "next.h"
#include "tools/common/clock.h"
#include "tools/libweft/internal.h"

/**
 * struct cond - what a pthread_cond_t in a region holds; zeros are a valid one
 * @signals:	grows with each signal and broadcast
 * @inside:	threads between their first look and their last one
 * @clock:	of pthread_cond_timedwait()
 */
struct cond {
	_Atomic uint64_t signals;
	_Atomic uint32_t inside;
	uint32_t clock;
};

_Static_assert(sizeof(struct cond) <= sizeof(pthread_cond_t), "it has to fit");

/**
 * struct waiting - what a thread that waits has to undo, also if it is cancelled
 * @c:		where it waits
 * @m:		to take again
 * @await:	how it waits
 * @taken:	what that returned
 * @error:	why it waits no more, 0: woken
 */
struct waiting {
	struct cond *c;
	pthread_mutex_t *m;
	struct weft_await *await;
	int taken;
	int error;
};

static void come_back(void *arg)
{
	struct waiting *w = arg;

	weft_await_end(w->await);
	atomic_fetch_sub(&w->c->inside, 1);
	w->taken = pthread_mutex_lock(w->m);
}

static int wait_for(pthread_cond_t *cond, pthread_mutex_t *m, clockid_t clock,
		    const struct timespec *deadline)
{
	struct weft_await await = { .clock = clock, .deadline = deadline, .cancellable = true };
	struct waiting w = { .c = (struct cond *)cond, .m = m, .await = &await };
	uint64_t signals;
	int left;

	if (deadline && (weft_no_time(deadline) || !weft_is_clock(clock)))
		return EINVAL;
	weft_await_begin(&await, cond);
	/* Who signals with the mutex locked comes after this. */
	signals = atomic_load(&w.c->signals);
	atomic_fetch_add(&w.c->inside, 1);
	left = pthread_mutex_unlock(m);
	if (left) {
		weft_await_end(&await);
		atomic_fetch_sub(&w.c->inside, 1);
		return left;
	}
	pthread_cleanup_push(come_back, &w);
	while (atomic_load(&w.c->signals) == signals && !w.error) {
		pthread_testcancel();
		w.error = weft_await(&await);
		if (w.error == EINTR)
			w.error = 0;
	}
	pthread_cleanup_pop(1);
	return w.taken ? w.taken : w.error;
}

/*
 * The C library would leave and take the mutex by itself, past us: then the lock
 * of the region stayed taken, and this machine alone would go by what is written
 * in the mutex.
 */
static bool is_mixed(pthread_mutex_t *m)
{
	static _Atomic bool said;

	if (likely(!weft_near(m)) || !weft_inside(m))
		return false;
	weft_complain(&said, "weft: a condition variable outside of regions cannot be waited for with a mutex in a region: put the condition variable into the region too");
	return true;
}

WEFT_SHIM int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	if (weft_inside(c))
		return wait_for(c, m, 0, NULL);
	return is_mixed(m) ? ENOTSUP : weft_next(pthread_cond_wait)(c, m);
}

WEFT_SHIM int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				     const struct timespec *deadline)
{
	if (weft_inside(c))
		return wait_for(c, m, (clockid_t)((struct cond *)c)->clock, deadline);
	return is_mixed(m) ? ENOTSUP : weft_next(pthread_cond_timedwait)(c, m, deadline);
}

WEFT_SHIM int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				     const struct timespec *deadline)
{
	if (weft_inside(c))
		return wait_for(c, m, clock, deadline);
	return is_mixed(m) ? ENOTSUP : weft_next(pthread_cond_clockwait)(c, m, clock, deadline);
}

static int wake_all(pthread_cond_t *cond)
{
	struct cond *c = (struct cond *)cond;

	atomic_fetch_add(&c->signals, 1);
	if (atomic_load(&c->inside))
		weft_advance(c);
	return 0;
}

WEFT_SHIM int pthread_cond_signal(pthread_cond_t *c)
{
	return weft_inside(c) ? wake_all(c) : weft_next(pthread_cond_signal)(c);
}

WEFT_SHIM int pthread_cond_broadcast(pthread_cond_t *c)
{
	return weft_inside(c) ? wake_all(c) : weft_next(pthread_cond_broadcast)(c);
}

WEFT_SHIM int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
	struct cond *c = (struct cond *)cond;
	clockid_t clock = CLOCK_REALTIME;

	if (!weft_inside(cond))
		return weft_next(pthread_cond_init)(cond, attr);
	if (attr)
		pthread_condattr_getclock(attr, &clock);
	*cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	c->clock = (uint32_t)clock;
	return 0;
}

/*
 * It may be destroyed as soon as all have been woken, and its memory be used for
 * something else: they get the time to look once more.  Who was killed while it
 * waited is not waited for.
 */
WEFT_SHIM int pthread_cond_destroy(pthread_cond_t *cond)
{
	struct cond *c = (struct cond *)cond;
	struct timespec deadline = clock_in_ms(CLOCK_MONOTONIC, WEFT_DESTROY_MS);
	struct weft_await await = { .clock = CLOCK_MONOTONIC, .deadline = &deadline };

	if (!weft_inside(cond))
		return weft_next(pthread_cond_destroy)(cond);
	/* Nobody tells us that one has left. */
	while (atomic_load(&c->inside) && weft_await(&await) != ETIMEDOUT)
		;
	return 0;
}
