/* SPDX-License-Identifier: GPL-2.0-only */
/* What came from the network: check it, hand it to whom it is for. */
#ifndef WEFT_RECV_H
#define WEFT_RECV_H

struct sk_buff;

/**
 * weft_recv() - a datagram for this node
 * @skb: begins with the first message; not trusted; stays the caller's
 *
 * Softirq; does not sleep.
 */
void weft_recv(struct sk_buff *skb);

#endif /* WEFT_RECV_H */
