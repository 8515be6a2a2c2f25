/* SPDX-License-Identifier: GPL-2.0-only */
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
#ifndef WEFT_EVENTCOUNT_H
#define WEFT_EVENTCOUNT_H

#include "locks/klock.h"

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

#endif /* WEFT_EVENTCOUNT_H */
