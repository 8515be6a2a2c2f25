/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks that this node's card reads at a blade by itself (core/landing.h): with a deed it does
 * what READ asks of the blade's program.  For main.c, mr.c and write.c.
 */
#ifndef WEFT_RDMA_READ_H
#define WEFT_RDMA_READ_H

#include "rdma/card.h"

/*
 *	the card reads the block into the memory region, and then the deed's number
 *	   the number is right: the MR is closed, and LANDED is handed in, as if sent
 *	   it is not: the deed is forgotten, and READ goes to the blade, with the landing
 *	   the card fails: the MR is closed, the connection ends, READ goes without a landing
 *
 * The number is read when all of the block has come: the blade's card answers requests in order,
 * but may fetch what the second one wants before the rest of the first.  A fence would wait for
 * all blocks that are being read, not for this one.
 */

/*
 * Deeds: where blades have blocks, for this node's card to read.  LANDED from a blade brings
 * one.  A deed is valid until a read shows that the blade has the block elsewhere (its number is
 * not there), or fails because the blade has invalidated its keys, which voids all deeds of that
 * blade.  The table has a fixed size: a new deed takes the place of another.
 *
 * A read costs two round trips more, one of them to the switch, and no work of the blade's
 * program.  Which way is faster depends on the blade's load, so it is measured
 * (weft_deed_wanted()).
 *
 * All of it with the card's lock.
 */

/* 16,384 deeds */
#define WEFT_DEEDS_BITS		14

/* A deed that this node has. */
struct weft_deed_note {
	u64 line;		/* of the block; 0: a free entry */
	u64 version;
	struct weft_deed deed;	/* where the block is */
	u8 home;
	u32 life;		/* weft_conn.life when it came */
};

/* Make the table, or none without memory; free it. */
void weft_deeds_make(struct weft_card *card);
void weft_deeds_drop(struct weft_card *card);

/* Take over the deed that LANDED from a blade brings. */
void weft_deed_take(struct weft_card *card, const struct weft_msg *landed,
		    const struct weft_deed *deed);

/* The deed is outdated, or will be when a block that goes home has arrived. */
void weft_deed_forget(struct weft_card *card, u64 line);

/*
 * Is a block that is missed now to be read by the card?  Never, always, or by the way that took
 * less time lately and now and then by the other one: module parameter "direct".
 */
bool weft_deed_wanted(struct weft_card *card, u32 home, u64 line);

/* A block of @home has come @ns after its miss; @direct: read by this node's card. */
void weft_deed_took(struct weft_card *card, u32 home, bool direct, u64 ns);

/* weft_transport.send().  Return: false: it is no READ, or it goes to the blade's program. */
bool weft_read_send(struct weft_card *card, const struct weft_outgoing *out);

#endif /* WEFT_RDMA_READ_H */
