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

#include "blocks/block.h"

struct weft_outbox;

/**
 * weft_bound_expect() - a lock is asked for, and the block may come with it
 * @perm: WEFT_S or WEFT_M
 * @txn: the lock's transaction, which nobody else knows yet
 */
void weft_bound_expect(struct weft_block *blk, u8 perm, u32 txn,
		       struct weft_outbox *outbox);

/**
 * weft_bound_come() - the lock has come
 * @perm: WEFT_S or WEFT_M
 * @passed: whoever had it passes on what it has modified: wait for that a moment
 *	before the block is asked for
 */
void weft_bound_come(struct weft_block *blk, u8 perm, bool passed,
		     struct weft_outbox *outbox);

/* The lock is given up: no program that is through with the block keeps it. */
void weft_bound_leave(struct weft_block *blk);

/**
 * weft_bound_pass() - the lock is handed on: the block goes with it if it is ours
 *
 * To readers it is lent, to a writer it is passed on.
 */
void weft_bound_pass(struct weft_block *blk, const struct weft_successors *successors,
		     struct weft_outbox *outbox);

/**
 * weft_bound_yield() - readers give up the lock: the block goes with it
 * @writer: who gets the lock expects the block with this name
 *
 * If it is ours it is passed on; if it was lent to us it is given back.
 */
void weft_bound_yield(struct weft_block *blk, u32 writer,
		      struct weft_outbox *outbox);

/* The lock has nothing to do with the block any more. */
void weft_bound_drop(struct weft_block *blk, struct weft_outbox *outbox);

/* --- for who drives the line ------------------------------------------------------ */

/* After each event: do what was not possible before. */
void weft_bound_follow(struct weft_block *blk, struct weft_outbox *outbox)
	__must_hold(&blk->lock);

/* Do not wait for who is to pass it on: ask. */
void weft_bound_urge(struct weft_block *blk, struct weft_outbox *outbox)
	__must_hold(&blk->lock);

/* It is asked for now. */
void weft_bound_asked(struct weft_block *blk) __must_hold(&blk->lock);

/**
 * weft_bound_recv() - a message has been taken in by the core
 * @state: of the line before it
 *
 * Return: true if the block has come with a lock, which is no miss.
 */
bool weft_bound_recv(struct weft_block *blk, const struct weft_msg *msg, u8 state)
	__must_hold(&blk->lock);

/* The line is reset, or DEAD. */
void weft_bound_forget(struct weft_block *blk) __must_hold(&blk->lock);

/* Lent to readers who are about to give it back: who wants to write waits for that. */
static inline bool weft_bound_returning(const struct weft_block *blk)
{
	return blk->line.state == WEFT_M && blk->bound.wish && blk->bound.patience;
}

/* Only expected: no timer runs, as nothing has been asked, and nothing has come. */
static inline bool weft_bound_silent(const struct weft_block *blk)
{
	return blk->line.expecting && !blk->line.held && !blk->line.need_known &&
	       !blk->bound.urged;
}

#endif /* WEFT_BOUND_H */
