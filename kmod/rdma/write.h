/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks that this node's card writes into the memory of other members: it reads the pages where
 * they are, writes them, and then sends LANDED, which invalidates the key.  For main.c.
 */
#ifndef WEFT_RDMA_WRITE_H
#define WEFT_RDMA_WRITE_H

#include "rdma/card.h"

/*
 * A block that goes home is written to a write-back buffer (wbuf.h).  When all of it has arrived
 * LANDED is sent, if the block has not changed: the card may have read the pages at any moment
 * until then, more than once.  For another node's landing that does not matter: the node that
 * asks keeps the block from changing until it commits.
 *
 * The block's pages are held until the card has completed LANDED.
 */

/* weft_transport.send().  Return: false: the message goes another way. */
bool weft_write_send(struct weft_card *card, const struct weft_outgoing *out);

#endif /* WEFT_RDMA_WRITE_H */
