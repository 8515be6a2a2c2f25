/* SPDX-License-Identifier: GPL-2.0-only */
/* A message as datagrams: header, payload, hash or tag. */
#ifndef WEFT_ENCODE_H
#define WEFT_ENCODE_H

#include <linux/skbuff.h>

struct weft_landing;
struct weft_node;
struct weft_outgoing;

/**
 * weft_encode() - the datagrams of a message
 * @queue: empty; receives one for each fragment, with headroom for UDP and what is below
 *
 * What there is no memory for is counted and lost, and so is a fragment whose block has
 * changed since the message was put down (msg_outdated).  Any context.
 */
void weft_encode(struct weft_node *node, const struct weft_outgoing *out,
		 struct sk_buff_head *queue);

/**
 * weft_encode_landed() - LANDED in the place of a message that would carry a block
 * @out: that message
 * @room: where at a home the block lies (core/landing.h); NULL: it is in another node's landing
 * @queue: empty; receives it
 *
 * The same.
 */
void weft_encode_landed(struct weft_node *node, const struct weft_outgoing *out,
			const struct weft_landing *room, struct sk_buff_head *queue);

#endif /* WEFT_ENCODE_H */
