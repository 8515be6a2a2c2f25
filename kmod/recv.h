/* SPDX-License-Identifier: GPL-2.0-only */
/* What came from the network: check it, hand it to whom it is for. */
#ifndef WEFT_RECV_H
#define WEFT_RECV_H

#include <linux/types.h>

/**
 * weft_recv() - a datagram for this node
 * @buf: the datagram, not trusted
 * @len: its length
 *
 * Softirq; does not sleep.
 */
void weft_recv(const void *buf, u32 len);

#endif /* WEFT_RECV_H */
