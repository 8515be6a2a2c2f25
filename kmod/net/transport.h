/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways to the other members of a rack.  A node has a list of them, which are asked one
 * after the other for each message; the last one, net/datagram.h, leads to everybody.
 *
 * A transport may lose messages, repeat them and change their order: the protocol expects
 * all of that.  It may not change one: what it hands to weft_recv() is checked there, by
 * hash or tag, as what the network brings.
 */
#ifndef WEFT_TRANSPORT_H
#define WEFT_TRANSPORT_H

#include <linux/types.h>

struct netlink_ext_ack;
struct weft_config;
struct weft_contents;
struct weft_node;
struct weft_outgoing;
struct weft_pad;

/**
 * struct weft_transport - a way to other members
 * @name: for people
 * @open: from here on weft_recv() is called, in softirq, for what comes.  @cfg is complete:
 *	interface, addresses and mtu are known; @extack receives a sentence in case of an
 *	error.  Process context
 * @close: afterwards nothing is received any more, and nothing goes out.  Harmless if it is
 *	not open.  Process context, sleeps
 * @pad: a landing pad for a block (pad.h), for a request for @line that is about to go to its
 *	home, a member.  @contents come with a reference, which becomes the pad's.  Any context, any
 *	lock.  Return: NULL: not now.  NULL for a transport that never has any
 * @why: why data goes another way to a member: NULL: it does not; else a sentence.  Process
 *	context.  NULL for a transport that nobody asks
 * @moved: a member has another address.  Any context.  NULL for a transport that keeps nothing
 *	of the one before
 * @send: encodes a message and sends it, or drops and counts it; @out stays the caller's.
 *	Any context but hard interrupts, also while it is being closed; no spinlock of ours
 *	held.  Return: false, and nothing done, if it does not lead to the member
 */
struct weft_transport {
	const char *name;
	int (*open)(struct weft_node *node, const struct weft_config *cfg,
		    struct netlink_ext_ack *extack);
	void (*close)(struct weft_node *node);
	struct weft_pad *(*pad)(struct weft_node *node, u32 home, u64 line,
				struct weft_contents *contents);
	const char *(*why)(struct weft_node *node, u32 to);
	void (*moved)(struct weft_node *node, u32 member);
	bool (*send)(struct weft_node *node, const struct weft_outgoing *out);
};

/* All transports of a node; the errors and contexts are those of the transports. */
int weft_transport_open(struct weft_node *node, const struct weft_config *cfg,
			struct netlink_ext_ack *extack);
void weft_transport_close(struct weft_node *node);

/* Of the first one that has one now; else NULL, and the reference stays the caller's. */
struct weft_pad *weft_transport_pad(struct weft_node *node, u32 home, u64 line,
				    struct weft_contents *contents);

/* By the first one that leads to the member, when the pad that it offers is open. */
void weft_transport_send(struct weft_node *node, const struct weft_outgoing *out);

#endif /* WEFT_TRANSPORT_H */
