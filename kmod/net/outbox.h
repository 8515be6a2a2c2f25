/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages that are decided on under a spinlock and sent when none is held: putting one down is
 * cheap, encoding, tagging and routing come with weft_outbox_send(), in order.  For all layers
 * above.
 */
#ifndef WEFT_OUTBOX_H
#define WEFT_OUTBOX_H

#include "core/landing.h"
#include "core/wire.h"

struct sk_buff_head;
struct weft_contents;
struct weft_node;
struct weft_posted;

/* A message that is to be sent. */
struct weft_outgoing {
	struct weft_outgoing *next; /* the next message of the outbox */
	u32 to;		/* member, or WEFT_PEER_GROUP */
	u32 generation;	/* of @contents when the message was put down */
	/* the block that it carries in fragments, with a reference; NULL: @msg is all */
	struct weft_contents *contents;
	/* with @contents: where the block may land (core/landing.h); key 0: nowhere */
	struct weft_landing landing;
	/* posted buffer that the message offers, with a reference: opened before it goes */
	struct weft_posted *posted;
	bool frozen;	/* no program can write to the block: its pages are sent as they are */
	bool own;	/* memory of the outbox, not allocated */
	/* header; encoding fills in src, rack, and info, offset, size and len of fragments */
	struct weft_msg msg;
};

/* messages without allocation: most events send one, and more would take too much stack */
#define WEFT_OUTBOX_OWN	1

/*
 * Messages that are to be sent.
 *
 * An outbox is a variable of the function that handles an event.  It takes what one event
 * decides: WEFT_OUT_MAX messages for a block, as many for a lock and for each block that the
 * lock guards; a window of read-ahead sends at each half of it (fs/ahead.c).
 */
struct weft_outbox {
	struct weft_node *node;		/* the sender */
	struct weft_outgoing *first;	/* the oldest message */
	struct weft_outgoing **last;	/* where the next one is linked */
	u32 n;				/* how many messages */
	u32 owned;			/* how many of @own are in use */
	struct weft_posted *closing;	/* posted buffers to be closed, with a reference each */
	struct weft_outgoing own[WEFT_OUTBOX_OWN]; /* memory for the first messages */
};

/* At load: 0 or -ENOMEM; at unload. */
int weft_outbox_setup(void);
void weft_outbox_cleanup(void);

void weft_outbox_init(struct weft_outbox *box, struct weft_node *node);

/**
 * weft_outbox_put() - put a message down
 * @to: member, or WEFT_PEER_GROUP
 * @msg: copied with its payload, if it has one; src and rack are filled in later
 *
 * Any context, any lock.  Without memory the message is counted and lost.
 */
void weft_outbox_put(struct weft_outbox *box, u32 to, const struct weft_msg *msg);

/* The same; the message offers @posted, unless that is NULL. */
void weft_outbox_put_offer(struct weft_outbox *box, u32 to, const struct weft_msg *msg,
			   struct weft_posted *posted);

/*
 * Close a posted buffer when the outbox is sent.  Once for each buffer.  Any context, any lock.
 */
void weft_outbox_close(struct weft_outbox *box, struct weft_posted *posted);

/**
 * weft_outbox_put_block() - put down a message that carries a block
 * @msg: DATA, WB or PASS; copied
 * @contents: the outbox takes over the caller's reference
 * @landing: where the block may land; key 0: nowhere.  Copied
 * @frozen: no program can write to the block now, so its pages are sent as they are.  If one
 *	writes before they are on the wire, the receiver finds the hash wrong and drops the
 *	message (msg_torn)
 *
 * Any context, with the lock under which @contents->generation changes.
 */
void weft_outbox_put_block(struct weft_outbox *box, u32 to, const struct weft_msg *msg,
			   struct weft_contents *contents,
			   const struct weft_landing *landing, bool frozen);

/*
 * Send all messages; the outbox is empty afterwards.  A message that cannot be sent is dropped
 * and counted: the protocol takes it for lost.  Any context but hard interrupts, no spinlock of
 * ours held.
 */
void weft_outbox_send(struct weft_outbox *box);

/**
 * weft_encode() - encode a message as datagrams: header, payload, hash or tag
 * @queue: empty; receives the datagrams, with headroom for UDP and below
 *
 * Fragments without memory, or whose block has changed since the message was put down
 * (msg_outdated), are counted and lost.  Any context.
 */
void weft_encode(struct weft_node *node, const struct weft_outgoing *out,
		 struct sk_buff_head *queue);

/**
 * weft_encode_landed() - encode LANDED in place of a message that carries a block
 * @out: that message
 * @room: the write-back buffer at the home (core/landing.h); NULL: it is in another node's
 *	landing
 * @queue: empty; receives the datagram
 *
 * As weft_encode().
 */
void weft_encode_landed(struct weft_node *node, const struct weft_outgoing *out,
			const struct weft_landing *room, struct sk_buff_head *queue);

#endif /* WEFT_OUTBOX_H */
