/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the protocol core decided, done: contents, mappings, messages, waiters,
 * timers of one block in the cache.
 */
#ifndef WEFT_STEP_H
#define WEFT_STEP_H

#include "blocks/block.h"
#include "net/rtt.h"

struct weft_outbox;
struct weft_packet;

/* Ready for use by the functions below; called for a new line. */
void weft_step_init(struct weft_block *blk);

/**
 * weft_step() - carry out what follows from one event
 * @out: from the core
 * @packet: the message that it came from, or NULL
 * @outbox: receives the messages; sent by the caller when it has let go of the
 *	line's lock
 *
 * The line is LIVE and its lock is held.
 */
void weft_step(struct weft_block *blk, struct weft_out *out,
	       const struct weft_packet *packet, struct weft_outbox *outbox)
	__must_hold(&blk->lock);

/* A transaction that programs wait for begins: out has its request. */
void weft_step_begin(struct weft_block *blk) __must_hold(&blk->lock);

/* Which of the usual times holds for this operation, see rtt.h. */
static inline enum weft_rtt_what weft_step_rtt(const struct weft_block *blk, u8 op)
{
	/* a line that has left: its COMMIT comes after all that is written home */
	if (op == WEFT_OP_PUT || op == WEFT_OP_CLEAN ||
	    (op == WEFT_OP_COMMIT && blk->line.state == WEFT_I))
		return WEFT_RTT_HOME;
	return op == WEFT_OP_GETS && blk->early ? WEFT_RTT_AHEAD : WEFT_RTT_ASK;
}

/* Ask (again), though no time-out says so. */
void weft_step_again(struct weft_block *blk, struct weft_outbox *outbox)
	__must_hold(&blk->lock);

/* There is something new to wait for a short time for. */
void weft_step_soon(struct weft_block *blk) __must_hold(&blk->lock);

/* Somebody waits from now on for what was asked for early. */
void weft_step_hurry(struct weft_block *blk) __must_hold(&blk->lock);

/* @keep changed: a revocation that waits for it may be due earlier. */
void weft_step_keep(struct weft_block *blk, u64 keep) __must_hold(&blk->lock);

/* No timer starts any more: the line is DEAD. */
void weft_step_stop(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * Do the revocation that is due, if any is, without waiting for the work queue.
 * Process context, no page locked; the caller has a reference.
 */
void weft_step_revoke_now(struct weft_block *blk);

#endif /* WEFT_STEP_H */
