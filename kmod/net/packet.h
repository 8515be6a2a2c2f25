/* SPDX-License-Identifier: GPL-2.0-only */
/* A message as it came: header checked, payload still in the received buffer. */
#ifndef WEFT_PACKET_H
#define WEFT_PACKET_H

#include <linux/skbuff.h>

#include "core/tag.h"
#include "core/wire.h"

struct weft_pad;

/**
 * struct weft_packet - a received message
 * @msg: header; @msg.payload is NULL if the payload is not in one piece
 * @skb: the datagram
 * @from: address that it came from; filled in by the caller
 * @pad: the landing pad that its coming has closed, or NULL; filled in by the caller
 * @at: where the message begins in it, bytes
 * @len: bytes of the message
 */
struct weft_packet {
	struct weft_msg msg;
	struct sk_buff *skb;
	__be32 from;
	struct weft_pad *pad;
	u32 at;
	u32 len;
};

/* Once at load and unload. */
int weft_packet_init(void);
void weft_packet_exit(void);

/**
 * weft_packet_parse() - check the next message of a datagram
 * @packet: filled in
 * @key: of the rack
 * @skb: begins with the header of its first message; not trusted
 * @at: where the next one begins, less than the length of @skb
 *
 * @packet->len is set in any case, so that a damaged message does not take those
 * behind it along.
 *
 * Blocks stay where they are; the payload of other messages, which stand alone in
 * theirs, is made one piece.  Softirq.
 *
 * Return: as weft_wire_unpack(); -ENOMEM.
 */
int weft_packet_parse(struct weft_packet *packet, const struct weft_key *key,
		      struct sk_buff *skb, u32 at);

/* Copy part of the payload: @n bytes from offset @from of it. */
void weft_packet_copy(const struct weft_packet *packet, u32 from, void *dst,
		      u32 n);

#endif /* WEFT_PACKET_H */
