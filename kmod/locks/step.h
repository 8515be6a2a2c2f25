/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What follows from an event of a lock.  Each event is handled between weft_lockres_begin() and
 * weft_lockres_end(), which makes steps until none is left: serve waiters here, ask, give away,
 * give back.  For the files of this folder.
 */
#ifndef WEFT_LOCKSTEP_H
#define WEFT_LOCKSTEP_H

#include "locks/lockres.h"

struct task_struct;
struct weft_outbox;

/* A thread that waits in the kernel for a lock. */
struct weft_waiter {
	struct list_head node;			/* in weft_lockres.waiters until @done */
	struct task_struct *task;
	const struct weft_holder *holder;	/* the hold that it wants */
	/*
	 * the lock was left: the thread comes and takes it if it still can.  Written under
	 * weft_lockres.lock
	 */
	bool told;
	bool done; /* it holds the lock, or @err says why not.  Written under weft_lockres.lock */
	int err;				/* 0, -EIO or -ENOLCK */
};

/* Begin an event: takes the lock's spinlock and makes @outbox empty. */
void weft_lockres_begin(struct weft_lockres *lr, struct weft_outbox *outbox)
	__acquires(&lr->lock);

/* End an event: makes steps until none is left, drops the spinlock and sends @outbox. */
void weft_lockres_end(struct weft_lockres *lr, struct weft_outbox *outbox)
	__releases(&lr->lock);

/* Carry out what the core decided, but for WEFT_DO_REVOKE, which weft_lockres_end() looks at. */
void weft_lockres_act(struct weft_lockres *lr, struct weft_lock_out *out,
		      struct weft_outbox *outbox) __must_hold(&lr->lock);

/* Repeat a request that waits for longer than usual, now. */
void weft_lockres_ask_again(struct weft_lockres *lr) __must_hold(&lr->lock);

/* Count a hand-over that the core has begun or ended. */
void weft_lockres_note_hand_over(struct weft_lockres *lr) __must_hold(&lr->lock);

/*
 * May any writer of this node overtake the first waiter?  Not if that has waited for
 * WEFT_STRICT_NS or wants to read, or if another node waits.
 */
bool weft_lockres_competes(struct weft_lockres *lr) __must_hold(&lr->lock);

/* A waiter that was told comes: it takes the lock if it still can. */
void weft_lockres_try(struct weft_lockres *lr, struct weft_waiter *w) __must_hold(&lr->lock);

/* Fail all waiters with @err. */
void weft_lockres_fail_all(struct weft_lockres *lr, int err) __must_hold(&lr->lock);

/* Count an event at the lock's place and wake threads that await one (wait.h). */
void weft_lockres_event(struct weft_lockres *lr) __must_hold(&lr->lock);

/* No file has the lock open, and no thread waits for it. */
bool weft_lockres_unused(const struct weft_lockres *lr) __must_hold(&lr->lock);

#endif /* WEFT_LOCKSTEP_H */
