/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory regions (MR): posted buffers (net/transport.h) into which the cards of other members
 * write.  For main.c, inbox.c and read.c.
 */
#ifndef WEFT_RDMA_MR_H
#define WEFT_RDMA_MR_H

#include "rdma/card.h"

/*
 * A key is dead, and its posted buffer closed, as soon as one of these is so, and not before:
 *
 * - a message has come by a connection, and the card says that it has invalidated this key (send
 *   with invalidate): all that was written before it on that connection is in memory;
 * - the card has completed an invalidation that was posted on the registration QP (regqp.h);
 * - ib_dereg_mr() has returned.
 *
 * Whatever fails, of queue, connection or device, ends in the third.  None of them waits for
 * another member: the second takes as long as the card takes, and after WEFT_STUCK_MS, or at a
 * failure, the registration QP is destroyed and the mender does the third.
 *
 * A key is the device's number of the MR and eight bits that count.  The address that goes with
 * it is made up, and no two landings have the same: a write that is late, or comes twice, by a
 * key that has come round is at an address that does not exist, and is refused.  That costs the
 * writer its connection, which is made again: the price of a landing that is closed before its
 * provider has written.
 */

void weft_mr_init(struct weft_card *card);

/* weft_transport.post().  Return: NULL: not now.  RCU. */
struct weft_posted *weft_mr_make(struct weft_card *card, u32 home, u64 line,
				 struct weft_contents *contents);

/* The open MR of a landing; NULL: it is not open.  With the lock. */
struct weft_mr *weft_mr_open(struct weft_card *card, const struct weft_landing *landing);

/* This node's card has read the block: invalidate the key, then hand @landed in.  Softirq. */
void weft_mr_read(struct weft_mr *mr, const struct weft_msg *landed);

/*
 * A message has come that has invalidated @key.  @skb: the message; NULL: it is lost.  @from:
 * its sender's address.  Softirq.
 */
void weft_mr_landed(struct weft_card *card, u32 key, struct sk_buff *skb, __be32 from);

/*
 * Give MRs of the device to those that have none, as far as the device has any left.  The
 * mender.
 */
void weft_mr_equip(struct weft_card *card);

/*
 * Deregister MRs in state BAD, and close their posted buffers.  The mender; no work request for
 * them is outstanding.
 */
void weft_mr_mend(struct weft_card *card);

/* Is a work request for an MR outstanding for longer than WEFT_STUCK_MS?  With the lock. */
bool weft_mr_stuck(struct weft_card *card);

/*
 * Deregister all MRs and close all posted buffers.  The mender, with @up false and the
 * registration QP destroyed.
 */
void weft_mr_unmake_all(struct weft_card *card);

#endif /* WEFT_RDMA_MR_H */
