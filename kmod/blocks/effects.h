/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Carries out what the protocol core has decided about a block: contents, messages and their
 * landings, waiters, the time by which an answer is due.  The other files of blocks/ call it with
 * the block locked.  It decides nothing about the line and takes nothing away from programs.
 */
#ifndef WEFT_EFFECTS_H
#define WEFT_EFFECTS_H

#include "blocks/block.h"
#include "net/rtt.h"

struct weft_outbox;
struct weft_packet;
struct weft_send;

/**
 * weft_block_carry_out() - do what follows from one event
 * @out: from the core
 * @packet: the message that caused it, or NULL
 * @outbox: receives the messages
 *
 * Between weft_block_begin() and weft_block_end(); the block is LIVE.  WEFT_DO_REVOKE and
 * WEFT_DO_PROTECT are left to the next step, which sees @revoking in the line.
 */
void weft_block_carry_out(struct weft_block *blk, struct weft_out *out,
			  const struct weft_packet *packet, struct weft_outbox *outbox)
	__must_hold(&blk->lock);

/* A transaction begins that programs, or a lock, wait for. */
void weft_block_asks(struct weft_block *blk) __must_hold(&blk->lock);

/* Repeat the request now; the caller carries @out out. */
void weft_block_ask_again(struct weft_block *blk, struct weft_out *out)
	__must_hold(&blk->lock);

/* Set @look_at: look later whether younger requests have overtaken this one. */
void weft_block_look_later(struct weft_block *blk) __must_hold(&blk->lock);

/* A thread waits from now on for what was read ahead: shorten the time-out. */
void weft_block_hurry(struct weft_block *blk) __must_hold(&blk->lock);

/* The class of round trips (rtt.h) that this operation belongs to. */
static inline enum weft_rtt_what weft_block_rtt(const struct weft_block *blk, u8 op)
{
	/* the COMMIT of a line that has left comes after the write-backs before it */
	if (op == WEFT_OP_PUT || op == WEFT_OP_CLEAN ||
	    (op == WEFT_OP_COMMIT && blk->line.state == WEFT_I))
		return WEFT_RTT_HOME;
	return op == WEFT_OP_GETS && blk->early ? WEFT_RTT_AHEAD : WEFT_RTT_ASK;
}

/* --- landings (struct weft_offer), all under the block's lock ------------------------------ */

/* Put down an answer for a line that is no block here, with the landing that it passes on. */
void weft_offer_put_other(u32 to, const struct weft_send *s, struct weft_outbox *outbox);

/* WEFT_DO_CLOSE: close the posted buffer, if the block has one. */
void weft_offer_close(struct weft_block *blk, struct weft_outbox *outbox);

/* WEFT_DO_AGAIN: keep @packet until the posted buffer is closed. */
void weft_offer_park(struct weft_block *blk, const struct weft_packet *packet);

/* LANDED has come.  Return: false if it is not for the posted buffer that the block waits for. */
bool weft_offer_landed(struct weft_block *blk, const struct weft_packet *packet);

/**
 * weft_offer_closed() - nobody can write to a posted buffer any more
 *
 * Return: true if the block still waited for it: the caller puts the block's reference to the
 * posted buffer after it has released the lock.
 */
bool weft_offer_closed(struct weft_block *blk, const struct weft_posted *posted);

/*
 * The parked messages in the order in which they came, each with a reference to its datagram.
 * NULL while a posted buffer is open.
 */
struct weft_parked *weft_offer_take_parked(struct weft_block *blk);

#endif /* WEFT_EFFECTS_H */
