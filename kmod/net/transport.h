/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways to the other members of a rack: a node has a list of them, asked in turn for each
 * message; the last one, weft_udp, leads to everybody.  For rack/member.c, blocks/effects.c,
 * outbox.c and weft_rdma.ko.
 */
#ifndef WEFT_TRANSPORT_H
#define WEFT_TRANSPORT_H

#include <linux/refcount.h>
#include <linux/types.h>

#include "core/landing.h"

struct netlink_ext_ack;
struct sk_buff;
struct weft_config;
struct weft_contents;
struct weft_hello;
struct weft_node;
struct weft_outgoing;
struct weft_posted;

/**
 * struct weft_transport - a way to other members
 * @idle: points to true while @post and @send lead to no member, and are not called; or NULL
 * @open: from now on weft_recv() is called, in softirq, for what comes.  @cfg is complete;
 *	@extack receives a sentence for an error.  Process context
 * @close: afterwards nothing is received and nothing goes out.  Harmless if it is not open.
 *	Process context, sleeps
 * @post: make a posted buffer for a block, for a request for @line that is about to go to member
 *	@home.  @contents come with a reference, which the posted buffer takes over.  Any
 *	context, any lock.  Return: NULL: not now.  NULL for a transport that has none
 * @why: the reason, a sentence, why data goes another way to a member; NULL: it does not.
 *	Process context.  NULL for a transport of this module
 * @moved: a member has another address.  Any context.  NULL for a transport that keeps nothing
 *	of the old one
 * @send: encode a message and send it, or drop and count it; @out stays the caller's.  Any
 *	context but hard interrupts, also while the transport is being closed; no spinlock of
 *	ours held. Return: false, and nothing done, if it does not lead to the member
 *
 * A transport may lose, repeat and reorder messages, as the protocol expects.  It may not change
 * one: weft_recv() checks what it brings by hash or tag, as what the network brings.
 */
struct weft_transport {
	const bool *idle;
	int (*open)(struct weft_node *node, const struct weft_config *cfg,
		    struct netlink_ext_ack *extack);
	void (*close)(struct weft_node *node);
	struct weft_posted *(*post)(struct weft_node *node, u32 home, u64 line,
				    struct weft_contents *contents);
	const char *(*why)(struct weft_node *node, u32 to);
	void (*moved)(struct weft_node *node, u32 member);
	bool (*send)(struct weft_node *node, const struct weft_outgoing *out);
};

/* Open and close all transports of a node; errors and contexts are those of @open and @close. */
int weft_transport_open(struct weft_node *node, const struct weft_config *cfg,
			struct netlink_ext_ack *extack);
void weft_transport_close(struct weft_node *node);

/*
 * A posted buffer of the first transport that has one now; else NULL, and the reference to
 * @contents stays the caller's.
 */
struct weft_posted *weft_transport_post(struct weft_node *node, u32 home, u64 line,
					struct weft_contents *contents);

/*
 * Open the posted buffer that the message offers, then send it by the first transport that leads
 * there.
 */
void weft_transport_send(struct weft_node *node, const struct weft_outgoing *out);

/*
 * Posted receive buffers: a block's memory into which another member may write, for one request
 * (core/landing.h has the rules).
 *
 *	new	made for a request that is about to go; no member can write there
 *	open	the request has gone with the buffer's key and address
 *	closed	no member can write there any more: LANDED has come, or the block wanted that;
 *		weft_receivers.closed() is called once, after LANDED was handed in
 *
 * References: the block's, from the offer to closed(); the transport's, until closed() has
 * returned; that of an outbox that is to open or close it.
 */

/**
 * struct weft_posted_ops - what its transport does with a posted buffer
 * @open: request @out is about to go.  Return: false: the buffer is open; true: the transport
 *	sends the request later, or drops it
 * @close: end all access of others.  weft_receivers.closed() is called when that is so, perhaps
 *	before this returns
 * @free: the last reference is gone; @contents are the caller's.  RCU
 *
 * Any context but hard interrupts, no spinlock of ours held.
 */
