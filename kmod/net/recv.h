/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What came from the network: checked, and handed to the layer that it is for.  weft_recv() is
 * for the transports; struct weft_packet for blocks/, which copies contents out of it.
 */
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
 * struct weft_receivers - what the layers above do with messages.  All in softirq
 * @block: takes a message for a line of kind page
 * @lock: takes a message for a line of kind lock
 * @call: takes a call of a memory blade
 * @closed: a posted buffer is closed (transport.h): once for each that was made
 */
struct weft_receivers {
	void (*block)(struct weft_node *node, const struct weft_packet *packet);
	void (*lock)(struct weft_node *node, const struct weft_msg *msg);
	void (*call)(struct weft_node *node, const struct weft_msg *msg);
	void (*closed)(struct weft_node *node, struct weft_posted *posted);
};

/**
 * weft_recv() - take in a datagram for this node
 * @skb: begins with the first message; not trusted; stays the caller's
 * @from: its source address
 * @posted: the posted buffer that it has closed, the only way in which LANDED counts; or NULL
 *
 * Softirq; does not sleep.
 */
void weft_recv(struct weft_node *node, struct sk_buff *skb, __be32 from,
	       struct weft_posted *posted);

/**
 * weft_recv_own() - take in LANDED for a block that this node's card has read, which no member
 * sends
 * @msg: LANDED as the home would have sent it
 * @posted: the posted buffer, which is closed
 *
 * Softirq; does not sleep.
 */
void weft_recv_own(struct weft_node *node, const struct weft_msg *msg, struct weft_posted *posted);

/* A received message: header checked, payload still in the datagram. */
struct weft_packet {
	struct weft_msg msg;	/* header; @msg.payload is NULL if the payload is scattered */
	struct sk_buff *skb;	/* the datagram */
	__be32 from;		/* its source address; filled in by the caller */
	/* the posted buffer that it has closed, or NULL; filled in by the caller */
	struct weft_posted *posted;
	u32 at;			/* offset of the message in @skb */
	u32 len;		/* bytes of the message */
};

/* At load: 0 or -ENOMEM; at unload. */
int weft_packet_init(void);
void weft_packet_exit(void);

/* Copy @n bytes of the payload, from offset @from. */
void weft_packet_copy(const struct weft_packet *packet, u32 from, void *dst, u32 n);

#endif /* WEFT_RECV_H */
