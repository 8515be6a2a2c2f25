// SPDX-License-Identifier: GPL-2.0-only
/*
 * pthread_mutex_*(): inside regions the lock of weft of that place, taken to
 * write; elsewhere the C library's.
 *
 * The mutex says in its own memory, where the C library does too, what kind it is:
 * plain zeros are a normal one.  That is read by who has taken it, so that those
 * who wait do not draw the page away.  Who owns it, and how often, is known here
 * only (weft_holder()).
 *
 * A robust one also says who owns it, from when it is taken until just before it
 * is left.  Who takes it and finds an owner knows that this owner died: then it
 * was the kernel that left it.  If the owner's machine died the mutex's memory may be
 * older than that, and say that nobody owns it: but the lock says so then (weft_died()).
 * Of a death that was told the mutex's memory takes note, so the lock need not any more.
 *
 * What goes past this library, as a program without it, finds in that memory a mutex that
 * somebody else has (TAKEN), from the first time on that it was initialised or taken here: it
 * gets EBUSY, or waits, and changes the word by that, which is told by who takes it here next.
 */
#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "next.h"
#include "tools/libweft/internal.h"

/* Of __kind, as in the C library: the type is in the lowest bits. */
#define KIND_TYPE	3
#define KIND_ROBUST	16
#define KIND_PI		32
#define KIND_PP		64
#define KIND_SHARED	128

/* Of __owner; anything but 0 and these is a thread. */
#define INCONSISTENT	INT_MAX
#define NOT_RECOVERABLE	(INT_MAX - 1)

/*
 * Of __lock: of a thread that there is not, whatever kind it is, and nobody waits.  And of
 * __nusers, as long as nobody has had it past us since.
 */
#define TAKEN		0x37656674

static int word_of(const pthread_mutex_t *m)
{
	return __atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED);
}

static int kind_of(const pthread_mutex_t *m)
{
	return __atomic_load_n(&m->__data.__kind, __ATOMIC_RELAXED);
}

static int owner_of(const pthread_mutex_t *m)
{
	return __atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED);
}

static void set_owner(pthread_mutex_t *m, int owner)
{
	__atomic_store_n(&m->__data.__owner, owner, __ATOMIC_RELAXED);
}

/* --- Robust mutexes -------------------------------------------------------------- */

/* This thread has taken a robust mutex.  What it was left as?  @died: as the lock says */
WEFT_SLOW int robust_taken(pthread_mutex_t *m, struct weft_thread *t, struct weft_ref *r,
			   bool died)
{
	int owner = owner_of(m), error;

	if (owner == NOT_RECOVERABLE) {
		if (died)
			weft_mend(r);
		weft_write_leave(r);
		return ENOTRECOVERABLE;
	}
	/* For when the thread ends with it. */
	if (t->n_robust == t->robust_room) {
		error = weft_room(&t->robust, &t->robust_room, NULL, t->n_robust,
				  sizeof(*t->robust));
		if (error) {
			weft_write_leave(r);
			return EAGAIN;
		}
	}
	t->robust[t->n_robust++] = *r;
	atomic_fetch_or_explicit(weft_holder(r), WEFT_HOLDER_ROBUST, memory_order_relaxed);
	died |= owner != 0;
	set_owner(m, died ? INCONSISTENT : (int)t->tid);
	if (died && weft_died(r))
		weft_mend(r);
	return died ? EOWNERDEAD : 0;
}

/* It is about to be left. */
static void robust_leaving(pthread_mutex_t *m, struct weft_thread *t, struct weft_ref *r)
{
	uint32_t i = t->n_robust;

	set_owner(m, owner_of(m) == INCONSISTENT ? NOT_RECOVERABLE : 0);
	while (i--) {
		if (weft_holder(&t->robust[i]) != weft_holder(r))
			continue;
		t->robust[i] = t->robust[--t->n_robust];
		break;
	}
}

/* --- What goes past us ------------------------------------------------------------- */

static void set_taken(pthread_mutex_t *m)
{
	m->__data.__nusers = TAKEN;
	__atomic_store_n(&m->__data.__lock, TAKEN, __ATOMIC_RELAXED);
}

/*
 * The lock has been taken, but the mutex's memory does not say so to others yet.  Who has it
 * past us is waited for.  0, or why it was left again.
 */
WEFT_SLOW int claim(pthread_mutex_t *m, struct weft_ref *r, unsigned int flags, clockid_t clock,
		    const struct timespec *deadline)
{
	static _Atomic bool said;
	struct weft_await await = { .clock = clock, .deadline = deadline };
	int found = 0, error = 0;

	while (!__atomic_compare_exchange_n(&m->__data.__lock, &found, TAKEN, false,
					    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) &&
	       found != TAKEN) {
		weft_complain(&said, "weft: a mutex in a region is used by something that goes past libweft-preload.so (a program without it, or linked statically, or a plugin in a namespace of its own): that does not get it any more, and is waited for if it has it");
		/* It could not have got it, so it only waits. */
		if (m->__data.__nusers == TAKEN)
			break;
		/* Nobody tells us when that leaves it. */
		error = flags & WEFT_LOCK_TRY ? EBUSY : weft_await(&await);
		if (error && error != EINTR) {
			weft_write_leave(r);
			return error;
		}
		found = 0;
	}
	set_taken(m);
	return 0;
}