struct weft_posted_ops {
	bool (*open)(struct weft_posted *posted, const struct weft_outgoing *out);
	void (*close)(struct weft_posted *posted);
	void (*free)(struct weft_posted *posted);
};

/* A posted receive buffer. */
struct weft_posted {
	refcount_t ref;
	struct weft_landing landing;		/* key and address, as the request offers them */
	/* the node's card can read the block at its home, which the request says as well */
	bool direct;
	/* the block's bytes, with a reference until the buffer is freed */
	struct weft_contents *contents;
	struct weft_node *node;			/* whose block it is */
	const struct weft_posted_ops *ops;	/* of its transport */
	struct weft_posted *next;		/* in weft_outbox.closing */
};

/* Initialise with two references: the transport's and the caller's of weft_transport_post(). */
void weft_posted_init(struct weft_posted *posted, struct weft_node *node,
		      const struct weft_posted_ops *ops, struct weft_contents *contents);

struct weft_posted *weft_posted_get(struct weft_posted *posted);
void weft_posted_put(struct weft_posted *posted);

/*
 * A transport may come from another module, weft_rdma.ko, which needs ib_core, so that weft.ko
 * does not.  The module may come and go while nodes are up.
 */

/* Stands for the registered transport, if there is one. */
extern const struct weft_transport weft_module_transport;

/* datagram.c and memory.c */
extern const struct weft_transport weft_udp;
extern const struct weft_transport weft_memory;

/*
 * Why data does not go by the registered transport.  @why: out: a sentence; "" if data goes by
 * it.  @size: bytes of @why.  Process context.  Return: false: none is registered.
 */
bool weft_transport_why(struct weft_node *node, u32 to, char *why, size_t size);

/* A member has another address: connections to the old one end.  Any context. */
void weft_transport_moved(struct weft_node *node, u32 member);

/*
 * Register the transport of a module.  @transport: opened for each node that is up or comes up;
 * a node comes up even if that fails.  Process context.  Return: 0; -EBUSY: there is one.
 */
int weft_transport_register(const struct weft_transport *transport);

/*
 * Close the transport for all nodes; it is not called any more, but operations of its posted
 * buffers are, for as long as those have references.  Process context, sleeps.
 */
void weft_transport_unregister(const struct weft_transport *transport);

/*
 * Read the landing that a request offers (core/landing.h).  Any context.  Return: false: none.
 */
bool weft_landing_of(const struct weft_outgoing *request, struct weft_landing *landing);

/**
 * weft_deed_of() - read the deed that LANDED from a blade brings (core/landing.h)
 * @skb: LANDED, in one piece; not trusted
 * @landed: out: the message
 *
 * Any context.  Return: false: it is damaged, not LANDED from a blade with the rack's key, or
 * has no deed.
 */
bool weft_deed_of(const struct weft_node *node, const struct sk_buff *skb,
		  struct weft_msg *landed, struct weft_deed *deed);

/*
 * Write the private data of a connection: who this node is (core/hello.h).  @to: the member that
 * is connected to.  @buf: WEFT_HELLO_LEN bytes.  Any context.
 */
void weft_private_say(struct weft_node *node, u8 to, void *buf);

/**
 * weft_private_check() - check the private data of a peer: who it is
 * @said: the private data; not trusted
 * @len: bytes
 * @addr: the peer's address; 0: of no member
 * @must_be: the member that it must be; 0: any
 * @hello: out, if nothing is wrong
 *
 * Any context.  Return: NULL; else what is wrong, a sentence.
 */
const char *weft_private_check(struct weft_node *node, const void *said, size_t len,
			       __be32 addr, u8 must_be, struct weft_hello *hello);

#endif /* WEFT_TRANSPORT_H */
