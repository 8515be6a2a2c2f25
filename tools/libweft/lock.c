// SPDX-License-Identifier: GPL-2.0-only
/*
 * Taking and leaving locks when it is not one step: through the kernel, by
 * threads that have the lock already, by threads that never took it.
 */
#include <stdint.h>
#include <string.h>

#include "internal.h"

/* Not a time of day. */
bool weft_no_time(const struct timespec *t)
{
	return t->tv_nsec < 0 || t->tv_nsec >= 1000000000;
}

bool weft_is_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static int64_t nanoseconds(const struct timespec *t)
{
	if (t->tv_sec < 0)
		return 0;
	if (t->tv_sec >= INT64_MAX / 1000000000)
		return INT64_MAX;
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static int acquire(struct weft_ref *r, uint32_t mode, unsigned int flags, clockid_t clock,
		   const struct timespec *deadline)
{
	static _Atomic bool said, said_full;
	struct weft_lock_op op = {
		.slot = r->pending - 1,
		.mode = mode,
		.flags = flags | (deadline ? WEFT_LOCK_UNTIL : 0),
		.clock = (uint32_t)clock,
		.deadline_ns = deadline ? nanoseconds(deadline) : 0,
	};
	int error;

	/* A signal's handler has run; locks are waited for all the same. */
	do {
		error = weft_ioctl(r->file, WEFT_IOC_LOCK_ACQUIRE, &op);
	} while (error == EINTR);
	if (error == ENOLCK) {
		weft_complain(&said_full, "weft: no lock can be added to the region: the memory blades keep no more for it, see --locks in weft-memd(8)");
		return EAGAIN;
	}
	if (error == EIO)
		weft_complain(&said, "weft: a lock was not taken: the rack does not answer; see weftctl status");
	return error;
}

static int leave_by_ioctl(struct weft_ref *r, unsigned int mode)
{
	struct weft_lock_op op = { .slot = r->pending - 1, .mode = mode };
	int error;

	do {
		error = weft_ioctl(r->file, WEFT_IOC_LOCK_RELEASE, &op);
	} while (error == EINTR);
	return error;
}

void weft_wake(struct weft_ref *r)
{
	__u32 slot = r->pending - 1;
	int saved = errno;

	while (weft_ioctl(r->file, WEFT_IOC_LOCK_WAKE, &slot) == EINTR)
		;
	errno = saved;
}

/* --- Reading ---------------------------------------------------------------- */

/* Where the thread's list has the lock last, NULL: nowhere. */
static uintptr_t *find_read(const struct weft_thread *t, const struct weft_ref *r)
{
	uintptr_t key = weft_key(r), *p;

	for (p = t->last; p > t->reads; p--)
		if ((*p & ~WEFT_AGAIN) == key)
			return p;
	return NULL;
}

static void forget_read(struct weft_thread *t, uintptr_t *p)
{
	memmove(p, p + 1, (size_t)(t->last - p) * sizeof(*p));
	t->last--;
}

/* It is write-locked now: what the thread had of it, others have left. */
void weft_forget_reads(struct weft_thread *t, struct weft_ref *r)
{
	uintptr_t *p;

	while ((p = find_read(t, r)))
		forget_read(t, p);
}

/* Room for one more. */
static int room_for_read(struct weft_thread *t)
{
	uint32_t n = (uint32_t)(t->last - t->reads);
	int error;

	if (t->last != t->end)
		return 0;
	error = weft_room(&t->reads, &t->read_room, t->first_reads, n + 1, sizeof(*t->reads));
	if (error)
		return EAGAIN;
	t->last = t->reads + n;
	t->end = t->reads + t->read_room - 1;
	return 0;
}

/*
 * A thread that has the lock to read must get it again, though writers wait for
 * that it is left: it takes it in its own books only.
 */
static bool read_again(struct weft_thread *t, struct weft_ref *r)
{
	if (atomic_load_explicit(&r->local->foreign, memory_order_relaxed) ||
	    !find_read(t, r))
		return false;
	*++t->last = weft_key(r) | WEFT_AGAIN;
	return true;
}

int weft_read(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
	      clockid_t clock, const struct timespec *deadline)
{
	int error = room_for_read(t), saved = errno;

	if (error)
		return error;
	if (r->cell && weft_read_quick(t, r))
		return 0;
	if (!(flags & WEFT_LOCK_TRY) &&
	    atomic_load_explicit(&r->local->writer, memory_order_relaxed) == t->tid)
		return EDEADLK;
	if (read_again(t, r))
		return 0;
	error = acquire(r, WEFT_LOCK_READ, flags, clock, deadline);
	if (!error) {
		*++t->last = weft_key(r);
		if (!r->readers)
			atomic_fetch_add(&r->local->reads, 1);
	}
	errno = saved;
	return error;
}

/*
 * Leaves a read lock.  If this thread does not have it, the process may: POSIX
 * does not say what happens then, the C library lets it pass, and so do we.
 */
static int leave_read(struct weft_thread *t, struct weft_ref *r)
{
	uintptr_t *p = find_read(t, r);
	int error, saved = errno;
	uint64_t w;

	if (p && *p & WEFT_AGAIN) {
		forget_read(t, p);
		return 0;
	}
	if (r->readers && !atomic_load(r->readers))
		return EPERM;
	if (r->cell) {
		weft_pending(r->cell, r->pending);
		w = atomic_fetch_sub(r->word, WEFT_WORD_READER);
		weft_count_readers(r->readers, -1u);
		weft_pending(r->cell, 0);
		if ((w & (WEFT_WORD_SLOW | WEFT_WORD_READERS)) ==
		    (WEFT_WORD_SLOW | WEFT_WORD_READER))
			weft_wake(r);
	} else {
		error = leave_by_ioctl(r, WEFT_LOCK_READ);
		errno = saved;
		if (error)
			return error;
		if (!r->readers)
			atomic_fetch_sub(&r->local->reads, 1);
	}
	if (p)
		forget_read(t, p);
	else
		atomic_store(&r->local->foreign, true);
	return 0;
}

/* --- Writing ---------------------------------------------------------------- */

/* Without the kernel, if that is possible now. */
bool weft_write_now(struct weft_thread *t, struct weft_ref *r)
{
	return r->cell && weft_write_quick(t, r);
}

/* Also of a lock that the thread has itself: then that is for ever. */
int weft_write_wait(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
		    clockid_t clock, const struct timespec *deadline)
{
	int error, saved = errno;

	error = acquire(r, WEFT_LOCK_WRITE, flags, clock, deadline);
	errno = saved;
	if (error)
		return error;
	atomic_store_explicit(&r->local->writer, t->tid, memory_order_relaxed);
	if (atomic_load_explicit(&r->local->foreign, memory_order_relaxed))
		weft_forget_reads(t, r);
	return 0;
}

int weft_write(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
	       clockid_t clock, const struct timespec *deadline)
{
	if (weft_write_now(t, r))
		return 0;
	if (!(flags & WEFT_LOCK_TRY) &&
	    atomic_load_explicit(&r->local->writer, memory_order_relaxed) == t->tid)
		return EDEADLK;
	return weft_write_wait(t, r, flags, clock, deadline);
}

/* Only if weft_write_ours(). */
int weft_write_leave(struct weft_ref *r)
{
	int error, saved = errno;

	if (r->cell)
		return weft_write_left(r);
	atomic_store_explicit(&r->local->writer, 0, memory_order_relaxed);
	error = leave_by_ioctl(r, WEFT_LOCK_WRITE);
	errno = saved;
	return error;
}

int weft_unlock_slow(struct weft_thread *t, struct weft_ref *r)
{
	if (*t->last != weft_key(r) && weft_write_ours(r))
		return weft_write_leave(r);
	return leave_read(t, r);
}

/* --- By address ------------------------------------------------------------- */

/* ENOENT: it is not inside a region that is known. */
int weft_take(const void *lock, uint32_t mode, unsigned int flags, clockid_t clock,
	      const struct timespec *deadline)
{
	struct weft_thread *t;
	struct weft_ref *r;
	int error = weft_find(lock, &t, &r);

	if (error)
		return error;
	if (deadline && (weft_no_time(deadline) || !weft_is_clock(clock)))
		return EINVAL;
	return mode == WEFT_LOCK_WRITE ? weft_write(t, r, flags, clock, deadline) :
					 weft_read(t, r, flags, clock, deadline);
}

/* The same. */
int weft_leave(const void *lock)
{
	struct weft_thread *t;
	struct weft_ref *r;
	int error = weft_find(lock, &t, &r);

	return error ? error : weft_unlock_slow(t, r);
}

/* Does anybody on this machine hold it, as far as can be told without asking? */
bool weft_held_here(const void *address)
{
	struct weft_thread *t;
	struct weft_file *f;
	uint64_t offset, w;
	uint32_t slot;

	/* Not to find what a parent knew. */
	if (weft_thread_get(&t))
		return false;
	f = weft_mapped((uintptr_t)address, &offset);
	if (!f || !weft_slot_known(f, offset, &slot))
		return false;
	if (!f->words)
		return f->local[slot].writer || f->local[slot].reads;
	w = atomic_load((_Atomic uint64_t *)&f->words[slot].word);
	return w & (WEFT_WORD_READERS | WEFT_WORD_OWNER);
}
