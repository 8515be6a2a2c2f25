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
 * Register @mr->sg, as @mr->ib says; take its key back.  Tells @mr->reg, or inv.
 * With the lock.  Return: false: it is not asked for.
 */
bool weft_regqp_register(struct weft_mr *mr);
bool weft_regqp_take_back(struct weft_mr *mr);

/* Take its key back, and tell somebody else, see fault.h. */
bool weft_regqp_revoke(struct weft_mr *mr, struct ib_cqe *told);

#endif /* WEFT_RDMA_REGQP_H */
