/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages as datagrams: puts them into a queue for weft_udp_send(). */
#ifndef WEFT_SEND_H
#define WEFT_SEND_H

#include <linux/skbuff.h>

#include "core/wire.h"

struct page;
struct weft_node;

/**
 * weft_send() - queue a message
 * @queue: not shared with anybody
 * @to: member, or WEFT_PEER_GROUP
 * @msg: src, rack and, without @msg->payload, len are filled in
 *
 * The payload is copied.  Any context.  A message for which there is no memory
 * is counted and lost.
 */
void weft_send(struct weft_node *node, struct sk_buff_head *queue, u32 to,
	       struct weft_msg *msg);

/**
 * weft_send_block() - queue a whole block, in fragments
 * @msg: DATA or WB
 * @pages: the block's pages
 * @size: its bytes
 * @frozen: nobody writes to the block: its pages are sent as they are.  Should
 *	one change before it is on the wire, the receiver finds the hash wrong,
 *	counts it as torn (msg_torn) and drops it
 *
 * Any context.
 */
void weft_send_block(struct weft_node *node, struct sk_buff_head *queue, u32 to,
		     struct weft_msg *msg, struct page *const *pages, u32 size,
		     bool frozen);

#endif /* WEFT_SEND_H */
