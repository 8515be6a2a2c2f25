// SPDX-License-Identifier: GPL-2.0-only
/*
 * sem_*() without a name: inside regions a count in coherent memory, which those
 * who wait look at; elsewhere the C library's.
 *
 * sem_post() is one atomic instruction, a look at two tables, and a system call if
 * somebody waits here: it may be called by signal handlers, which run at no time when a
 * table is locked.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "next.h"
#include "tools/libweft/internal.h"

/* The value, where the C library has it too; zeros are a valid semaphore. */
static _Atomic uint32_t *value_of(sem_t *s)
{
	return (_Atomic uint32_t *)s;
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
	sigset_t mask;
	struct weft_nap *nap;
};

static void come_back(void *arg)
{
	struct waiting *w = arg;

	weft_nap_end(w->nap);
	pthread_sigmask(SIG_SETMASK, &w->mask, NULL);
}

/* Lets the signals in that are not in @mask.  Returns whether a handler has run here. */
static bool open_for(const sigset_t *mask)
{
	struct timespec none = { 0 };
	int saved = errno;
	bool ran = syscall(SYS_ppoll, NULL, 0, &none, mask, _NSIG / 8);

	errno = saved;
	return ran;
}

/*
 * Lets in the signals that have come meanwhile.  EINTR if that ends the waiting, as
 * it ends the C library's: a handler has run here that was not installed with
 * SA_RESTART, or there is a deadline.
 *
 * Those without a handler come first, alone: one that has a handler and comes just
 * now is seen the next time.  One that comes after a handler was seen may end
 * nothing, but no more does in the C library what comes while another handler runs.
 */
static int let_in(const sigset_t *mask, bool deadline)
{
	bool handled = false, quiet = false, ends = false;
	sigset_t pending, all_but_quiet;
	int signal;

	sigpending(&pending);
	if (sigisemptyset(&pending))
		return 0;
	sigfillset(&all_but_quiet);
	for (signal = 1; signal < _NSIG; signal++) {
		struct sigaction action;

		if (sigismember(&pending, signal) != 1 || sigismember(mask, signal) ||
		    sigaction(signal, NULL, &action))
			continue;
		if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
			sigdelset(&all_but_quiet, signal);
			quiet = true;
			continue;
		}
		handled = true;
		ends |= deadline || !(action.sa_flags & SA_RESTART);
	}
	if (quiet)
		open_for(&all_but_quiet);
	/* Another thread may have taken what was seen. */
	return handled && open_for(mask) && ends ? EINTR : 0;
}

/* Returns why waiting has ended; 0: it has been taken. */
static int look(sem_t *s, struct weft_nap *nap, const sigset_t *mask)
{
	int error = 0;

	while (!error && !take(s)) {
		pthread_testcancel();
		error = weft_nap(nap);
		if (!error && nap->slept)
			error = let_in(mask, nap->deadline);
	}
	return error;
}

/*
 * Signals are let in only after a sleep, so that none whose handler ran between two
 * looks is missed.  Those for what a thread does itself are not blocked: a look may
 * fail with SIGBUS, and the kernel kills whoever blocks that.
 */
static int wait_for(sem_t *s, clockid_t clock, const struct timespec *deadline)
{
	static const int own[] = { SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
	struct weft_nap nap = { .clock = clock, .deadline = deadline };
	struct waiting w = { .nap = &nap };
	sigset_t blocked;
	size_t i;
	int error;

	pthread_testcancel();
	if (take(s))
		return 0;
	if (deadline && (weft_no_time(deadline) || !weft_is_clock(clock))) {
		errno = EINVAL;
		return -1;
	}
	sigfillset(&blocked);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&blocked, own[i]);
	weft_nap_begin(&nap, s);
	pthread_sigmask(SIG_BLOCK, &blocked, &w.mask);
	pthread_cleanup_push(come_back, &w);
	error = look(s, &nap, &w.mask);
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
	weft_wake_here(s);
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
