/* SPDX-License-Identifier: GPL-2.0-only */
/* The word of a lock, which programs and the kernel change at the same time. */
#ifndef WEFT_WORD_H
#define WEFT_WORD_H

#include "locks/klock.h"

/* Who waits to write longer than this is not overtaken any more. */
#define WEFT_STRICT_NS	NSEC_PER_MSEC

/*
 * Nobody stands in the way of this hold, for all that the word and the lists say.  It
 * may set SLOW, until weft_word_mirror() is called.
 */
bool weft_word_fits(struct weft_klock *kl, u8 perm) __must_hold(&kl->lock);

/* The count of events beside it, and of who waits for them; only while there is a word. */
atomic_t *weft_word_event(const struct weft_klock *kl);
atomic_t *weft_word_waiting(const struct weft_klock *kl);

/* Put the hold in, if nobody stands in the way; the same.  Permission is not looked at. */
bool weft_word_take(struct weft_klock *kl, const struct weft_holder *h)
	__must_hold(&kl->lock);

/* Take the hold away.  Return: false if it is not there. */
bool weft_word_leave(struct weft_klock *kl, const struct weft_holder *h)
	__must_hold(&kl->lock);

/**
 * weft_word_give_back() - take away what a file held that is gone
 * @owner: its number
 * @readers: what it held to read
 *
 * Return: how many holds there were.
 */
u32 weft_word_give_back(struct weft_klock *kl, u16 owner, u32 readers)
	__must_hold(&kl->lock);

/*
 * Who had the lock to write last died with it: in the word, as long as there is one, or
 * else in the core's @unmended.
 */
void weft_word_note_death(struct weft_klock *kl) __must_hold(&kl->lock);

/* Is that so, and has nobody mended it?  No lock needed, if the lock is open. */
bool weft_word_died(const struct weft_klock *kl);

/* Somebody has. */
void weft_word_mend(struct weft_klock *kl) __must_hold(&kl->lock);

/*
 * The permission is about to be given up, or shared with other nodes: the core is told
 * what the word says.  If @leave the word does not say it any more.
 */
void weft_word_tell_on(struct weft_klock *kl, bool leave) __must_hold(&kl->lock);

/**
 * weft_word_mirror() - put permission and what programs have to do into the word
 *
 * And what the core has of a death that nobody has mended; then the core has it no more.
 *
 * @bits: WEFT_WORD_SLOW, WEFT_WORD_TELL or 0
 *
 * Return: whether somebody holds the lock, said by the word together with @bits, and by
 * the lists if that is SLOW.
 */
bool weft_word_mirror(struct weft_klock *kl, u64 bits) __must_hold(&kl->lock);

/**
 * weft_word_settle() - this many read-lock it, and no others
 * @word: what it was when they were counted
 * @less: receives how many that is less than before
 *
 * Return: false if it has changed since.
 */
bool weft_word_settle(struct weft_klock *kl, u64 word, u64 readers, u32 *less)
	__must_hold(&kl->lock);

#endif /* WEFT_WORD_H */
