/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that open, take and leave locks, and wait for them. */
#ifndef WEFT_WAIT_H
#define WEFT_WAIT_H

#include "locks/klock.h"

/**
 * weft_klock_attach() - a program opens the lock
 * @word: shared with programs, all zeros
 * @slot: its number
 * @lists: where its readers may be
 *
 * Takes a reference that weft_klock_detach() gives back.
 *
 * Return: false: the lock is dead, get it anew.
 */
bool weft_klock_attach(struct weft_klock *kl, u64 *word, u32 slot,
		       struct weft_lists *lists);

/* Nobody has it open any more, nobody holds it, and nobody waits. */
void weft_klock_detach(struct weft_klock *kl);

/**
 * weft_klock_acquire() - get a lock and wait for it
 * @came: whether it had to come from elsewhere; only if this succeeds
 *
 * Return: 0; -EBUSY, -ETIMEDOUT, -ERESTARTSYS; -EIO: the rack does not answer, or
 * has no such lock any more; -ENOLCK: the region has as many locks as it may.
 */
int weft_klock_acquire(struct weft_klock *kl, const struct weft_holder *h,
		       const struct weft_patience *patience, bool *came);

/* Return: 0; -EPERM: it is not held. */
int weft_klock_release(struct weft_klock *kl, const struct weft_holder *h);

/**
 * weft_klock_bind() - the lock guards these blocks from now on
 * @guard: or NULL; the caller's reference becomes the lock's
 *
 * Return: the one that it replaces, with its reference, or NULL.
 */
struct weft_guard *weft_klock_bind(struct weft_klock *kl,
				   struct weft_guard *guard);

/* Who has it says that what it guards is right again. */
void weft_klock_mend(struct weft_klock *kl);

/* What the lock guards, as programs have said, with a reference; NULL: none has. */
struct weft_guard *weft_klock_guard(struct weft_klock *kl);

/* A program has left the lock: who is next? */
void weft_klock_kick(struct weft_klock *kl);

#endif /* WEFT_WAIT_H */
