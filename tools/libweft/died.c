// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks whose owner died: what is told of it, and what ends that.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* Has its last owner died, and nobody mended it?  As long as it is held it stays so. */
bool weft_died(const struct weft_ref *r)
{
	return r->word && atomic_load_explicit(weft_word(r), memory_order_relaxed) & WEFT_WORD_DIED;
}

/* What the lock guards is right again.  Only if it is held. */
int weft_mend(struct weft_ref *r)
{
	__u32 slot = (r->slot & ~WEFT_REF_LISTS) - 1;
	int error, saved = errno;

	do {
		error = weft_ioctl(r->file, WEFT_IOC_LOCK_MEND, &slot);
	} while (error == EINTR);
	errno = saved;
	return error;
}

/* Are locks of the region that cannot tell of a death to stay blocked by it? */
static bool blocks(struct weft_file *f)
{
	struct weft_policy p = { 0 };
	int error, saved = errno;

	do {
		error = weft_ioctl(f, WEFT_IOC_POLICY_GET, &p);
	} while (error == EINTR);
	errno = saved;
	return !error && p.policy & WEFT_POLICY_BLOCK;
}

#define DECIDES_MS	500	/* looks what the administrator has decided */

/*
 * Of a lock whose kind has no way to tell that an owner died: what taking it returned,
 * without that.  As a rule nobody else need hear of it then, and it may be one step again.
 * If the region says so, it is left as it is, until the region says otherwise, or somebody
 * has mended it.
 */
int weft_pass(const void *lock, int error, uint32_t mode, unsigned int flags, clockid_t clock,
	      const struct timespec *deadline)
{
	static _Atomic bool said;
	struct timespec pause = { .tv_nsec = DECIDES_MS * 1000000 };
	struct weft_thread *t;
	struct weft_ref *r;

	while (unlikely(error == EOWNERDEAD)) {
		if (weft_find(lock, &t, &r))
			return 0;
		if (!blocks(r->file)) {
			weft_mend(r);
			return 0;
		}
		weft_unlock_slow(t, r);
		if (flags & WEFT_LOCK_TRY)
			return EBUSY;
		if (weft_is_over(clock, deadline))
			return ETIMEDOUT;
		weft_complain(&said, "weft: a lock is waited for whose owner died, as its region has on-owner-death=block: see weftctl region set");
		/* Not through the C library: this is no cancellation point. */
		syscall(SYS_ppoll, NULL, 0, &pause, NULL, 0);
		error = weft_take(lock, mode, flags, clock, deadline);
	}
	return error;
}
