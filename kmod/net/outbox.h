/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages that were decided on under a lock and are sent when none is held.
 *
 * Under the lock of a block or of a lock a message is only put down: its fields, and where
 * the bytes of the block are.  Encoding, hashing, tagging, routing come with
 * weft_outbox_send(), in the order in which the messages were put down.
 *
 * An outbox is a variable of the function that handles an event, and is shared with
 * nobody.  It grows with what one event decides: WEFT_OUT_MAX messages for a block, as many
 * for a lock, and for each block that the lock guards; a window of read-ahead sends at
 * each half of it (fs/ahead.c).
 */
#ifndef WEFT_OUTBOX_H
#define WEFT_OUTBOX_H

#include "core/landing.h"
#include "core/wire.h"

struct sk_buff_head;
struct weft_contents;
struct weft_node;
struct weft_posted;

/**
 * struct weft_outgoing - a message that is to be sent
 * @next: the one put down after it
 * @to: member, or WEFT_PEER_GROUP
 * @generation: of @contents, when it was put down
 * @contents: it carries this block, in fragments; NULL: what @msg says.  A reference
 * @landing: with @contents: where they may land, see core/landing.h; its key is 0: nowhere
 * @posted: to be opened before the message goes, which offers it; with a reference
 * @frozen: nobody may write to the block: its pages can be sent as they are
 * @own: of the outbox, not allocated
 * @msg: its fields; info, offset, size and len of fragments are filled in later
 */
struct weft_outgoing {
	struct weft_outgoing *next;
	u32 to;
	u32 generation;
	struct weft_contents *contents;
	struct weft_landing landing;
	struct weft_posted *posted;
	bool frozen;
	bool own;
	struct weft_msg msg;
};

/* What most events decide needs no memory; more would be too much for a stack. */
#define WEFT_OUTBOX_OWN	1

/**
 * struct weft_outbox - messages that are to be sent
 * @node: that sends them
 * @first: the one that was put down first
 * @last: where the next one goes
 * @n: how many there are
 * @owned: how many of @own are in use
 * @closing: posted buffers that are to be closed, with a reference each
 * @own: room for the first ones
 */
struct weft_outbox {
	struct weft_node *node;
	struct weft_outgoing *first;
	struct weft_outgoing **last;
	u32 n;
	u32 owned;
	struct weft_posted *closing;
	struct weft_outgoing own[WEFT_OUTBOX_OWN];
};

/* Once at load and unload. */
int weft_outbox_setup(void);
void weft_outbox_cleanup(void);

void weft_outbox_init(struct weft_outbox *box, struct weft_node *node);

/**
 * weft_outbox_put() - put a message down
 * @to: member, or WEFT_PEER_GROUP
 * @msg: copied, and so is its payload, if it has any; src and rack are filled in later
 *
 * Any context, any lock.  A message for which there is no memory is counted and lost.
 */
void weft_outbox_put(struct weft_outbox *box, u32 to, const struct weft_msg *msg);

/* The same, @posted to be opened before it goes; NULL: none. */
void weft_outbox_put_offer(struct weft_outbox *box, u32 to, const struct weft_msg *msg,
			   struct weft_posted *posted);

/* Close a posted buffer, once.  Any context, any lock. */
void weft_outbox_close(struct weft_outbox *box, struct weft_posted *posted);

/**
 * weft_outbox_put_block() - put a message down that carries a block
 * @msg: DATA, WB or PASS; copied
 * @contents: with a reference, which becomes the outbox's
 * @landing: where they may land; its key is 0: nowhere.  Copied
 * @frozen: nobody may write to the block as things are: its pages are sent as they are.
 *	Should one change before it is on the wire, the receiver finds the hash wrong,
 *	counts it as torn (msg_torn) and drops it
 *
 * With the lock under which @contents->generation changes; any context.
 */
void weft_outbox_put_block(struct weft_outbox *box, u32 to, const struct weft_msg *msg,
			   struct weft_contents *contents,
			   const struct weft_landing *landing, bool frozen);

/**
 * weft_outbox_send() - send all; the outbox is empty afterwards
 *
 * What cannot be sent is dropped and counted: it counts as lost on the way.  Any context
 * but hard interrupts, no spinlock of ours held.
 */
void weft_outbox_send(struct weft_outbox *box);

/**
 * weft_encode() - the datagrams of a message: header, payload, hash or tag
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

#endif /* WEFT_OUTBOX_H */
