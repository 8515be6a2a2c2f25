// SPDX-License-Identifier: GPL-2.0-only
/*
 * The word of a lock, which programs change at the same time: every change is a cmpxchg.  Called
 * by step.c, wait.c and reclaim.c under the lock's spinlock.  Believes nothing that it reads:
 * nonsense makes only those programs wait, or lets those in together, that share the word.
 */
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/minmax.h>

#include "locks/slots.h"
#include "locks/word.h"
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
	return perm == WEFT_M ? !(word & (WEFT_WORD_READERS | WEFT_WORD_LISTED)) :
				(word & WEFT_WORD_READERS) != WEFT_WORD_READERS;
}

/*
 * Is no reader listed?  Sets SLOW, so that readers list themselves no more, and then looks at
 * the lists.
 */
static bool none_listed(struct weft_lockres *lr)
{
	return !(READ_ONCE(*lr->word) & WEFT_WORD_LISTED) ||
	       !weft_word_mirror(lr, WEFT_WORD_SLOW);
}

atomic_t *weft_word_event(const struct weft_lockres *lr)
{
	return (atomic_t *)&container_of(lr->word, struct weft_lock_word, word)->event;
}

atomic_t *weft_word_waiting(const struct weft_lockres *lr)
{
	return (atomic_t *)&container_of(lr->word, struct weft_lock_word, word)->waiting;
}

bool weft_word_fits(struct weft_lockres *lr, u8 perm)
{
	lockdep_assert_held(&lr->lock);
	if (perm == WEFT_M && !none_listed(lr))
		return false;
	return fits(READ_ONCE(*lr->word), perm);
}

bool weft_word_take(struct weft_lockres *lr, const struct weft_holder *h)
{
	u64 old, new;

	lockdep_assert_held(&lr->lock);
	if (h->perm == WEFT_M && !none_listed(lr))
		return false;
	old = READ_ONCE(*lr->word);
	do {
		if (!fits(old, h->perm))
			return false;
		new = h->perm == WEFT_M ?
		      (old & ~WEFT_WORD_READS) | owner_bits(h->owner) :
		      old + WEFT_WORD_READER;
	} while (!try_cmpxchg(lr->word, &old, new));
	if (h->perm == WEFT_S)
		atomic_inc((atomic_t *)h->readers);
	lr->moves++;
	return true;
}

/* Take one off a file's count of readers.  Return: false: it is 0. */
static bool count_down(u32 *readers)
{
	u32 old = READ_ONCE(*readers);

	do {
		if (!old)
			return false;
	} while (!try_cmpxchg(readers, &old, old - 1));
	return true;
}

/*
 * Take up to @n readers off the word, in which a program may have written any number.  Return:
 * how many there were.
 */
static u32 take_readers(struct weft_lockres *lr, u32 n)
{
	u64 old = READ_ONCE(*lr->word), less;

	do {
		less = min((u64)n * WEFT_WORD_READER, old & WEFT_WORD_READERS);
	} while (!try_cmpxchg(lr->word, &old, old - less));
	return less / WEFT_WORD_READER;
}

static bool take_owner(struct weft_lockres *lr, u16 owner)
{
	u64 old = READ_ONCE(*lr->word);

	do {
		if ((old & WEFT_WORD_OWNER) != owner_bits(owner))
			return false;
	} while (!try_cmpxchg(lr->word, &old, old & ~WEFT_WORD_OWNER));
	return true;
}

bool weft_word_leave(struct weft_lockres *lr, const struct weft_holder *h)
{
	lockdep_assert_held(&lr->lock);
	if (h->perm == WEFT_M) {
		if (!take_owner(lr, h->owner))
			return false;
	} else {
		if (!count_down(h->readers))
			return false;
		take_readers(lr, 1);
	}
	lr->moves++;
	return true;
}

u32 weft_word_give_back(struct weft_lockres *lr, u16 owner, u32 readers)
{
	u32 n = readers ? take_readers(lr, readers) : 0;

	lockdep_assert_held(&lr->lock);
	if ((READ_ONCE(*lr->word) & WEFT_WORD_OWNER) == owner_bits(owner)) {
		/* before the next holder can have it: that finds both */
		WRITE_ONCE(container_of(lr->word, struct weft_lock_word, word)->holder, 0);
		weft_word_note_death(lr);
	}
	n += take_owner(lr, owner);
	lr->moves += n > 0;
	return n;
}

/* Set and clear bits that only the kernel changes. */
static void change(struct weft_lockres *lr, u64 set, u64 clear)
{
	u64 old = READ_ONCE(*lr->word);

	while (!try_cmpxchg(lr->word, &old, (old & ~clear) | set))
		;
}

void weft_word_note_death(struct weft_lockres *lr)
{
	lockdep_assert_held(&lr->lock);
	if (lr->word)
		change(lr, WEFT_WORD_DIED, 0);
	else
		lr->core.unmended = true;
}

bool weft_word_died(const struct weft_lockres *lr)
{
	return READ_ONCE(*lr->word) & WEFT_WORD_DIED;
}

void weft_word_mend(struct weft_lockres *lr)
{
	lockdep_assert_held(&lr->lock);
	lr->core.unmended = false;
	if (lr->word)
		change(lr, 0, WEFT_WORD_DIED);
}

void weft_word_tell_on(struct weft_lockres *lr, bool leave)
{
	lockdep_assert_held(&lr->lock);
	if (!lr->word || !weft_word_died(lr))
		return;
	lr->core.unmended = true;
	if (leave)
		change(lr, 0, WEFT_WORD_DIED);
}

bool weft_word_mirror(struct weft_lockres *lr, u64 bits)
{
	const u64 ours = WEFT_WORD_PERM | WEFT_WORD_SLOW | WEFT_WORD_TELL;
	u64 old, new;

	lockdep_assert_held(&lr->lock);
	if (!lr->word)
		return false;
	old = READ_ONCE(*lr->word);
	do {
		new = (old & ~ours) | lr->core.state | bits;
		if (lr->core.unmended)
			new |= WEFT_WORD_DIED;
		/*
		 * writers have to ask the kernel anyhow: let readers list themselves, which is
		 * cheap
		 */
		if (lr->core.state == WEFT_S && !bits && lr->lists)
			new |= WEFT_WORD_LISTED;
	} while (new != old && !try_cmpxchg(lr->word, &old, new));
	lr->core.unmended = false;
	lr->here |= lr->core.state != WEFT_I;
	if (new & (WEFT_WORD_READERS | WEFT_WORD_OWNER))
		return true;
	if (!(new & WEFT_WORD_LISTED) || bits != WEFT_WORD_SLOW)
		return false;
	if (lr->lists && weft_holds_listed(lr->lists, lr->slot))
		return true;
	/* with SLOW set no reader lists itself */
	while (!try_cmpxchg(lr->word, &new, new & ~WEFT_WORD_LISTED))
		;
	return new & (WEFT_WORD_READERS | WEFT_WORD_OWNER);
}

bool weft_word_settle(struct weft_lockres *lr, u64 word, u64 readers, u32 *less)
{
	u64 old = word & WEFT_WORD_READERS;
	u64 new = min_t(u64, readers, READERS_MAX) * WEFT_WORD_READER;

	lockdep_assert_held(&lr->lock);
	if (!try_cmpxchg(lr->word, &word, (word & ~WEFT_WORD_READERS) | new))
		return false;
	*less = old > new ? (old - new) / WEFT_WORD_READER : 0;
	lr->moves++;
	return true;
}
