/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue pair by which a card is told to register pages and to take keys back.  It is
 * connected to itself and sends nothing: so nothing in it ever waits for a wire, or for what
 * another member does.  In the queue of a connection the order to take a key back would stand
 * behind blocks that are repeated until they arrive, and programs would wait for it.
 */
#ifndef WEFT_RDMA_REGQP_H
#define WEFT_RDMA_REGQP_H

#include "rdma/card.h"

/* The mender.  Return: 0 or an error, and nothing is left. */
int weft_regqp_open(struct weft_card *card);

/* Afterwards all that was asked for was told, be it as failed.  The mender, not the lock. */
void weft_regqp_close(struct weft_card *card);

/*
 * Have the card register @mr->sg, as @mr->ib says, and complete @mr->reg.  With the lock.
 * Return: false: the queue pair is broken or full, nothing was posted.
 */
bool weft_regqp_register(struct weft_mr *mr);

/* Have the card take the key of @mr back, and complete @done.  As above. */
bool weft_regqp_revoke(struct weft_mr *mr, struct ib_cqe *done);

#endif /* WEFT_RDMA_REGQP_H */
