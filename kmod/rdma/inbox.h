/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What others send by the card: LANDED, which takes back the key of the landing that it is
 * about.  All connections share the buffers.
 */
#ifndef WEFT_RDMA_INBOX_H
#define WEFT_RDMA_INBOX_H

#include "rdma/card.h"

/* The mender.  Return: 0 or -ENOMEM, and weft_inbox_empty() is called all the same. */
int weft_inbox_fill(struct weft_card *card);

/* The device has none of them any more: its queues are gone.  The mender. */
void weft_inbox_empty(struct weft_card *card);

#endif /* WEFT_RDMA_INBOX_H */
