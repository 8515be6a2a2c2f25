/* SPDX-License-Identifier: GPL-2.0-only */
/* What came from the network: check it, hand it to whom it is for. */
#ifndef WEFT_RECV_H
#define WEFT_RECV_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "core/tag.h"
#include "core/wire.h"

struct sk_buff;
struct weft_msg;
struct weft_node;
struct weft_packet;
struct weft_posted;

/**
 * struct weft_receivers - the layers above, which messages are for
 * @block: a message for a line of kind page
 * @lock: ... of kind lock
 * @call: a memory blade calls
 * @closed: nobody can write to a posted buffer any more (transport.h); once for each posted
 *	buffer that was made
 *
 * All in softirq.
 */
struct weft_receivers {
	void (*block)(struct weft_node *node, const struct weft_packet *packet);
	void (*lock)(struct weft_node *node, const struct weft_msg *msg);
	void (*call)(struct weft_node *node, const struct weft_msg *msg);
	void (*closed)(struct weft_node *node, struct weft_posted *posted);
};

/**
 * weft_recv() - a datagram for this node
 * @skb: begins with the first message; not trusted; stays the caller's
 * @from: address that it came from
 * @posted: which its coming has closed: LANDED counts only by that; NULL: none
 *
 * Softirq; does not sleep.
 */
void weft_recv(struct weft_node *node, struct sk_buff *skb, __be32 from,
	       struct weft_posted *posted);

/**
 * weft_recv_own() - what nobody has sent: LANDED of a block that this node's card has read
 * @msg: as its home would have sent it
 * @posted: that is closed
 *
 * Softirq; does not sleep.
 */
void weft_recv_own(struct weft_node *node, const struct weft_msg *msg, struct weft_posted *posted);

/* A message as it came: header checked, payload still in the received buffer. */

/**
 * struct weft_packet - a received message
 * @msg: header; @msg.payload is NULL if the payload is not in one piece
 * @skb: the datagram
 * @from: address that it came from; filled in by the caller
 * @posted: the posted buffer that its coming has closed, or NULL; filled in by the caller
 * @at: where the message begins in it, bytes
 * @len: bytes of the message
 */
struct weft_packet {
	struct weft_msg msg;
	struct sk_buff *skb;
	__be32 from;
	struct weft_posted *posted;
	u32 at;
	u32 len;
};

/* Once at load and unload. */
int weft_packet_init(void);
void weft_packet_exit(void);

/* Copy part of the payload: @n bytes from offset @from of it. */
void weft_packet_copy(const struct weft_packet *packet, u32 from, void *dst,
		      u32 n);

/*
 * What comes from the address of a blade's twin, which stands by as far as this node knows.  It
 * has taken over if it says so by TWIN, or by its answer to what it was asked as the blade was
 * silent.  Nothing else of it is believed: it may as well be the blade of before, which has not
 * heard that its twin serves.
 */

#endif /* WEFT_RECV_H */
