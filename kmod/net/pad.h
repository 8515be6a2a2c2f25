/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Landing pads: a block's memory into which others may write, for one request, as a
 * transport can arrange it (core/landing.h has the rules).
 *
 *	new     made for a request that is about to go; nobody can write there
 *	open    the request has gone with the pad's key and address
 *	closed  nobody can write there any more: LANDED has come, or the block wanted it.
 *		weft_receivers.closed() is called, after LANDED was handed in, once for
 *		each pad that was made, and then the transport forgets it
 *
 * Who has a reference: the block, from offering it to closed(); the transport, from making
 * it until closed() has returned; an outbox that is to open or close it.
 */
#ifndef WEFT_PAD_H
#define WEFT_PAD_H

#include <linux/refcount.h>

#include "core/landing.h"

struct weft_contents;
struct weft_node;
struct weft_outgoing;
struct weft_pad;

/**
 * struct weft_pad_ops - what the transport does that made it
 * @open: the request, @out, is to go.  Return: false: the pad is open; true: it will be, or
 *	will not, and the transport then sends the request, or drops it
 * @close: nobody is to write there any more.  When that is so weft_receivers.closed() is
 *	called, perhaps before this returns
 * @free: nobody has a reference to the pad any more; the contents are not its business.  RCU
 *
 * Any context but hard interrupts, no spinlock of ours held.
 */
struct weft_pad_ops {
	bool (*open)(struct weft_pad *pad, const struct weft_outgoing *out);
	void (*close)(struct weft_pad *pad);
	void (*free)(struct weft_pad *pad);
};

/**
 * struct weft_pad - where a block may land
 * @ref: see above
 * @landing: what the request says
 * @direct: the node's card can read the block at its home: the request says so, too
 * @contents: of the block, with a reference to it, until the pad is freed
 * @node: whose block it is
 * @ops: of the transport that made it
 * @next: the next one that the same outbox is to close
 */
struct weft_pad {
	refcount_t ref;
	struct weft_landing landing;
	bool direct;
	struct weft_contents *contents;
	struct weft_node *node;
	const struct weft_pad_ops *ops;
	struct weft_pad *next;
};

/* Has two references then: of who made it, and of who wanted it. */
void weft_pad_init(struct weft_pad *pad, struct weft_node *node,
		   const struct weft_pad_ops *ops, struct weft_contents *contents);

struct weft_pad *weft_pad_get(struct weft_pad *pad);
void weft_pad_put(struct weft_pad *pad);

#endif /* WEFT_PAD_H */
