// SPDX-License-Identifier: GPL-2.0-only
/*
 * Taking and leaving locks when it is not one step: through the kernel, by
 * threads that have the lock already, by threads that never took it.
 */
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

int64_t weft_nanoseconds(const struct timespec *t)
{
	if (t->tv_sec < 0)
		return 0;
	if (t->tv_sec >= INT64_MAX / 1000000000)
		return INT64_MAX;
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

bool weft_patient;

/* What is to be tried again: the rack is silent, or something is used up just now. */
static bool is_passing(int error)
{
	return error == EIO || error == ENOMEM || error == EAGAIN || error == ENOLCK;
}

#define AGAIN_MS	100

/* Has the deadline, if there is one, come? */
bool weft_is_over(clockid_t clock, const struct timespec *deadline)
{
	struct timespec now;

	return deadline && !weft_no_time(deadline) && !clock_gettime(clock, &now) &&
	       weft_nanoseconds(&now) >= weft_nanoseconds(deadline);
}

/* Whether to try again, after a while; if not, *error is one that POSIX knows. */
static bool wait_on(int *error, unsigned int flags, clockid_t clock,
		    const struct timespec *deadline)
{
	static _Atomic bool said;
	struct timespec pause = { .tv_nsec = AGAIN_MS * 1000000 };

	if (!weft_patient || !is_passing(*error))
		return false;
	if (flags & WEFT_LOCK_TRY) {
		*error = EBUSY;
		return false;
	}
	if (weft_is_over(clock, deadline)) {
		*error = ETIMEDOUT;
		return false;
	}
	weft_complain(&said, "weft: a lock is waited for, though this fails: %s: see weftctl status",
		      strerrordesc_np(*error));
	/* Not through the C library: this is no cancellation point. */
	syscall(SYS_ppoll, NULL, 0, &pause, NULL, 0);
	return true;
}

int weft_find_for(const void *address, struct weft_thread **t, struct weft_ref **r,
		  unsigned int flags, clockid_t clock, const struct timespec *deadline)
{
	int error, saved = errno;

	do {
		error = weft_find(address, t, r);
	} while (unlikely(error) && error != ENOENT && wait_on(&error, flags, clock, deadline));
	errno = saved;
	return error;
}

static uint32_t slot_of(const struct weft_ref *r)
{
	return (r->slot & ~WEFT_REF_LISTS) - 1;
}

static int acquire(struct weft_ref *r, uint32_t mode, unsigned int flags, clockid_t clock,
		   const struct timespec *deadline)
{
	static _Atomic bool said, said_full;
	struct weft_lock_op op = {
		.slot = slot_of(r),
		.mode = mode,
		.flags = flags | (deadline ? WEFT_LOCK_UNTIL : 0) |
			 /* else it stands in the word, and an older kernel does as well */
			 (r->word ? 0 : WEFT_LOCK_HEAR),
		.clock = (uint32_t)clock,
		.deadline_ns = deadline ? weft_nanoseconds(deadline) : 0,
	};
	int error;

	/* A signal's handler has run; locks are waited for all the same. */
	do {
		error = weft_ioctl(r->file, WEFT_IOC_LOCK_ACQUIRE, &op);
	} while (error == EINTR || (unlikely(error) && wait_on(&error, flags, clock, deadline)));
	if (!error && unlikely(weft_died(r)))
		return EOWNERDEAD;
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
	struct weft_lock_op op = { .slot = slot_of(r), .mode = mode };
	int error;

	do {
		error = weft_ioctl(r->file, WEFT_IOC_LOCK_RELEASE, &op);
	} while (error == EINTR);
	return error;
}

void weft_tell(struct weft_ref *r)
{
	__u32 slot = slot_of(r);
	int saved = errno;

	while (weft_ioctl(r->file, WEFT_IOC_LOCK_WAKE, &slot) == EINTR)
		;
	errno = saved;
}

/* --- Who has it for a moment only ------------------------------------------- */

/*
 * To sleep and be woken takes longer than most hold a lock: it is looked at for a while
 * before, ever less often, so that who holds it is not disturbed.  Not where there is
 * one processor: there nobody leaves it while we look.
 */
#define LOOKS		12
#define LONGEST_PAUSE	64

static bool worth_looking(void)
{
	static _Atomic int processors;
	int n = atomic_load_explicit(&processors, memory_order_relaxed);

	if (unlikely(!n)) {
		n = (int)sysconf(_SC_NPROCESSORS_ONLN);
		atomic_store_explicit(&processors, n, memory_order_relaxed);
	}
	return n > 1;
}

static bool look(struct weft_thread *t, struct weft_ref *r,
		 bool (*quick)(struct weft_thread *t, struct weft_ref *r))
{
	unsigned int pause = 1, i, n;

	if (!weft_is_quick(r) || !worth_looking())
		return false;
	for (i = 0; i < LOOKS; i++) {
		uint64_t w;

		for (n = 0; n < pause; n++)
			__builtin_ia32_pause();
		if (pause < LONGEST_PAUSE)
			pause *= 2;
		w = atomic_load_explicit(weft_word(r), memory_order_relaxed);
		/* Somebody waits for it in the kernel, or it is not this machine's. */
		if (w & WEFT_WORD_SLOW || (w & WEFT_WORD_PERM) != WEFT_LOCK_WRITE)
			return false;
		if (!(w & WEFT_WORD_OWNER) && quick(t, r))
			return true;
	}
	return false;
}

static bool quick_read(struct weft_thread *t, struct weft_ref *r)
{
	return weft_read_quick(t, r);
}

static bool quick_write(struct weft_thread *t, struct weft_ref *r)
{
	return weft_write_quick(t, r);
}

/* --- Reading ---------------------------------------------------------------- */

/* Whether it is still what the thread has noted: another one may have left it. */
static bool is_true(const struct weft_reading *p, const struct weft_ref *r)
{
	uint32_t value;

	if (!p->entry)
		return true;
	value = atomic_load_explicit(p->entry, memory_order_relaxed);
	return value == weft_entry(r, WEFT_ENTRY_HELD) ||
	       value == weft_entry(r, WEFT_ENTRY_LISTED);
}

static void forget_read(struct weft_thread *t, struct weft_reading *p)
{
	memmove(p, p + 1, (size_t)(t->last - p) * sizeof(*p));
	t->last--;
}

/* Where the thread's list has the lock last, NULL: nowhere. */
static struct weft_reading *find_read(struct weft_thread *t, const struct weft_ref *r)
{
	uintptr_t key = weft_key(r);
	struct weft_reading *p;

	for (p = t->last; p > t->reads; p--) {
		if ((p->key & ~WEFT_AGAIN) != key)
			continue;
		if (p->key & WEFT_AGAIN || is_true(p, r))
			return p;
		forget_read(t, p);
	}
	return NULL;
}

/* What others have left. */
static void forget_stale(struct weft_thread *t)
{
	struct weft_reading *p;

	for (p = t->last; p > t->reads; p--)
		if (p->entry && !atomic_load_explicit(p->entry, memory_order_relaxed))
			forget_read(t, p);
}

/* Room for one more. */
static int room_for_read(struct weft_thread *t)
{
	uint32_t n;
	int error;

	if (t->last != t->end)
		return 0;
	forget_stale(t);
	n = (uint32_t)(t->last - t->reads);
	error = weft_room(&t->reads, &t->read_room, t->first_reads, n + 1, sizeof(*t->reads));
	if (error)
		return EAGAIN;
	t->last = t->reads + n;
	t->end = t->reads + t->read_room - 1;
	return 0;
}

static void note_read(struct weft_thread *t, uintptr_t key, _Atomic uint32_t *entry)
{
	struct weft_reading *p = t->last + 1;

	p->key = key;
	p->entry = entry;
	t->last = p;
}

/*
 * A thread that has the lock to read must get it again, though writers wait for
 * that it is left: it takes it in its own books only.
 */
static bool read_again(struct weft_thread *t, struct weft_ref *r)
{
	struct weft_reading *p = find_read(t, r);

	while (p && p->key & WEFT_AGAIN)
		for (p--; p > t->reads && (p->key & ~WEFT_AGAIN) != weft_key(r); p--)
			;
	if (!p || p == t->reads || !is_true(p, r) ||
	    (!p->entry && atomic_load_explicit(&weft_local(r)->foreign, memory_order_relaxed)))
		return false;
	note_read(t, weft_key(r) | WEFT_AGAIN, NULL);
	return true;
}

static _Atomic uint32_t *count_of(const struct weft_ref *r)
{
	return (_Atomic uint32_t *)&r->file->holds->readers[slot_of(r)];
}

/* The word changes by a reader that no entry is for: @w is the word before. */
static void change_count(struct weft_thread *t, struct weft_ref *r, bool more, uint64_t *w)
{
	_Atomic uint32_t *marker = weft_entries(t, r) + WEFT_MARKER;

	weft_put_entry(marker, weft_entry(r, WEFT_ENTRY_CHANGING));
	if (!more) {
		*w = atomic_fetch_sub(weft_word(r), WEFT_WORD_READER);
		atomic_fetch_sub(count_of(r), 1);
	} else {
		while (weft_read_allowed(*w) &&
		       !atomic_compare_exchange_weak(weft_word(r), w, *w + WEFT_WORD_READER))
			;
		if (weft_read_allowed(*w))
			atomic_fetch_add(count_of(r), 1);
	}
	weft_put_entry(marker, 0);
}

/* All entries of the thread are in use: the file's count takes it. */
static bool read_counted(struct weft_thread *t, struct weft_ref *r)
{
	_Atomic uint32_t *entries = weft_entries(t, r);
	unsigned int n = (uintptr_t)t->last / sizeof(*t->last) & 7;
	uint64_t w;

	if (!atomic_load_explicit(&entries[n], memory_order_relaxed))
		return false;
	w = atomic_load_explicit(weft_word(r), memory_order_relaxed);
	if (!weft_read_allowed(w))
		return false;
	change_count(t, r, true, &w);
	if (!weft_read_allowed(w))
		return false;
	note_read(t, weft_key(r), NULL);
	return true;
}

int weft_read(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
	      clockid_t clock, const struct timespec *deadline)
{
	int error = room_for_read(t), saved = errno;

	if (error)
		return error;
	if (weft_is_quick(r) && (weft_read_quick(t, r) || read_counted(t, r)))
		return 0;
	if (!(flags & WEFT_LOCK_TRY) && weft_write_mine(t, r))
		return EDEADLK;
	if (read_again(t, r))
		return 0;
	if (!(flags & WEFT_LOCK_TRY) && look(t, r, quick_read))
		return 0;
	error = acquire(r, WEFT_LOCK_READ, flags, clock, deadline);
	if (!error || error == EOWNERDEAD) {
		note_read(t, weft_key(r), NULL);
		if (!r->word)
			atomic_fetch_add(&weft_local(r)->reads, 1);
	}
	errno = saved;
	return error;
}

/*
 * Leaves what an entry says, of whatever thread.  False: it says something else now.
 *
 * Its thread does not exchange HELD (weft_read_left()): for the many that leave what is
 * theirs that would be a second locked operation.  So if another thread leaves it at the same
 * moment the word is right, as two have left, but an entry elsewhere may go on saying HELD:
 * whoever lets others leave its read locks must not do the same meanwhile, see lock.h.
 */
static bool leave_entry(struct weft_ref *r, _Atomic uint32_t *entry)
{
	uint32_t listed = weft_entry(r, WEFT_ENTRY_LISTED);
	uint32_t held = weft_entry(r, WEFT_ENTRY_HELD);

	if (atomic_compare_exchange_strong(entry, &listed, 0)) {
		/* from here on the entry is its thread's again, which may have another lock */
		weft_unlisted(r);
		return true;
	}
	if (!atomic_compare_exchange_strong(entry, &held, weft_entry(r, WEFT_ENTRY_CHANGING)))
		return false;
	weft_uncount(r, entry);
	return true;
}

/* A read lock that another thread of this process has taken. */
static bool leave_other(struct weft_ref *r)
{
	unsigned int n = weft_cells(), cell, i;

	for (cell = 0; cell < n; cell++) {
		struct weft_cell *c = &r->file->holds->cell[cell];

		for (i = 0; i < WEFT_MARKER; i++)
			if (leave_entry(r, (_Atomic uint32_t *)&c->entry[i])) {
				/* the other thread's note of it stays, and names the entry */
				atomic_store(&r->file->foreign, true);
				return true;
			}
	}
	return false;
}

/* One that is in the file's count. */
static int leave_counted(struct weft_thread *t, struct weft_ref *r)
{
	uint64_t w;

	if (!weft_is_quick(r))
		return leave_by_ioctl(r, WEFT_LOCK_READ);
	if (!atomic_load(count_of(r)))
		return EPERM;
	change_count(t, r, false, &w);
	if (w & (WEFT_WORD_SLOW | WEFT_WORD_TELL) &&
	    (w & WEFT_WORD_READERS) == WEFT_WORD_READER)
		weft_tell(r);
	return 0;
}

/*
 * Leaves a read lock.  If this thread does not have it, the process may: POSIX
 * does not say what happens then, the C library lets it pass, and so do we.
 */
static int leave_read(struct weft_thread *t, struct weft_ref *r)
{
	struct weft_reading *p = find_read(t, r);
	int error, saved = errno;

	if (p && p->key & WEFT_AGAIN) {
		forget_read(t, p);
		return 0;
	}
	if (p && p->entry && leave_entry(r, p->entry)) {
		forget_read(t, p);
		return 0;
	}
	if (!p && r->word && leave_other(r))
		return 0;
	error = leave_counted(t, r);
	errno = saved;
	if (error)
		return error;
	if (!r->word)
		atomic_fetch_sub(&weft_local(r)->reads, 1);
	if (p)
		forget_read(t, p);
	else
		atomic_store(&weft_local(r)->foreign, true);
	return 0;
}

/* --- Writing ---------------------------------------------------------------- */

/* Without the kernel, if that is possible now. */
bool weft_write_now(struct weft_thread *t, struct weft_ref *r)
{
	return weft_is_quick(r) && weft_write_quick(t, r);
}

/* Also of a lock that the thread has itself: then that is for ever. */
int weft_write_wait(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
		    clockid_t clock, const struct timespec *deadline)
{
	int error, saved = errno;

	if (!(flags & WEFT_LOCK_TRY) && look(t, r, quick_write))
		return 0;
	error = acquire(r, WEFT_LOCK_WRITE, flags, clock, deadline);
	errno = saved;
	if (error && error != EOWNERDEAD)
		return error;
	atomic_store_explicit(weft_holder(r), t->tid, memory_order_relaxed);
	return error;
}

int weft_write(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
	       clockid_t clock, const struct timespec *deadline)
{
	if (weft_write_now(t, r))
		return 0;
	if (!(flags & WEFT_LOCK_TRY) && weft_write_mine(t, r))
		return EDEADLK;
	return weft_write_wait(t, r, flags, clock, deadline);
}

/* Only if weft_write_ours(). */
int weft_write_leave(struct weft_ref *r)
{
	int error, saved = errno;

	if (weft_is_quick(r))
		return weft_write_left(r);
	atomic_store_explicit(weft_holder(r), 0, memory_order_relaxed);
	error = leave_by_ioctl(r, WEFT_LOCK_WRITE);
	errno = saved;
	return error;
}

int weft_unlock_slow(struct weft_thread *t, struct weft_ref *r)
{
	if (weft_is_quick(r) && weft_read_left(t, r))
		return 0;
	if (weft_write_ours(r))
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
	int error = weft_find_for(lock, &t, &r, flags, clock, deadline);

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

/* Has this process it in a list? */
static bool is_listed(const struct weft_file *f, uint32_t slot)
{
	unsigned int n = weft_cells(), cell, i;

	for (cell = 0; cell < n; cell++)
		for (i = 0; i < WEFT_HOLDS_ENTRIES; i++)
			if (__atomic_load_n(&f->holds->cell[cell].entry[i], __ATOMIC_RELAXED) ==
			    ((slot + 1) | WEFT_ENTRY_LISTED))
				return true;
	return false;
}

/* In lists of others only the kernel can look: it does to let somebody write. */
static bool is_busy(struct weft_file *f, uint32_t slot)
{
	struct weft_lock_op op = { .slot = slot, .mode = WEFT_LOCK_WRITE, .flags = WEFT_LOCK_TRY };

	if (weft_ioctl(f, WEFT_IOC_LOCK_ACQUIRE, &op)) /* it does not ask to hear */
		return true;
	weft_ioctl(f, WEFT_IOC_LOCK_RELEASE, &op);
	return false;
}

/*
 * Does anybody on this machine hold it, as far as can be told without asking others?
 * If only reading is allowed here, it is not known of other processes.
 */
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
		return f->local[slot].holder || f->local[slot].reads;
	w = atomic_load((_Atomic uint64_t *)&f->words[slot].word);
	if (w & (WEFT_WORD_READERS | WEFT_WORD_OWNER))
		return true;
	if (!(w & WEFT_WORD_LISTED))
		return false;
	return is_listed(f, slot) ||
	       ((w & WEFT_WORD_PERM) == WEFT_LOCK_WRITE && is_busy(f, slot));
}
