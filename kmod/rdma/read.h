/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks that this node's card reads at a blade by itself (core/landing.h): it does what READ
 * asks the blade's program for, if there is a deed.
 *
 *	the card reads the block into the memory region, and then the deed's number
 *	   the number is right: the MR is closed, and LANDED is handed in, as if sent
 *	   it is not: the deed is forgotten, and READ goes to the blade, with the landing
 *	   the card fails: the MR is closed, the connection ends, READ goes without a landing
 *
 * The number is asked for when all of the block has come: a card answers requests in their order,
 * but may fetch from memory what the second one wants before the rest of the first.  A request
 * with a fence would wait for all blocks that are being read, not for this one.
 */
#ifndef WEFT_RDMA_READ_H
#define WEFT_RDMA_READ_H

#include "rdma/card.h"

/*
 * Deeds: where blades have blocks, so that this node's card can read them by itself
 * (core/landing.h).  LANDED from a blade brings one; it counts until it turns out that the blade
 * has the block elsewhere (its number is not there), or has taken back its keys: then a read
 * fails, with its connection, and all deeds of that blade are void.  A table of fixed size,
 * in which a new one takes the place of another.
 *
 * To read costs two round trips more, one of them to the switch, and the blade's program nothing.
 * Which way is the faster one depends on what else the blade has to do, so it is measured
 * (weft_deed_wanted()).
 *
 * All of it with the card's lock.
 */

/* Bits of their number: of 16,384 blocks. */
#define WEFT_DEEDS_BITS		14

/**
 * struct weft_deed_note - a deed that this node has
 * @line: of the block; 0: none
 * @version: of the block
 * @deed: where it is
 * @home: the blade
 * @life: of the blade's keys, when it came
 */
struct weft_deed_note {
	u64 line;
	u64 version;
	struct weft_deed deed;
	u8 home;
	u32 life;
};

/* Without memory there are none.  The mender. */
void weft_deeds_make(struct weft_card *card);
void weft_deeds_drop(struct weft_card *card);

/* LANDED from a blade has brought one. */
void weft_deed_take(struct weft_card *card, const struct weft_msg *landed,
		    const struct weft_deed *deed);

/* The blade has, or will have, the block elsewhere. */
void weft_deed_forget(struct weft_card *card, u64 line);

/**
 * weft_deed_wanted() - is a block that is missed now to be read by the card?
 *
 * As parameter "direct" of the module says: never, always, or the way that took less time
 * lately, and now and then the other one.
 */
bool weft_deed_wanted(struct weft_card *card, u32 home, u64 line);

/* A block of @home came, @ns after it was missed: by the card, or as somebody was asked for it. */
void weft_deed_took(struct weft_card *card, u32 home, bool direct, u64 ns);

/* weft_transport.send(): false: not a READ, or the blade is to be asked. */
bool weft_read_send(struct weft_card *card, const struct weft_outgoing *out);

#endif /* WEFT_RDMA_READ_H */
