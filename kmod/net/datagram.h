/* SPDX-License-Identifier: GPL-2.0-only */
/* Datagrams that leave, from any context.  How they come: port.h. */
#ifndef WEFT_DATAGRAM_H
#define WEFT_DATAGRAM_H

#include <linux/skbuff.h>

#include "net/config.h"

struct weft_node;

/**
 * weft_udp_alloc() - room for a datagram to a member
 * @to: member, or WEFT_PEER_GROUP
 * @len: bytes of the datagram, header and payload
 *
 * Any context.  Return: NULL if there is no memory.
 */
struct sk_buff *weft_udp_alloc(const struct weft_node *node, u32 to, u32 len);

/**
 * weft_udp_send() - send datagrams; the queue is empty afterwards
 *
 * What cannot be sent is dropped and counted: it counts as lost on the way.
 * Any context but hard interrupts, no spinlock of ours held.
 */
void weft_udp_send(struct weft_node *node, struct sk_buff_head *queue);

#endif /* WEFT_DATAGRAM_H */
