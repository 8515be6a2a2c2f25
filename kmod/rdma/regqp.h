/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registration QP: the queue pair on which keys are registered and invalidated.  It is
 * connected to itself, so no work request in it waits for a wire or a member.  In the queue of a
 * connection an invalidation would wait behind blocks that are retransmitted, and programs
 * behind that.  For main.c, mr.c, fault.c.
 */
#ifndef WEFT_RDMA_REGQP_H
#define WEFT_RDMA_REGQP_H

#include "rdma/card.h"

/* Make it.  The mender.  Return: 0, or an error and nothing is left. */
int weft_regqp_open(struct weft_card *card);

/*
 * Destroy it: all that was posted has completed, if only as failed.  The mender, without the
 * lock.
 */
void weft_regqp_close(struct weft_card *card);

/*
 * Have the card register @mr->sg, as @mr->ib says, and complete @mr->reg.  With the lock.
 * Return: false: the queue pair is broken or full, nothing was posted.
 */
bool weft_regqp_register(struct weft_mr *mr);

/* Have the card take the key of @mr back, and complete @done.  As above. */
bool weft_regqp_revoke(struct weft_mr *mr, struct ib_cqe *done);

#endif /* WEFT_RDMA_REGQP_H */
