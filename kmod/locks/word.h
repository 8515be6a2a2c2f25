/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The word of a lock, which programs and the kernel change at the same time (uapi/weft.h).  For
 * step.c, wait.c, reclaim.c and lockfile.c, under the lock's spinlock.
 */
#ifndef WEFT_WORD_H
#define WEFT_WORD_H

#include "locks/lockres.h"

/* A writer that has waited for longer is not overtaken any more. */
#define WEFT_STRICT_NS	NSEC_PER_MSEC

/*
 * Does the word, with the lists, allow this hold?  May set SLOW, which weft_word_mirror()
 * clears.
 */
bool weft_word_fits(struct weft_lockres *lr, u8 perm) __must_hold(&lr->lock);

/*
 * The counts of events, and of threads that await them, beside the word; only while there is a
 * word.
 */
atomic_t *weft_word_event(const struct weft_lockres *lr);
atomic_t *weft_word_waiting(const struct weft_lockres *lr);

/*
 * Enter the hold if the word and the lists allow it; may set SLOW.  Does not check the
 * permission.
 */
bool weft_word_take(struct weft_lockres *lr, const struct weft_holder *h)
	__must_hold(&lr->lock);

/* Remove a hold.  Return: false: the file does not have it. */
bool weft_word_leave(struct weft_lockres *lr, const struct weft_holder *h)
	__must_hold(&lr->lock);

/*
 * Remove what a closed file held.  @owner: its number.  @readers: its read holds.  Return: how
 * many holds were removed.
 */
u32 weft_word_give_back(struct weft_lockres *lr, u16 owner, u32 readers)
	__must_hold(&lr->lock);

/*
 * The last writer died with the lock: note that in the word, or without a word in the core's
 * @unmended.
 */
void weft_word_note_death(struct weft_lockres *lr) __must_hold(&lr->lock);

/*
 * Has a writer died, and no holder repaired the data?  No lock needed while a file has the lock
 * open.
 */
bool weft_word_died(const struct weft_lockres *lr);

/* A holder has repaired the data. */
void weft_word_mend(struct weft_lockres *lr) __must_hold(&lr->lock);

/*
 * The permission goes, or is shared: move the word's note of a dead writer to the core.  @leave:
 * clear it in the word.
 */
void weft_word_tell_on(struct weft_lockres *lr, bool leave) __must_hold(&lr->lock);

/*
 * Write the permission and @bits (SLOW, TELL or 0) into the word, and move the core's note of a
 * dead writer there.  Return: whether a program holds the lock, as the word says together with
 * @bits; with SLOW the lists count, too.
 */
bool weft_word_mirror(struct weft_lockres *lr, u64 bits) __must_hold(&lr->lock);

/*
 * Correct the number of readers in the word.  @word: the word before the readers were counted.
 * @less: out: how many fewer readers that are.  Return: false: the word has changed since.
 */
bool weft_word_settle(struct weft_lockres *lr, u64 word, u64 readers, u32 *less)
	__must_hold(&lr->lock);

#endif /* WEFT_WORD_H */
