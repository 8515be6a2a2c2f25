/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that open, take and leave locks, and wait for them; eventcounts.  For lockfile.c,
 * bind.c and mapped.c.  Process context.
 */
#ifndef WEFT_WAIT_H
#define WEFT_WAIT_H

#include "locks/lockres.h"
#include "locks/learn.h"

/**
 * weft_lockres_attach() - give an open lock its word
 * @word: the word that programs share, all zeros
 * @slot: its slot
 * @lists: where readers may be listed
 *
 * Return: false: the lock is dead, get it anew; else it has a reference until
 * weft_lockres_detach().
 */
bool weft_lockres_attach(struct weft_lockres *lr, u64 *word, u32 slot, struct weft_lists *lists);

/* No file has the lock open any more, so no hold and no waiter is left: take its word away. */
void weft_lockres_detach(struct weft_lockres *lr);

/**
 * weft_lockres_acquire() - take a lock for a program, waiting for it
 * @came: out: it came from another node for this; only if 0 is returned
 *
 * Return: 0; -EBUSY: @try; -ETIMEDOUT: the deadline; -ERESTARTSYS: a signal; -EIO: the rack does
 * not answer or has no such lock any more; -ENOLCK: the region has as many locks as it may.
 */
int weft_lockres_acquire(struct weft_lockres *lr, const struct weft_holder *h,
			 const struct weft_patience *patience, bool *came);

/* Leave the lock for a program.  Return: 0; -EPERM: the file does not hold it. */
int weft_lockres_release(struct weft_lockres *lr, const struct weft_holder *h);

/*
 * Set what the lock guards.  @guard: takes over the caller's reference; NULL: nothing.  Return:
 * the guard before, with its reference, or NULL.
 */
struct weft_guard *weft_lockres_bind(struct weft_lockres *lr, struct weft_guard *guard);

/* The holder has repaired what a dead owner may have left half changed. */
void weft_lockres_mend(struct weft_lockres *lr);

/* What a lock guards, without the lock's spinlock. */
struct weft_guarded_blocks {
	struct weft_region *region;	/* of the blocks */
	/* as programs have said, with a reference for the caller; NULL: as was learnt */
	struct weft_guard *guard;
	const u64 *block;		/* indices of the blocks */
	u32 n;
	u64 learnt[WEFT_LEARN_BLOCKS];	/* memory for @block */
};

/* Fill in @b.  Process context.  The caller gives @b->guard back by weft_guard_put(). */
void weft_lockres_blocks(struct weft_lockres *lr, struct weft_guarded_blocks *b);

/* A program has left the lock without the kernel: serve whoever waits. */
void weft_lockres_kick(struct weft_lockres *lr);

/*
 * Eventcounts (Reed and Kanodia 1979): programs of all nodes wait until something in a region
 * changes, see struct weft_eventcount in uapi/weft.h.
 *
 * An eventcount is a lock that no program holds.  READ caches it to read at this node.  ADVANCE
 * wants it to write, so all other nodes have to give it up; a node that has given it up counts
 * an event (weft_lockres_event()), and its programs look again.  No event is lost: between READ
 * and the loss of the lock no other node has had it to write, and what a program changes before
 * its node has it to write is visible to a node that gets it to read after that.
 */

/**
 * weft_eventcount_read() - read the count; the node counts events from now on
 * @h: the file, as a reader
 * @count: out: events so far
 *
 * Waits for the lock if this node does not have it.
 *
 * Return: 0; -EOPNOTSUPP: the node keeps no locks; as weft_lockres_acquire().
 */
int weft_eventcount_read(struct weft_lockres *lr, const struct weft_holder *h,
			 const struct weft_patience *patience, u32 *count);

/*
 * A program may await events without being counted in the word: other programs must not conclude
 * that none does.
 */
void weft_eventcount_count(struct weft_lockres *lr);

/*
 * Wait until there were other events than @count.  Return: 0; -ETIMEDOUT; -ERESTARTNOHAND, or
 * without a deadline -ERESTARTSYS: a signal.
 */
int weft_eventcount_await(struct weft_lockres *lr, u32 count, const struct weft_patience *patience);

/* Make an event: wakes threads that await one, on all nodes.  Does not wait for that. */
void weft_eventcount_advance(struct weft_lockres *lr);

#endif /* WEFT_WAIT_H */
