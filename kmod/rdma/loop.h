/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue pair by which a card is told to register pages and to take keys back.  It is
 * connected to itself and sends nothing: so nothing in it ever waits for a wire, or for what
 * another member does.  In the queue of a connection the order to take a key back would stand
 * behind blocks that are repeated until they arrive, and programs would wait for it.
 */
#ifndef WEFT_RDMA_LOOP_H
#define WEFT_RDMA_LOOP_H

#include "rdma/card.h"

/* The mender.  Return: 0 or an error, and nothing is left. */
int weft_loop_open(struct weft_card *card);

/* Afterwards all that was asked for was told, be it as failed.  The mender, not the lock. */
void weft_loop_close(struct weft_card *card);

/*
 * Register @strip->sg, as @strip->mr says; take its key back.  Tells @strip->reg, or inv.
 * With the lock.  Return: false: it is not asked for.
 */
bool weft_loop_register(struct weft_strip *strip);
bool weft_loop_take_back(struct weft_strip *strip);

/* Take its key back, and tell somebody else, see fault.h. */
bool weft_loop_revoke(struct weft_strip *strip, struct ib_cqe *told);

#endif /* WEFT_RDMA_LOOP_H */
