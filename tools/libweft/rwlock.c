// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of <weft/lock.h> that take and leave locks.
 */
#include "lock.h"
#include "internal.h"

/* The lock, by the mappings that we were told of, or else those that there are. */
static int find(weft_rwlock_t *lock, struct weft_thread **t, struct weft_ref **r)
{
	int error = weft_find(lock, t, r);

	if (likely(!error))
		return 0;
	if (error != ENOENT)
		return error;
	error = weft_map_scan((uintptr_t)lock);
	if (!error)
		error = weft_find(lock, t, r);
	return error == ENOENT ? EINVAL : error;
}

/* Not inlined, so that the usual case needs no stack. */
static __attribute__((noinline)) int take_read(weft_rwlock_t *lock, unsigned int flags,
					       const struct timespec *deadline)
{
	struct weft_thread *t;
	struct weft_ref *r;
	int error;

	if (deadline && weft_no_time(deadline))
		return EINVAL;
	error = find(lock, &t, &r);
	if (error)
		return error;
	return weft_read(t, r, flags, CLOCK_REALTIME, deadline);
}

static __attribute__((noinline)) int take_write(weft_rwlock_t *lock, unsigned int flags,
						const struct timespec *deadline)
{
	struct weft_thread *t;
	struct weft_ref *r;
	int error;

	if (deadline && weft_no_time(deadline))
		return EINVAL;
	error = find(lock, &t, &r);
	if (error)
		return error;
	return weft_write(t, r, flags, CLOCK_REALTIME, deadline);
}

static __attribute__((noinline)) int leave(weft_rwlock_t *lock)
{
	struct weft_thread *t;
	struct weft_ref *r;
	int error = find(lock, &t, &r);

	return error ? error : weft_unlock_slow(t, r);
}

WEFT_HOT_FIRST int weft_rwlock_rdlock(weft_rwlock_t *lock)
{
	struct weft_thread *t = weft_self;
	struct weft_ref *r = weft_cached(lock, t);

	if (likely(r) && likely(weft_read_quick(t, r)))
		return 0;
	return take_read(lock, 0, NULL);
}

int weft_rwlock_tryrdlock(weft_rwlock_t *lock)
{
	return take_read(lock, WEFT_LOCK_TRY, NULL);
}

int weft_rwlock_timedrdlock(weft_rwlock_t *lock, const struct timespec *deadline)
{
	return take_read(lock, 0, deadline);
}

WEFT_HOT int weft_rwlock_wrlock(weft_rwlock_t *lock)
{
	struct weft_thread *t = weft_self;
	struct weft_ref *r = weft_cached(lock, t);

	if (likely(r) && likely(weft_write_quick(t, r)))
		return 0;
	return take_write(lock, 0, NULL);
}

int weft_rwlock_trywrlock(weft_rwlock_t *lock)
{
	return take_write(lock, WEFT_LOCK_TRY, NULL);
}

int weft_rwlock_timedwrlock(weft_rwlock_t *lock, const struct timespec *deadline)
{
	return take_write(lock, 0, deadline);
}

WEFT_HOT int weft_rwlock_unlock(weft_rwlock_t *lock)
{
	struct weft_thread *t = weft_self;
	struct weft_ref *r = weft_cached(lock, t);

	return likely(r) ? weft_unlock_quick(t, r) : leave(lock);
}
