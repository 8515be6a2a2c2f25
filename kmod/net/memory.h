/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The transport between members of a rack that are in the same kernel: a machine may be a
 * node of a rack more than once, each time with an id, an interface and an address of its
 * own (JOINS in weft_netlink.h).  For tests, and for looking at the protocol, without a
 * network: what one node sends the other one receives in the next softirq.
 *
 * Two nodes are joined if they have the same rack number in the same network namespace, and
 * the sender knows the other one's id by its address: then the first blade has said that
 * it is the same rack.  Messages are the same bytes as on the wire, and checked as those.
 * Blades, and the switch, are reached as always.
 *
 * A block that one of them has for another is not sent but written into the other's memory
 * (transport.h), as network cards do: what is tried of that here needs no card.
 */
#ifndef WEFT_MEMORY_H
#define WEFT_MEMORY_H

#include "net/transport.h"

/* Datagrams that wait in a node's inbox; what comes when it is full is lost and counted. */
#define WEFT_INBOX_MAX	4096

/* Blocks that may land at a node at a time; for more there is no posted buffer. */
#define WEFT_POSTED_MAX		256

/* Larger ones come in messages: one is written with a spinlock held. */
#define WEFT_LANDS_MAX		65536

extern const struct weft_transport weft_memory;

#endif /* WEFT_MEMORY_H */
