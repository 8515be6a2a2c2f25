// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding the functions behind this library.
 *
 * Other libraries may call ours before our constructor has run: each is looked for
 * when it is called first, at the latest.
 */
#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "next.h"
#include "tools/common/clock.h"
#include "tools/libweft/internal.h"

static void *find(const char *name)
{
	static _Atomic bool said;
	void *p = NULL;

	/*
	 * Of these the C library has an older kind as well, of another layout, and
	 * dlsym() would return that.
	 */
	if (!strncmp(name, "pthread_cond_", 13))
		p = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	if (!p)
		p = dlsym(RTLD_NEXT, name);
	if (!p) {
		weft_complain(&said, "weft: the C library has no %s(), which the program calls", name);
		abort();
	}
	return p;
}

static const char * const names[WEFT_NEXT_COUNT] = {
#define X(result, name, parameters, arguments) [WEFT_NEXT_##name] = #name,
	WEFT_NEXT(X)
#undef X
};

#define FIRST(result, name, parameters, arguments)			\
	static result first_##name parameters				\
	{								\
		weft_nexts[WEFT_NEXT_##name] = find(#name);		\
		return weft_next(name) arguments;			\
	}

WEFT_NEXT(FIRST)

void *weft_nexts[WEFT_NEXT_COUNT] = {
#define X(result, name, parameters, arguments) [WEFT_NEXT_##name] = (void *)first_##name,
	WEFT_NEXT(X)
#undef X
};

static __attribute__((constructor)) void resolve(void)
{
	int i;

	weft_patient = true;
	/* One that is not there is complained of when it is called. */
	for (i = 0; i < WEFT_NEXT_COUNT; i++)
		if (dlsym(RTLD_NEXT, names[i]))
			weft_nexts[i] = find(names[i]);
}

/* --- What the functions for things inside regions share ------------------------ */

bool weft_inside(const void *address)
{
	uint64_t offset;

	return weft_near(address) && weft_mapped((uintptr_t)address, &offset);
}

/*
 * What is waited for is in coherent memory, but a futex there would draw its page to
 * each machine in turn that waits.  Each has one of its own, in the word that a lock of
 * this place would have.
 */
static struct weft_lock_word *word_of(const void *address)
{
	struct weft_file *f;
	uint64_t offset;
	uint32_t slot;
	int saved = errno, error;

	f = weft_mapped((uintptr_t)address, &offset);
	error = f ? weft_slot(f, offset, &slot) : ENOENT;
	errno = saved;
	return error || !f->words ? NULL : &f->words[slot];
}

static _Atomic uint32_t *event_of(struct weft_lock_word *word)
{
	return (_Atomic uint32_t *)&word->event;
}

void weft_nap_begin(struct weft_nap *nap, const void *address)
{
	nap->here = word_of(address);
	if (!nap->here)
		return;
	/* A barrier: who changes it then sees that somebody waits, or we see the change. */
	atomic_fetch_add((_Atomic uint32_t *)&nap->here->waiting, 1);
	nap->seen = atomic_load(event_of(nap->here));
}

void weft_nap_end(struct weft_nap *nap)
{
	if (nap->here)
		atomic_fetch_sub((_Atomic uint32_t *)&nap->here->waiting, 1);
	nap->here = NULL;
}

void weft_wake_here(const void *address)
{
	struct weft_lock_word *word = word_of(address);
	int saved = errno;

	if (!word)
		return;
	/* The partner of the one in weft_nap_begin(). */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load((_Atomic uint32_t *)&word->waiting))
		return;
	atomic_fetch_add(event_of(word), 1);
	syscall(SYS_futex, &word->event, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}

#define SPINS		64
#define FIRST_NAP_NS	20000
#define LONGEST_NAP_NS	2000000
#define SECOND		600		/* naps: about a second, then only every */
#define LAST_NAP_NS	10000000

/*
 * A page that nobody changes stays here, and to look at it costs nothing; so a few
 * looks at once, then ever fewer, but one in two milliseconds for the first second, and
 * one in ten then: nobody tells us what another machine changes.
 */
int weft_nap(struct weft_nap *nap)
{
	struct timespec sleep = { .tv_nsec = LONGEST_NAP_NS };
	int saved = errno;
	unsigned int doubled;

	if (nap->here && nap->looks > SPINS + SECOND)
		sleep.tv_nsec = LAST_NAP_NS;
	if (nap->deadline) {
		uint64_t now = clock_ns(nap->clock);
		int64_t left;

		left = nap->deadline->tv_sec - (int64_t)(now / NS_IN_S);
		if (left > 1)
			left = 1;
		if (left < -1)
			left = -1;
		left = left * 1000000000 + nap->deadline->tv_nsec -
		       (int64_t)(now % NS_IN_S);
		if (left <= 0)
			return ETIMEDOUT;
		if (left < sleep.tv_nsec)
			sleep.tv_nsec = left;
	}
	nap->slept = nap->looks >= SPINS;
	if (nap->looks++ < SPINS) {
		__builtin_ia32_pause();
		return 0;
	}
	doubled = nap->looks - SPINS;
	if (doubled < 7 && FIRST_NAP_NS << doubled < sleep.tv_nsec)
		sleep.tv_nsec = FIRST_NAP_NS << doubled;
	/* Not through the C library: not all who wait may be cancelled. */
	if (nap->here) {
		long rc = syscall(SYS_futex, &nap->here->event, FUTEX_WAIT, nap->seen, &sleep,
				  NULL, 0);

		/* It cannot be had, as with a module of before they worked there: no spinning. */
		if (rc && errno == EFAULT)
			syscall(SYS_ppoll, NULL, 0, &sleep, NULL, 0);
		nap->seen = atomic_load(event_of(nap->here));
	} else {
		syscall(SYS_ppoll, NULL, 0, &sleep, NULL, 0);
	}
	errno = saved;
	return 0;
}
