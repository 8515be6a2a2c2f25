/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The UDP transport: one kernel socket.  Datagrams come in by the encapsulation hook, in
 * softirq, and go out from any context.  The socket holds the port on all addresses and
 * interfaces; what did not come from that port by the rack's interface is dropped.
 */
#ifndef WEFT_DATAGRAM_H
#define WEFT_DATAGRAM_H

#include <linux/skbuff.h>

#include "net/config.h"

struct netlink_ext_ack;
struct weft_node;

/**
 * weft_udp_open() - open the socket and join the switch's group
 * @cfg: complete: interface, addresses and mtu are known
 * @receive: takes each datagram, which begins with its first message and stays the
 *	caller's.  Softirq
 * @extack: receives a sentence in case of an error
 */
int weft_udp_open(struct weft_node *node, const struct weft_config *cfg,
		  void (*receive)(struct weft_node *node, struct sk_buff *skb),
		  struct netlink_ext_ack *extack);

/* Afterwards nothing is received any more.  Sleeps. */
void weft_udp_close(struct weft_node *node);

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
