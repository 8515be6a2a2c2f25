/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways to the other members of a rack.  A node has a list of them, which are asked one
 * after the other for each message; the last one, weft_udp, leads to everybody.
 *
 * A transport may lose messages, repeat them and change their order: the protocol expects
 * all of that.  It may not change one: what it hands to weft_recv() is checked there, by
 * hash or tag, as what the network brings.
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
 * @open: from here on weft_recv() is called, in softirq, for what comes.  @cfg is complete:
 *	interface, addresses and mtu are known; @extack receives a sentence in case of an
 *	error.  Process context
 * @close: afterwards nothing is received any more, and nothing goes out.  Harmless if it is
 *	not open.  Process context, sleeps
 * @post: a posted buffer for a block, for a request for @line that is about to go to its
 *	home, a member.  @contents come with a reference, which becomes the posted buffer's.  Any
 *	context, any lock.  Return: NULL: not now.  NULL for a transport that never has any
 * @why: why data goes another way to a member: NULL: it does not; else a sentence.  Process
 *	context.  NULL for a transport that nobody asks
 * @moved: a member has another address.  Any context.  NULL for a transport that keeps nothing
 *	of the one before
 * @send: encodes a message and sends it, or drops and counts it; @out stays the caller's.
 *	Any context but hard interrupts, also while it is being closed; no spinlock of ours
 *	held.  Return: false, and nothing done, if it does not lead to the member
 */
struct weft_transport {
	int (*open)(struct weft_node *node, const struct weft_config *cfg,
		    struct netlink_ext_ack *extack);
	void (*close)(struct weft_node *node);
	struct weft_posted *(*post)(struct weft_node *node, u32 home, u64 line,
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
struct weft_posted *weft_transport_post(struct weft_node *node, u32 home, u64 line,
					struct weft_contents *contents);

/* By the first one that leads to the member, when the posted buffer that it offers is open. */
void weft_transport_send(struct weft_node *node, const struct weft_outgoing *out);

/*
 * Posted receive buffers: a block's memory into which others may write, for one request, as a
 * transport can arrange it (core/landing.h has the rules).
 *
 *	new     made for a request that is about to go; nobody can write there
 *	open    the request has gone with the posted buffer's key and address
 *	closed  nobody can write there any more: LANDED has come, or the block wanted it.
 *		weft_receivers.closed() is called, after LANDED was handed in, once for
 *		each posted buffer that was made, and then the transport forgets it
 *
 * Who has a reference: the block, from offering it to closed(); the transport, from making
 * it until closed() has returned; an outbox that is to open or close it.
 */

/**
 * struct weft_posted_ops - what the transport does that made it
 * @open: the request, @out, is to go.  Return: false: the posted buffer is open; true: it will
 *	be, or will not, and the transport then sends the request, or drops it
 * @close: nobody is to write there any more.  When that is so weft_receivers.closed() is
 *	called, perhaps before this returns
 * @free: nobody has a reference to the posted buffer any more; the contents are not its
 *	business.  RCU
 *
 * Any context but hard interrupts, no spinlock of ours held.
 */
struct weft_posted_ops {
	bool (*open)(struct weft_posted *posted, const struct weft_outgoing *out);
	void (*close)(struct weft_posted *posted);
	void (*free)(struct weft_posted *posted);
};

/**
 * struct weft_posted - where a block may land
 * @ref: see above
 * @landing: what the request says
 * @direct: the node's card can read the block at its home: the request says so, too
 * @contents: of the block, with a reference to it, until the posted buffer is freed
 * @node: whose block it is
 * @ops: of the transport that made it
 * @next: the next one that the same outbox is to close
 */
struct weft_posted {
	refcount_t ref;
	struct weft_landing landing;
	bool direct;
	struct weft_contents *contents;
	struct weft_node *node;
	const struct weft_posted_ops *ops;
	struct weft_posted *next;
};

/* Has two references then: of who made it, and of who wanted it. */
void weft_posted_init(struct weft_posted *posted, struct weft_node *node,
		      const struct weft_posted_ops *ops, struct weft_contents *contents);

struct weft_posted *weft_posted_get(struct weft_posted *posted);
void weft_posted_put(struct weft_posted *posted);

/*
 * The place in a node's list of transports for one that another module brings, so that this
 * module needs nothing of what that one needs: weft_rdma.ko, which needs ib_core.  It may come
 * and go while nodes are up.
 */

/* Asks the transport that was brought, if there is one. */
extern const struct weft_transport weft_module_transport;

/* The two of this module, of datagram.c and memory.c. */
extern const struct weft_transport weft_udp;
extern const struct weft_transport weft_memory;

/**
 * weft_transport_why() - why data goes another way to a member than by what was brought
 * @why: receives it, a sentence, if there is something: it is copied
 * @size: bytes of @why; it is "" if data goes by it
 *
 * Process context.  Return: false: nothing was brought.
 */
bool weft_transport_why(struct weft_node *node, u32 to, char *why, size_t size);

/* A member has another address: what leads to the one before comes to an end.  Any context. */
void weft_transport_moved(struct weft_node *node, u32 member);

/**
 * weft_transport_register() - here is one
 * @transport: it is opened for the nodes that are up, and for each that comes up.  Whether it
 *	can be is its own business: a node comes up without it, too
 *
 * Process context.  Return: 0; -EBUSY if there is one already.
 */
int weft_transport_register(const struct weft_transport *transport);

/*
 * It is closed for all nodes, and not called any more; but the posted buffers that it has made
 * are, by those who have references to them.  Process context, sleeps.
 */
void weft_transport_unregister(const struct weft_transport *transport);

/* What messages say of landings and deeds (core/landing.h), for transports that use them. */

/* The landing that a request offers.  Any context.  Return: false: none. */
bool weft_landing_of(const struct weft_outgoing *request, struct weft_landing *landing);

/**
 * weft_deed_of() - the deed that LANDED from a blade brings
 * @skb: LANDED, in one piece; not trusted
 * @landed: receives it
 *
 * Any context.  Return: false: it brings none, or is not LANDED from a blade, or damaged, or not
 * of somebody with the rack's key.
 */
bool weft_deed_of(const struct weft_node *node, const struct sk_buff *skb,
		  struct weft_msg *landed, struct weft_deed *deed);

/* What this node says as a card is connected, and whom it believes (core/hello.h). */

/**
 * weft_private_say() - who this node is
 * @to: member that it means
 * @buf: WEFT_HELLO_LEN bytes
 *
 * Any context.
 */
void weft_private_say(struct weft_node *node, u8 to, void *buf);

/**
 * weft_private_check() - who is it?
 * @said: what was said
 * @len: bytes of it
 * @addr: by whom; 0: by nobody that we know
 * @must_be: member; 0: any
 * @hello: receives what was said, if nothing is wrong with it
 *
 * Any context.  Return: NULL; else what is wrong, a sentence.
 */
const char *weft_private_check(struct weft_node *node, const void *said, size_t len,
			       __be32 addr, u8 must_be, struct weft_hello *hello);

#endif /* WEFT_TRANSPORT_H */
