/* SPDX-License-Identifier: GPL-2.0-only */
/* Receive buffers for messages that come by the card, shared by all connections.  For main.c. */
#ifndef WEFT_RDMA_INBOX_H
#define WEFT_RDMA_INBOX_H

#include "rdma/card.h"

/*
 * Make and post all buffers.  The mender.  Return: 0 or -ENOMEM; weft_inbox_empty() is to be
 * called in any case.
 */
int weft_inbox_fill(struct weft_card *card);

/* Free all buffers.  The mender, when the queues are gone. */
void weft_inbox_empty(struct weft_card *card);

#endif /* WEFT_RDMA_INBOX_H */
