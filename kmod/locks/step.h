/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What follows from an event of a lock.  Whatever happens to a lock happens between
 * weft_klock_begin() and weft_klock_end(), which makes steps until none is left: serve
 * those who wait here, ask, give away, give back.
 */
#ifndef WEFT_LOCKSTEP_H
#define WEFT_LOCKSTEP_H

#include "locks/klock.h"

struct task_struct;
struct weft_outbox;

/**
 * struct weft_waiter - somebody who waits in the kernel
 * @node: in weft_klock.waiters until @done
 * @task: who
 * @holder: what for
 * @told: the lock was left: it comes by itself, and takes it if it can.  The lock's
 *	@lock to write
 * @done: has it, or @err says why not.  The lock's @lock to write
 * @err: 0, -EIO or -ENOLCK
 */
struct weft_waiter {
	struct list_head node;
	struct task_struct *task;
	const struct weft_holder *holder;
	bool told;
	bool done;
	int err;
};

/* An event begins; @outbox is empty then, and takes its messages. */
void weft_klock_begin(struct weft_klock *kl, struct weft_outbox *outbox)
	__acquires(&kl->lock);

/* After any event: until nothing is left to do.  Sends @outbox. */
void weft_klock_end(struct weft_klock *kl, struct weft_outbox *outbox)
	__releases(&kl->lock);

/*
 * Carry out what the core decided; what it wants revoked is for
 * weft_klock_end().
 */
void weft_klock_act(struct weft_klock *kl, struct weft_lock_out *out,
		    struct weft_outbox *outbox) __must_hold(&kl->lock);

/* What it has asked for, and waited for longer than usual, is asked for again, now. */
void weft_klock_ask_again(struct weft_klock *kl) __must_hold(&kl->lock);

/* The core's word on hand-overs may have changed. */
void weft_klock_note_hand_over(struct weft_klock *kl) __must_hold(&kl->lock);

/*
 * May whoever is faster have the lock to write before the first one who waits for it?
 * No, if that has waited for WEFT_STRICT_NS, wants it to read, or another node waits.
 */
bool weft_klock_competes(struct weft_klock *kl) __must_hold(&kl->lock);

/* Who was told that the lock was left has come.  It may have it then, or not. */
void weft_klock_try(struct weft_klock *kl, struct weft_waiter *w) __must_hold(&kl->lock);

/* Whoever waits gets this error. */
void weft_klock_fail_all(struct weft_klock *kl, int err) __must_hold(&kl->lock);

/* Something has happened at its place: who awaits that is woken.  See wait.h. */
void weft_klock_event(struct weft_klock *kl) __must_hold(&kl->lock);

/* Nobody has it open, nobody waits. */
bool weft_klock_unused(const struct weft_klock *kl) __must_hold(&kl->lock);

#endif /* WEFT_LOCKSTEP_H */
