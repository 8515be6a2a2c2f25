// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting until memory of a region changes, on whatever machine: weft_wait() and weft_wake() of
 * <weft/lock.h>, and what the preload library's condition variables, semaphores and barriers
 * stand on.
 *
 * The kernel has an eventcount at each place of a region (uapi/weft.h).  Who waits reads the
 * count, looks, and if what it waits for is not there awaits another count.  Where the kernel
 * has none to give, as too many locks are open, it looks again after ever longer naps.
 */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"
#include "lock.h"
#include "tools/common/clock.h"

#define SPINS		64
#define FIRST_NAP_NS	20000
#define LAST_NAP_NS	10000000

/* The place of @address: NULL if it has none, *@error says why. */
static struct weft_file *place_of(const void *address, uint32_t *slot, int *error)
{
	struct weft_file *f;
	uint64_t offset;

	f = weft_mapped((uintptr_t)address, &offset);
	*error = f ? weft_slot(f, offset, slot) : ENOENT;
	return *error ? NULL : f;
}

static _Atomic uint32_t *event_of(struct weft_lock_word *word)
{
	return (_Atomic uint32_t *)&word->event;
}

static uint64_t permission(struct weft_lock_word *word)
{
	return atomic_load((_Atomic uint64_t *)&word->word) & WEFT_WORD_PERM;
}

int weft_await_begin(struct weft_await *a, const void *address)
{
	int error, saved = errno;

	a->file = place_of(address, &a->slot, &error);
	errno = saved;
	if (!a->file)
		return error;
	if (a->file->words)
		a->word = &a->file->words[a->slot];
	/* A barrier: who changes it then sees that somebody waits, or we see the change. */
	if (a->word)
		atomic_fetch_add((_Atomic uint32_t *)&a->word->waiting, 1);
	return 0;
}

void weft_await_end(struct weft_await *a)
{
	if (a->word)
		atomic_fetch_sub((_Atomic uint32_t *)&a->word->waiting, 1);
	a->word = NULL;
	a->file = NULL;
}

/* A call of the kernel that may take as long as it likes. */
static int call(struct weft_await *a, unsigned long request, struct weft_eventcount *e)
{
	int error, type;

	e->slot = a->slot;
	if (!a->word)
		e->flags = WEFT_EVENT_UNCOUNTED;
	if (a->deadline) {
		e->flags |= WEFT_LOCK_UNTIL;
		e->clock = (uint32_t)a->clock;
		e->deadline_ns = weft_nanoseconds(a->deadline);
	}
	if (!a->cancellable)
		return weft_ioctl(a->file, request, e);
	/* Whoever is cancelled there has nothing to undo but what its caller has. */
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	error = weft_ioctl(a->file, request, e);
	pthread_setcanceltype(type, NULL);
	return error;
}

/* What happens from now on ends weft_await(): 0, or why it cannot. */
static int arm(struct weft_await *a)
{
	struct weft_eventcount e = { 0 };
	int error;

	if (!a->file)
		return ENOENT;
	if (a->word) {
		/* In this order: what is lost after the second look is counted after the first. */
		a->seen = atomic_load(event_of(a->word));
		if (permission(a->word))
			return 0;
	}
	error = call(a, WEFT_IOC_EVENT_READ, &e);
	a->seen = e.count;
	return error;
}

/* Nobody tells us: ever fewer looks.  A signal ends the nap, and the waiting. */
static int nap(struct weft_await *a)
{
	struct timespec sleep = { .tv_nsec = LAST_NAP_NS };
	int error = 0;

	if (a->naps < 9 && FIRST_NAP_NS << a->naps < LAST_NAP_NS)
		sleep.tv_nsec = FIRST_NAP_NS << a->naps++;
	if (a->deadline) {
		int64_t left = weft_nanoseconds(a->deadline) - (int64_t)clock_ns(a->clock);

		if (left < sleep.tv_nsec)
			sleep.tv_nsec = left > 0 ? left : 0;
	}
	/* Not through the C library: not all who wait may be cancelled. */
	if (syscall(SYS_ppoll, NULL, 0, &sleep, NULL, 0))
		error = errno;
	return error == EINTR ? EINTR : 0;
}

int weft_await(struct weft_await *a)
{
	struct weft_eventcount e = { 0 };
	int error, saved = errno;

	if (a->looks++ < SPINS) {
		__builtin_ia32_pause();
		return 0;
	}
	if (weft_is_over(a->clock, a->deadline))
		return ETIMEDOUT;
	if (a->deaf) {
		error = nap(a);
	} else if (a->armed) {
		e.count = a->seen;
		error = call(a, WEFT_IOC_EVENT_AWAIT, &e);
		a->armed = false;
		a->heard = !error;
	} else {
		error = arm(a);
		a->armed = !error;
	}
	if (error && error != EINTR && error != ETIMEDOUT) {
		a->deaf = true;
		error = 0;
	}
	errno = saved;
	return error;
}

int weft_advance(const void *address)
{
	static _Atomic bool said;
	struct weft_lock_word *word;
	int error, saved = errno;
	struct weft_file *f;
	__u32 slot;

	f = place_of(address, &slot, &error);
	if (f) {
		word = f->words ? &f->words[slot] : NULL;
		/* The partner of the one in weft_await_begin(). */
		atomic_thread_fence(memory_order_seq_cst);
		if (!word || permission(word) != WEFT_LOCK_WRITE ||
		    atomic_load((_Atomic uint32_t *)&word->waiting))
			do {
				error = weft_ioctl(f, WEFT_IOC_EVENT_ADVANCE, &slot);
			} while (error == EINTR);
	}
	/* Who calls weft_wake() is told; who signals or posts has no such answer. */
	if (error && error != ENOENT && weft_patient)
		weft_complain(&said, "weft: those who wait on other machines cannot be woken: %s",
			      strerrordesc_np(error));
	errno = saved;
	return error;
}

/* What is not in the mappings that we were told of is looked for among those that there are. */
static int look_up(const uint32_t *word)
{
	uint64_t offset;
	int error;

	if ((uintptr_t)word % sizeof(*word))
		return EINVAL;
	if (weft_near(word) && weft_mapped((uintptr_t)word, &offset))
		return 0;
	error = weft_map_scan((uintptr_t)word);
	if (!error && !weft_mapped((uintptr_t)word, &offset))
		error = ENOENT;
	return error == ENOENT ? EINVAL : error;
}

int weft_wait(const uint32_t *word, uint32_t expected, clockid_t clock,
	      const struct timespec *deadline)
{
	struct weft_await a = { .clock = clock, .deadline = deadline };
	int error = look_up(word);

	if (error)
		return error;
	if (deadline && (weft_no_time(deadline) || !weft_is_clock(clock)))
		return EINVAL;
	/* Without a place it looks from time to time. */
	weft_await_begin(&a, word);
	while (!error && !a.heard &&
	       atomic_load((const _Atomic uint32_t *)word) == expected)
		error = weft_await(&a);
	weft_await_end(&a);
	return error;
}

int weft_wake(const uint32_t *word)
{
	int error = look_up(word);

	return error ? error : weft_advance(word);
}
