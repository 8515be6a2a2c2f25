/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks that this node has for others: the card reads the pages where they are and writes
 * them to where they may land, and behind that sends LANDED, which takes back the key.
 *
 * A block that goes home is written to a buffer (wbuf.h).  When the card says that all of it is
 * there LANDED goes, if the block is still what it was: the card may have read it at any moment
 * until then, more than once.  For another node's landing that does not matter: who asks keeps
 * the block from changing until it commits.
 *
 * The block is held until the card says that it is done.
 */
#ifndef WEFT_RDMA_WRITE_H
#define WEFT_RDMA_WRITE_H

#include "rdma/card.h"

/* weft_transport.send(): false: by another way. */
bool weft_write_send(struct weft_card *card, const struct weft_outgoing *out);

#endif /* WEFT_RDMA_WRITE_H */
