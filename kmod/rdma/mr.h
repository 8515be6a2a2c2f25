/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory regions: posted buffers (net/transport.h) into which the cards of others write.
 *
 * A key is dead, and its posted buffer is closed, when one of these is so, and not before:
 *
 * - a message has come by a connection, and the card says that by it this key was taken
 *   back (send with invalidate): all that was written before it on that connection is there;
 * - the card says that it has done what it was told by the registration QP (regqp.h): take
 *   this key back;
 * - the registration was destroyed (ib_dereg_mr() has returned).
 *
 * So whatever fails, of a queue, a connection, or the device, ends in the third.  None of
 * them waits for another member: the second takes what the card takes to do it, and after
 * WEFT_STUCK_MS, or at a failure, the registration QP is closed and the mender does the third.
 *
 * A key is the device's name for the MR and eight bits that count.  The address that goes
 * with it is made up, and no two landings have the same: what a card writes late, or twice,
 * by a key that has come round, is at an address that is not there, and is refused.  Whoever
 * is refused loses the connection, which is made again: that is the price of a landing that
 * is closed before its provider has written.
 */
#ifndef WEFT_RDMA_MR_H
#define WEFT_RDMA_MR_H

#include "rdma/card.h"

void weft_mr_init(struct weft_card *card);

/* weft_transport.posted(): NULL: not now.  RCU. */
struct weft_posted *weft_mr_make(struct weft_card *card, u32 home, u64 line,
				 struct weft_contents *contents);

/* The MR of a landing, if others can write there.  With the lock. */
struct weft_mr *weft_mr_open(struct weft_card *card, const struct weft_landing *landing);

/* This node's card has read the block: when the MR is closed @landed is handed in. */
void weft_mr_read(struct weft_mr *mr, const struct weft_msg *landed);

/**
 * weft_mr_landed() - a message has come that has taken back @key
 * @skb: it; NULL: it is lost
 * @from: who sent it
 *
 * Softirq.
 */
void weft_mr_landed(struct weft_card *card, u32 key, struct sk_buff *skb, __be32 from);

/* MRs that have none get a registration, as far as there are any.  The mender. */
void weft_mr_equip(struct weft_card *card);

/*
 * Those of which nobody knows are closed.  The mender.  Nothing of them is in the registration QP.
 */
void weft_mr_mend(struct weft_card *card);

/* Does the card take too long for one?  With the lock. */
bool weft_mr_stuck(struct weft_card *card);

/*
 * All registrations end, and all posted buffers are closed that were not.  The mender.  @up is
 * false, and the registration QP is closed.
 */
void weft_mr_unmake_all(struct weft_card *card);

#endif /* WEFT_RDMA_MR_H */
