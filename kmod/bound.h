/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A block that a lock guards, seen from the lock: it is expected with the lock,
 * asked for when the lock has come without it, passed on with the lock.
 *
 * Nothing here waits, and no program waits for anything here but one that touches
 * the block: it waits as for every other block.  Any context; the lock's spinlock
 * may be held, the line's is taken inside it.
 */
#ifndef WEFT_BOUND_H
#define WEFT_BOUND_H

#include "cache.h"

/**
 * weft_bound_expect() - a lock is asked for, and the block may come with it
 * @perm: WEFT_S or WEFT_M
 * @txn: the lock's transaction, which nobody else knows yet
 */
void weft_bound_expect(struct weft_cline *cl, u8 perm, u32 txn,
		       struct sk_buff_head *queue);

/**
 * weft_bound_come() - the lock has come
 * @perm: WEFT_S or WEFT_M
 * @passed: whoever had it passes on what it has modified: wait for that a moment
 *	before the block is asked for
 */
void weft_bound_come(struct weft_cline *cl, u8 perm, bool passed,
		     struct sk_buff_head *queue);

/* The lock is given up: no program that is through with the block keeps it. */
void weft_bound_leave(struct weft_cline *cl);

/**
 * weft_bound_pass() - the lock is handed on: the block goes with it if it is ours
 * @txn: who gets it expects it with this name
 * @excl: to write
 */
void weft_bound_pass(struct weft_cline *cl, u32 txn, bool excl,
		     struct sk_buff_head *queue);

/* The lock has nothing to do with the block any more. */
void weft_bound_drop(struct weft_cline *cl, struct sk_buff_head *queue);

/* --- for who drives the line ------------------------------------------------------ */

/* After each event: do what was not possible before. */
void weft_bound_follow(struct weft_cline *cl, struct sk_buff_head *queue)
	__must_hold(&cl->lock);

/* Do not wait for who is to pass it on: ask. */
void weft_bound_urge(struct weft_cline *cl, struct sk_buff_head *queue)
	__must_hold(&cl->lock);

/* It is asked for now. */
void weft_bound_asked(struct weft_cline *cl) __must_hold(&cl->lock);

/**
 * weft_bound_recv() - a message has been taken in by the core
 * @state: of the line before it
 *
 * Return: true if the block has come with a lock, which is no miss.
 */
bool weft_bound_recv(struct weft_cline *cl, const struct weft_msg *msg, u8 state)
	__must_hold(&cl->lock);

/* The line is reset, or DEAD. */
void weft_bound_forget(struct weft_cline *cl) __must_hold(&cl->lock);

/* Only expected: no timer runs, as nothing has been asked. */
static inline bool weft_bound_silent(const struct weft_cline *cl)
{
	return cl->line.expecting && !cl->line.held && !cl->bound.urged;
}

#endif /* WEFT_BOUND_H */
