/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a block's request has offered: a posted buffer (net/transport.h), and the messages that
 * wait until it is closed.
 */
#ifndef WEFT_OFFER_H
#define WEFT_OFFER_H

#include "blocks/block.h"

struct weft_outbox;
struct weft_packet;
struct weft_send;

/**
 * weft_offer_put() - a message without data goes, with a landing if it may offer one
 * @s: of the core
 *
 * With the block's lock.
 */
void weft_offer_put(struct weft_block *blk, u32 to, const struct weft_send *s,
		    struct weft_outbox *outbox);

/* The same for a line that is no block here: with the landing that it passes on. */
void weft_offer_put_other(u32 to, const struct weft_send *s, struct weft_outbox *outbox);

/* Close the posted buffer, if there is one: WEFT_DO_CLOSE.  With the block's lock. */
void weft_offer_close(struct weft_block *blk, struct weft_outbox *outbox);

/* And hand the message in again when it is: WEFT_DO_AGAIN.  With the block's lock. */
void weft_offer_park(struct weft_block *blk, const struct weft_packet *packet);

/**
 * weft_offer_landed() - LANDED has come
 *
 * With the block's lock.  Return: false if it is not of the posted buffer that the block waits
 * for.
 */
bool weft_offer_landed(struct weft_block *blk, const struct weft_packet *packet);

/**
 * weft_offer_closed() - nobody can write to a posted buffer any more
 *
 * With the block's lock.  Return: true if the block still waited for it: the caller gives
 * back the block's reference to the posted buffer when the lock is free.
 */
bool weft_offer_closed(struct weft_block *blk, const struct weft_posted *posted);

/*
 * The messages that waited, in the order in which they came, if there is nothing to wait for
 * any more.  Each with a reference to its datagram.  With the block's lock.
 */
struct weft_parked *weft_offer_take_parked(struct weft_block *blk);

#endif /* WEFT_OFFER_H */
