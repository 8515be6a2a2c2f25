// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of <weft/lock.h> that take and leave locks.
 */
#include "lock.h"
#include "internal.h"

/*
 * What is not in the mappings that we were told of is looked for among those that
 * there are, and tried again.  Not inlined, so that the usual case needs no stack.
 */
static __attribute__((noinline)) int take(weft_rwlock_t *lock, uint32_t mode, unsigned int flags,
					  const struct timespec *deadline)
{
	int error = weft_take(lock, mode, flags, CLOCK_REALTIME, deadline);

	if (likely(error != ENOENT))
		return error;
	error = weft_map_scan((uintptr_t)lock);
	if (!error)
		error = weft_take(lock, mode, flags, CLOCK_REALTIME, deadline);
	return error == ENOENT ? EINVAL : error;
}

static __attribute__((noinline)) int leave(weft_rwlock_t *lock)
{
	int error = weft_leave(lock);

	if (likely(error != ENOENT))
		return error;
	error = weft_map_scan((uintptr_t)lock);
	if (!error)
		error = weft_leave(lock);
	return error == ENOENT ? EINVAL : error;
}

WEFT_HOT_FIRST int weft_rwlock_rdlock(weft_rwlock_t *lock)
{
	return weft_read_at_once(lock) ? 0 : take(lock, WEFT_LOCK_READ, 0, NULL);
}

int weft_rwlock_tryrdlock(weft_rwlock_t *lock)
{
	return take(lock, WEFT_LOCK_READ, WEFT_LOCK_TRY, NULL);
}

int weft_rwlock_timedrdlock(weft_rwlock_t *lock, const struct timespec *deadline)
{
	return take(lock, WEFT_LOCK_READ, 0, deadline);
}

WEFT_HOT int weft_rwlock_wrlock(weft_rwlock_t *lock)
{
	return weft_write_at_once(lock) ? 0 : take(lock, WEFT_LOCK_WRITE, 0, NULL);
}

int weft_rwlock_trywrlock(weft_rwlock_t *lock)
{
	return take(lock, WEFT_LOCK_WRITE, WEFT_LOCK_TRY, NULL);
}

int weft_rwlock_timedwrlock(weft_rwlock_t *lock, const struct timespec *deadline)
{
	return take(lock, WEFT_LOCK_WRITE, 0, deadline);
}

int weft_rwlock_consistent(weft_rwlock_t *lock)
{
	struct weft_thread *t;
	struct weft_ref *r;
	int error = weft_find(lock, &t, &r);

	if (error == ENOENT)
		return EINVAL;
	if (error)
		return error;
	/* Without a word here only the kernel knows whether it died. */
	if (!weft_write_mine(t, r) || (r->word && !weft_died(r)))
		return EINVAL;
	return weft_mend(r);
}

WEFT_HOT int weft_rwlock_unlock(weft_rwlock_t *lock)
{
	struct weft_thread *t = weft_self;
	struct weft_ref *r = weft_cached(lock, t);

	return likely(r) ? weft_unlock_quick(t, r) : leave(lock);
}
