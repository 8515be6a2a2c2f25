/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that open, take and leave locks, and wait for them. */
#ifndef WEFT_WAIT_H
#define WEFT_WAIT_H

#include "locks/klock.h"
#include "locks/learn.h"

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

/**
 * struct weft_guarded_blocks - what a lock guards, without the lock's spinlock
 * @region: of the blocks
 * @guard: as programs have said, with a reference for the caller; NULL: as was learnt
 * @block: indices of the blocks
 * @n: how many
 * @learnt: memory for @block
 */
struct weft_guarded_blocks {
	struct weft_region *region;
	struct weft_guard *guard;
	const u64 *block;
	u32 n;
	u64 learnt[WEFT_LEARN_BLOCKS];
};

/* Fill in @b.  Process context.  The caller gives @b->guard back by weft_guard_put(). */
void weft_klock_blocks(struct weft_klock *kl, struct weft_guarded_blocks *b);

/* A program has left the lock: who is next? */
void weft_klock_kick(struct weft_klock *kl);

/*
 * Eventcounts (Reed and Kanodia 1979): programs of all nodes that wait until something in a
 * region changes, see struct weft_eventcount in uapi/weft.h.
 *
 * Each is a lock that nobody holds.  A node that has READ the count caches the lock to read.
 * ADVANCE wants it to write, by which all other nodes are asked to give it up, as they always
 * are; a node that has given it up counts an event (weft_klock_event()), and its programs look
 * again.  So no event is lost: between READ and the loss of the lock no other node can have had
 * it to write, and what a program changes before its node has the lock to write is seen by who
 * gets it to read after that.
 */

/**
 * weft_eventcount_read() - this node hears of events from now on
 * @h: who asks, to read
 * @count: out: events so far
 *
 * Process context; waits for the lock if this node does not have it.
 *
 * Return: 0; -EOPNOTSUPP: this node keeps no locks; as weft_klock_acquire().
 */
int weft_eventcount_read(struct weft_klock *kl, const struct weft_holder *h,
			 const struct weft_patience *patience, u32 *count);

/* Somebody may await events here who cannot say so: nobody takes it that there is none. */
void weft_eventcount_count(struct weft_klock *kl);

/**
 * weft_eventcount_await() - until there were other events than @count
 *
 * Process context.
 *
 * Return: 0; -ETIMEDOUT; -ERESTARTNOHAND, or without a deadline -ERESTARTSYS: a signal.
 */
int weft_eventcount_await(struct weft_klock *kl, u32 count, const struct weft_patience *patience);

/* An event: whoever awaits it, on whatever node, is woken.  Does not wait for that. */
void weft_eventcount_advance(struct weft_klock *kl);

#endif /* WEFT_WAIT_H */
