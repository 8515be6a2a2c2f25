// SPDX-License-Identifier: GPL-2.0-only
/*
 * pthread_rwlock_*(): inside regions a lock of weft, elsewhere the C library's.
 *
 * Attributes have no influence: inside a region all processes share it, a thread
 * may read-lock again what it has read-locked, and who asked first is first.  There
 * are no robust ones: that an owner died is passed over, or blocks, as the
 * region says (weft_pass()).
 */
#include "next.h"
#include "tools/libweft/internal.h"

/* ENOENT: it is not inside a region. */
static int take(pthread_rwlock_t *l, uint32_t mode, unsigned int flags, clockid_t clock,
		const struct timespec *deadline)
{
	if (!weft_near(l))
		return ENOENT;
	return weft_pass(l, weft_take(l, mode, flags, clock, deadline), mode, flags, clock,
			 deadline);
}

WEFT_SLOW int leave(pthread_rwlock_t *l)
{
	int error = weft_leave(l);

	return error == ENOENT ? weft_next(pthread_rwlock_unlock)(l) : error;
}

WEFT_SLOW int near_read(pthread_rwlock_t *l)
{
	int error = take(l, WEFT_LOCK_READ, 0, 0, NULL);

	return error == ENOENT ? weft_next(pthread_rwlock_rdlock)(l) : error;
}

WEFT_SLOW int near_write(pthread_rwlock_t *l)
{
	int error = take(l, WEFT_LOCK_WRITE, 0, 0, NULL);

	return error == ENOENT ? weft_next(pthread_rwlock_wrlock)(l) : error;
}

WEFT_SHIM WEFT_HOT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	if (likely(!weft_near(l)))
		return weft_next(pthread_rwlock_rdlock)(l);
	return weft_read_at_once(l) ? 0 : near_read(l);
}
WEFT_OLDER(pthread_rwlock_rdlock);

WEFT_SHIM WEFT_HOT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	if (likely(!weft_near(l)))
		return weft_next(pthread_rwlock_wrlock)(l);
	return weft_write_at_once(l) ? 0 : near_write(l);
}
WEFT_OLDER(pthread_rwlock_wrlock);

WEFT_SHIM WEFT_HOT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	struct weft_thread *t;
	struct weft_ref *r;

	if (likely(!weft_near(l)))
		return weft_next(pthread_rwlock_unlock)(l);
	t = weft_self;
	r = weft_cached(l, t);
	return likely(r) ? weft_unlock_quick(t, r) : leave(l);
}
WEFT_OLDER(pthread_rwlock_unlock);

WEFT_SHIM int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	int error = take(l, WEFT_LOCK_READ, WEFT_LOCK_TRY, 0, NULL);

	return error == ENOENT ? weft_next(pthread_rwlock_tryrdlock)(l) : error;
}
WEFT_OLDER(pthread_rwlock_tryrdlock);

WEFT_SHIM int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	int error = take(l, WEFT_LOCK_WRITE, WEFT_LOCK_TRY, 0, NULL);

	return error == ENOENT ? weft_next(pthread_rwlock_trywrlock)(l) : error;
}
WEFT_OLDER(pthread_rwlock_trywrlock);

WEFT_SHIM int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *deadline)
{
	int error = take(l, WEFT_LOCK_READ, 0, CLOCK_REALTIME, deadline);

	return error == ENOENT ? weft_next(pthread_rwlock_timedrdlock)(l, deadline) : error;
}

WEFT_SHIM int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *deadline)
{
	int error = take(l, WEFT_LOCK_WRITE, 0, CLOCK_REALTIME, deadline);

	return error == ENOENT ? weft_next(pthread_rwlock_timedwrlock)(l, deadline) : error;
}

WEFT_SHIM int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
					 const struct timespec *deadline)
{
	int error = take(l, WEFT_LOCK_READ, 0, clock, deadline);

	return error == ENOENT ? weft_next(pthread_rwlock_clockrdlock)(l, clock, deadline) : error;
}

WEFT_SHIM int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
					 const struct timespec *deadline)
{
	int error = take(l, WEFT_LOCK_WRITE, 0, clock, deadline);

	return error == ENOENT ? weft_next(pthread_rwlock_clockwrlock)(l, clock, deadline) : error;
}

/* Nothing is written where the lock stands: all memory is an unlocked lock. */
WEFT_SHIM int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *attr)
{
	return weft_inside(l) ? 0 : weft_next(pthread_rwlock_init)(l, attr);
}
WEFT_OLDER(pthread_rwlock_init);

/* Who holds it is not asked, as the C library does not. */
WEFT_SHIM int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	return weft_inside(l) ? 0 : weft_next(pthread_rwlock_destroy)(l);
}
WEFT_OLDER(pthread_rwlock_destroy);
