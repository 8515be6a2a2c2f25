/* SPDX-License-Identifier: GPL-2.0-only */
/* What came from the network: check it, hand it to whom it is for. */
#ifndef WEFT_RECV_H
#define WEFT_RECV_H

struct sk_buff;
struct weft_msg;
struct weft_packet;

/**
 * struct weft_receivers - the layers above, which messages are for
 * @block: a message for a line of kind page
 * @lock: ... of kind lock
 * @call: a memory blade calls
 *
 * All in softirq.
 */
struct weft_receivers {
	void (*block)(const struct weft_packet *packet);
	void (*lock)(const struct weft_msg *msg);
	void (*call)(const struct weft_msg *msg);
};

/* Once, when the module is loaded, before a socket is open.  @receivers stays the caller's. */
void weft_recv_init(const struct weft_receivers *receivers);

/**
 * weft_recv() - a datagram for this node
 * @skb: begins with the first message; not trusted; stays the caller's
 *
 * Softirq; does not sleep.
 */
void weft_recv(struct sk_buff *skb);

#endif /* WEFT_RECV_H */
