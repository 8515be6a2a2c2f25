// SPDX-License-Identifier: GPL-2.0-only
/*
 * The word of a lock, which programs change at the same time; see klock.h.
 *
 * Nothing that stands in it is believed: nonsense can only make those wait, or
 * let those in together, who share the word.
 */
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/minmax.h>

#include "klock.h"
#include "weft.h"

#define READERS_MAX	(WEFT_WORD_READERS / WEFT_WORD_READER)

static_assert(WEFT_S == WEFT_LOCK_READ && WEFT_M == WEFT_LOCK_WRITE,
	      "modes and bits 0-1 of the word are permissions");

static u64 owner_bits(u16 owner)
{
	return (u64)owner << WEFT_WORD_OWNER_SHIFT;
}

static bool fits(u64 word, u8 perm)
{
	if (word & WEFT_WORD_OWNER)
		return false;
	return perm == WEFT_M ? !(word & WEFT_WORD_READERS) :
				(word & WEFT_WORD_READERS) != WEFT_WORD_READERS;
}

bool weft_word_fits(const struct weft_klock *kl, u8 perm)
{
	lockdep_assert_held(&kl->lock);
	return fits(READ_ONCE(*kl->word), perm);
}

bool weft_word_take(struct weft_klock *kl, const struct weft_holder *h)
{
	u64 old = READ_ONCE(*kl->word), new;

	lockdep_assert_held(&kl->lock);
	do {
		if (!fits(old, h->perm))
			return false;
		new = h->perm == WEFT_M ? old | owner_bits(h->owner) :
					  old + WEFT_WORD_READER;
	} while (!try_cmpxchg(kl->word, &old, new));
	if (h->perm == WEFT_S)
		atomic_inc((atomic_t *)h->readers);
	kl->moves++;
	return true;
}

/* One reader less in the count of a file.  Return: false if there is none. */
static bool count_down(u32 *readers)
{
	u32 old = READ_ONCE(*readers);

	do {
		if (!old)
			return false;
	} while (!try_cmpxchg(readers, &old, old - 1));
	return true;
}

/* So many readers less; a program may have written any number. */
static void take_readers(struct weft_klock *kl, u64 n)
{
	u64 old = READ_ONCE(*kl->word), new;

	do {
		new = old - min(n * WEFT_WORD_READER, old & WEFT_WORD_READERS);
	} while (!try_cmpxchg(kl->word, &old, new));
}

static bool take_owner(struct weft_klock *kl, u16 owner)
{
	u64 old = READ_ONCE(*kl->word);

	do {
		if ((old & WEFT_WORD_OWNER) != owner_bits(owner))
			return false;
	} while (!try_cmpxchg(kl->word, &old, old & ~WEFT_WORD_OWNER));
	return true;
}

bool weft_word_leave(struct weft_klock *kl, const struct weft_holder *h)
{
	lockdep_assert_held(&kl->lock);
	if (h->perm == WEFT_M) {
		if (!take_owner(kl, h->owner))
			return false;
	} else {
		if (!count_down(h->readers))
			return false;
		take_readers(kl, 1);
	}
	kl->moves++;
	return true;
}

u32 weft_word_give_back(struct weft_klock *kl, u16 owner, u32 readers)
{
	u32 n = min_t(u32, readers, READERS_MAX);

	lockdep_assert_held(&kl->lock);
	if (n)
		take_readers(kl, n);
	n += take_owner(kl, owner);
	kl->moves += n > 0;
	return n;
}

bool weft_word_mirror(struct weft_klock *kl, bool slow)
{
	u64 old, new;

	lockdep_assert_held(&kl->lock);
	if (!kl->word)
		return false;
	old = READ_ONCE(*kl->word);
	do {
		new = (old & ~(WEFT_WORD_PERM | WEFT_WORD_SLOW)) |
		      kl->core.state | (slow ? WEFT_WORD_SLOW : 0);
	} while (new != old && !try_cmpxchg(kl->word, &old, new));
	return new & (WEFT_WORD_READERS | WEFT_WORD_OWNER);
}

bool weft_word_settle(struct weft_klock *kl, u64 word, u64 readers, u32 *less)
{
	u64 old = word & WEFT_WORD_READERS;
	u64 new = min_t(u64, readers, READERS_MAX) * WEFT_WORD_READER;

	lockdep_assert_held(&kl->lock);
	if (!try_cmpxchg(kl->word, &word, (word & ~WEFT_WORD_READERS) | new))
		return false;
	*less = old > new ? (old - new) / WEFT_WORD_READER : 0;
	kl->moves++;
	return true;
}
