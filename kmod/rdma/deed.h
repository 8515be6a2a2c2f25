/* SPDX-License-Identifier: GPL-2.0-only */
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
#ifndef WEFT_RDMA_DEED_H
#define WEFT_RDMA_DEED_H

#include "rdma/card.h"

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

/* Of a block at @home; NULL: there is none. */
const struct weft_deed_note *weft_deed_find(struct weft_card *card, u32 home, u64 line);

/* The blade refuses to be read: it has taken back all keys that it gave. */
void weft_deeds_void(struct weft_link *link);

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

#endif /* WEFT_RDMA_DEED_H */