/* --- Taking ------------------------------------------------------------------------ */

static __always_inline int taken(pthread_mutex_t *m, struct weft_thread *t, struct weft_ref *r,
				 unsigned int flags, clockid_t clock,
				 const struct timespec *deadline)
{
	int error;

	if (unlikely(word_of(m) != TAKEN)) {
		error = claim(m, r, flags, clock, deadline);
		if (error)
			return error;
	}
	return unlikely(kind_of(m) & KIND_ROBUST) ? robust_taken(m, t, r, false) : 0;
}

/* The same by way of the kernel, which said @error: 0, or EOWNERDEAD. */
static int taken_slowly(pthread_mutex_t *m, struct weft_thread *t, struct weft_ref *r,
			int error, unsigned int flags, clockid_t clock,
			const struct timespec *deadline)
{
	int past = word_of(m) == TAKEN ? 0 : claim(m, r, flags, clock, deadline);

	if (past)
		return past;
	if (kind_of(m) & KIND_ROBUST)
		return robust_taken(m, t, r, error);
	return weft_pass(m, error, WEFT_LOCK_WRITE, flags, clock, deadline);
}

/* The thread has it.  -1: it may wait for itself. */
static int take_again(pthread_mutex_t *m, struct weft_ref *r, unsigned int flags)
{
	_Atomic uint64_t *holder = weft_holder(r);

	switch (kind_of(m) & KIND_TYPE) {
	case PTHREAD_MUTEX_RECURSIVE:
		if ((atomic_load_explicit(holder, memory_order_relaxed) & WEFT_HOLDER_DEPTH) ==
		    WEFT_HOLDER_DEPTH)
			return EAGAIN;
		atomic_fetch_add_explicit(holder, WEFT_HOLDER_AGAIN, memory_order_relaxed);
		return 0;
	case PTHREAD_MUTEX_ERRORCHECK:
		return flags & WEFT_LOCK_TRY ? EBUSY : EDEADLK;
	default:
		return flags & WEFT_LOCK_TRY ? EBUSY : -1;
	}
}

/* ENOENT: it is not inside a region. */
WEFT_SLOW int take(pthread_mutex_t *m, unsigned int flags, clockid_t clock,
	      const struct timespec *deadline)
{
	struct weft_thread *t;
	struct weft_ref *r;
	int error = weft_find_for(m, &t, &r, flags, clock, deadline);

	if (error)
		return error;
	if (deadline && !weft_is_clock(clock))
		return EINVAL;
	if (weft_write_now(t, r))
		return taken(m, t, r, flags, clock, deadline);
	if (weft_write_mine(t, r)) {
		error = take_again(m, r, flags);
		if (error >= 0)
			return error;
	}
	if (deadline && weft_no_time(deadline))
		return EINVAL;
	error = weft_write_wait(t, r, flags, clock, deadline);
	if (error && error != EOWNERDEAD)
		return error;
	return taken_slowly(m, t, r, error, flags, clock, deadline);
}

WEFT_SLOW int near_take(pthread_mutex_t *m)
{
	int error = take(m, 0, 0, NULL);

	return error == ENOENT ? weft_next(pthread_mutex_lock)(m) : error;
}

WEFT_SHIM WEFT_HOT_FIRST int pthread_mutex_lock(pthread_mutex_t *m)
{
	struct weft_thread *t;
	struct weft_ref *r;

	if (likely(!weft_near(m)))
		return weft_next(pthread_mutex_lock)(m);
	t = weft_self;
	r = weft_cached(m, t);
	if (likely(r) && likely(weft_write_quick(t, r)))
		return taken(m, t, r, 0, 0, NULL);
	return near_take(m);
}
WEFT_OLDER(pthread_mutex_lock);

WEFT_SHIM int pthread_mutex_trylock(pthread_mutex_t *m)
{
	int error = weft_near(m) ? take(m, WEFT_LOCK_TRY, 0, NULL) : ENOENT;

	return error == ENOENT ? weft_next(pthread_mutex_trylock)(m) : error;
}
WEFT_OLDER(pthread_mutex_trylock);

WEFT_SHIM int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *deadline)
{
	int error = weft_near(m) ? take(m, 0, CLOCK_REALTIME, deadline) : ENOENT;

	return error == ENOENT ? weft_next(pthread_mutex_timedlock)(m, deadline) : error;
}

WEFT_SHIM int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				      const struct timespec *deadline)
{
	int error = weft_near(m) ? take(m, 0, clock, deadline) : ENOENT;

	return error == ENOENT ? weft_next(pthread_mutex_clocklock)(m, clock, deadline) : error;
}

/* --- Leaving ------------------------------------------------------------------------- */

/*
 * Not the owner.  A normal mutex may be left by any thread of the process that has
 * it: POSIX does not say so, but the C library's can be, and programs do.
 */
