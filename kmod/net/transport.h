/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A way to the other members of a rack.  A node has one; net/datagram.h is the first.
 *
 * A transport may lose messages, repeat them and change their order: the protocol expects
 * all of that.  It may not change one: what it hands to weft_recv() is checked there, by
 * hash or tag, as what the network brings.
 */
#ifndef WEFT_TRANSPORT_H
#define WEFT_TRANSPORT_H

struct netlink_ext_ack;
struct weft_config;
struct weft_node;
struct weft_outbox;

/**
 * struct weft_transport - a way to the other members
 * @name: for people
 * @open: from here on weft_recv() is called, in softirq, for what comes.  @cfg is complete:
 *	interface, addresses and mtu are known; @extack receives a sentence in case of an
 *	error.  Process context
 * @close: afterwards nothing is received any more, and nothing goes out.  Harmless if it is
 *	not open.  Process context, sleeps
 * @send: takes all of the outbox, encodes and sends it, or drops and counts it.  Any
 *	context but hard interrupts, also while it is being closed; no spinlock of ours held
 */
struct weft_transport {
	const char *name;
	int (*open)(struct weft_node *node, const struct weft_config *cfg,
		    struct netlink_ext_ack *extack);
	void (*close)(struct weft_node *node);
	void (*send)(struct weft_node *node, struct weft_outbox *box);
};

#endif /* WEFT_TRANSPORT_H */
