/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks that this node's card reads at a blade by itself (core/landing.h): it does what READ
 * asks the blade's program for, if there is a deed.
 *
 *	the card reads the block into the landing strip, and then the deed's number
 *	   the number is right: the strip is closed, and LANDED is handed in, as if sent
 *	   it is not: the deed is forgotten, and READ goes to the blade, with the landing
 *	   the card fails: the strip is closed, the connection ends, READ goes without a landing
 *
 * The number is asked for when all of the block has come: a card answers requests in their order,
 * but may fetch from memory what the second one wants before the rest of the first.  A request
 * with a fence would wait for all blocks that are being read, not for this one.
 */
#ifndef WEFT_RDMA_READ_H
#define WEFT_RDMA_READ_H

#include "rdma/card.h"

/* weft_transport.send(): false: not a READ, or the blade is to be asked. */
bool weft_read_send(struct weft_card *card, const struct weft_outgoing *out);

#endif /* WEFT_RDMA_READ_H */