static int leave_other(pthread_mutex_t *m, struct weft_ref *r)
{
	int kind;

	if (!weft_write_ours(r))
		return EPERM;
	kind = kind_of(m);
	if (kind & KIND_ROBUST || (kind & KIND_TYPE) == PTHREAD_MUTEX_RECURSIVE ||
	    (kind & KIND_TYPE) == PTHREAD_MUTEX_ERRORCHECK)
		return EPERM;
	return weft_write_leave(r);
}

WEFT_SLOW int leave(pthread_mutex_t *m)
{
	struct weft_thread *t;
	struct weft_ref *r;
	int error = weft_find(m, &t, &r);
	uint64_t holder;

	if (error)
		return error == ENOENT ? weft_next(pthread_mutex_unlock)(m) : error;
	if (!weft_write_mine(t, r))
		return leave_other(m, r);
	holder = atomic_load_explicit(weft_holder(r), memory_order_relaxed);
	if (holder & WEFT_HOLDER_DEPTH) {
		atomic_fetch_sub_explicit(weft_holder(r), WEFT_HOLDER_AGAIN, memory_order_relaxed);
		return 0;
	}
	if (holder & WEFT_HOLDER_ROBUST)
		robust_leaving(m, t, r);
	return weft_write_leave(r);
}

WEFT_SHIM WEFT_HOT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	struct weft_thread *t;
	struct weft_ref *r;

	if (likely(!weft_near(m)))
		return weft_next(pthread_mutex_unlock)(m);
	t = weft_self;
	r = weft_cached(m, t);
	/* Not again, and not robust. */
	if (likely(r) && likely(atomic_load_explicit((_Atomic uint64_t *)&r->word->holder,
						     memory_order_relaxed) == t->tid) &&
	    likely(weft_write_ours(r)))
		return weft_write_left(r);
	return leave(m);
}
WEFT_OLDER(pthread_mutex_unlock);

/*
 * Its memory says that it is robust.  If the machine that wrote that dies, what it had
 * modified falls back to what the memory blade has: it is to have this.
 */
static void bring_home(pthread_mutex_t *m)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = (uintptr_t)m & -page;
	int saved = errno;

	/* Not through the C library: this is no cancellation point. */
	syscall(SYS_msync, begin, (uintptr_t)(m + 1) - begin, MS_SYNC);
	errno = saved;
}

/* --- All else -------------------------------------------------------------------------- */

WEFT_SHIM int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	static _Atomic bool said;
	int type = PTHREAD_MUTEX_NORMAL, robust = 0, protocol = PTHREAD_PRIO_NONE;

	if (!weft_inside(m))
		return weft_next(pthread_mutex_init)(m, attr);
	if (attr) {
		pthread_mutexattr_gettype(attr, &type);
		pthread_mutexattr_getrobust(attr, &robust);
		pthread_mutexattr_getprotocol(attr, &protocol);
	}
	if (protocol != PTHREAD_PRIO_NONE) {
		weft_complain(&said, "weft: a mutex in a region cannot inherit or protect priorities, as threads of several machines wait for it: initialise it without pthread_mutexattr_setprotocol()");
		return ENOTSUP;
	}
	*m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	m->__data.__kind = type | KIND_SHARED |
			   (robust == PTHREAD_MUTEX_ROBUST ? KIND_ROBUST : 0);
	set_taken(m);
	if (robust == PTHREAD_MUTEX_ROBUST)
		bring_home(m);
	return 0;
}
WEFT_OLDER(pthread_mutex_init);

WEFT_SHIM int pthread_mutex_destroy(pthread_mutex_t *m)
{
	if (!weft_inside(m))
		return weft_next(pthread_mutex_destroy)(m);
	return weft_held_here(m) ? EBUSY : 0;
}
WEFT_OLDER(pthread_mutex_destroy);

WEFT_SHIM int pthread_mutex_consistent(pthread_mutex_t *m)
{
	struct weft_thread *t;
	struct weft_ref *r;
	int error = weft_near(m) ? weft_find(m, &t, &r) : ENOENT;

	if (error)
		return error == ENOENT ? weft_next(pthread_mutex_consistent)(m) : error;
	if (!(kind_of(m) & KIND_ROBUST) || !weft_write_mine(t, r) || owner_of(m) != INCONSISTENT)
		return EINVAL;
	set_owner(m, (int)t->tid);
	return 0;
}

/* By this name programs called it that were compiled long ago; headers hide it. */
extern __typeof__(pthread_mutex_consistent) consistent_np __asm__("pthread_mutex_consistent_np")
	__attribute__((nothrow, leaf, visibility("default"), alias("pthread_mutex_consistent")));

/* No mutex in a region protects priorities. */
WEFT_SHIM int pthread_mutex_getprioceiling(const pthread_mutex_t *m, int *ceiling)
{
	return weft_inside(m) ? EINVAL : weft_next(pthread_mutex_getprioceiling)(m, ceiling);
}

WEFT_SHIM int pthread_mutex_setprioceiling(pthread_mutex_t *m, int ceiling, int *old)
{
	return weft_inside(m) ? EINVAL : weft_next(pthread_mutex_setprioceiling)(m, ceiling, old);
}
