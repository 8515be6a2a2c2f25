/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the locks have for each other:
 *
 *	klock.c		the table of locks, their life
 *	lockdrive.c	what follows from an event
 *	lockwait.c	programs that open, take and leave locks, and wait for them
 *	lockarrive.c	messages
 *	lockback.c	what is given back: by the dead, by inodes, at the end
 *
 * Whatever happens to a lock happens between weft_klock_begin() and
 * weft_klock_end(), which sees to all that follows from it.
 */
#ifndef WEFT_KLOCK_PARTS_H
#define WEFT_KLOCK_PARTS_H

#include <linux/skbuff.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "klock.h"

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

enum weft_klocks_mode {
	WEFT_KLOCKS_OFF,
	WEFT_KLOCKS_RUNNING,
	WEFT_KLOCKS_STOPPING,
};

/**
 * struct weft_klocks - all locks of this node
 * @table: by the name of the line; looked up under RCU
 * @mode: enum weft_klocks_mode
 * @alive: structures, also those out of the table
 * @strays: locks that only messages told us of
 * @hand_overs: under way
 * @gone: for a hand-over less, a structure less, an empty table
 * @fetch: what a lock guards is asked for when it has come.  Module parameter
 * @pass: ... and passed on with it, and expected with it.  Module parameter
 * @keep: locks that nobody holds, and what they guard, stay until somebody else wants
 *	them.  Module parameter
 * @local_hands: so often this node serves its own while another one waits.
 *	Module parameter
 */
struct weft_klocks {
	struct xarray table;
	enum weft_klocks_mode mode;
	atomic_t alive;
	atomic_t strays;
	atomic_t hand_overs;
	wait_queue_head_t gone;
	bool fetch;
	bool pass;
	bool keep;
	unsigned int local_hands;
};

extern struct weft_klocks weft_klocks;

/* --- klock.c ------------------------------------------------------------------- */

/* Something that is waited for in weft_klocks.gone may have happened. */
void weft_klocks_woken(void);

/* With a reference for the table and one for the caller; NULL: no memory. */
struct weft_klock *weft_klock_alloc(u64 key, gfp_t gfp);

/* It never was in the table. */
void weft_klock_discard(struct weft_klock *kl);

/* Any context.  Return: the lock with a reference, or NULL. */
struct weft_klock *weft_klock_find(u64 key);

/* The first one from *key to @last, with a reference; *key is set to it. */
struct weft_klock *weft_klock_next(u64 *key, u64 last);

/* It is not only a message any more that wants it. */
void weft_klock_no_stray(struct weft_klock *kl) __must_hold(&kl->lock);

/* Out of the table.  The caller has a reference. */
void weft_klock_kill(struct weft_klock *kl) __must_hold(&kl->lock);

/* --- lockdrive.c --------------------------------------------------------------- */

void weft_klock_timer_init(struct weft_klock *kl);

/* An event begins; @queue is empty then, and takes its messages. */
void weft_klock_begin(struct weft_klock *kl, struct sk_buff_head *queue)
	__acquires(&kl->lock);

/* After any event: until nothing is left to do.  Sends @queue. */
void weft_klock_end(struct weft_klock *kl, struct sk_buff_head *queue)
	__releases(&kl->lock);

/*
 * Carry out what the core decided; what it wants revoked is for
 * weft_klock_end().
 */
void weft_klock_act(struct weft_klock *kl, struct weft_lock_out *out,
		    struct sk_buff_head *queue) __must_hold(&kl->lock);

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

/* Nobody has it open, nobody waits. */
bool weft_klock_unused(const struct weft_klock *kl) __must_hold(&kl->lock);

#endif /* WEFT_KLOCK_PARTS_H */
