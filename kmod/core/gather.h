/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A miss: collects data and acknowledgements until the transaction may commit.  Called by
 * controller.c and requester.c inside one event, and adds to its @out.  It takes no orders of
 * other nodes: that is provider.c.
 */
#ifndef WEFT_CORE_GATHER_H
#define WEFT_CORE_GATHER_H

#include "line.h"

/* An answer says that the transaction holds the entry's lock, and what the entry was. */
void weft_gather_entry(struct weft_line *l, const struct weft_msg *msg);

/* DATA, PASSED: a fragment of the block, or all of it; LANDED: all of it. */
void weft_gather_data(struct weft_line *l, const struct weft_msg *msg, u32 fresh,
		      struct weft_out *out);

/* GETM: the entry's lock is ours, and no node sends data: this one has it, or fetches it. */
void weft_gather_no_data(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out);

/* GETS: no provider was asked, and the home has the data: fetch it. */
void weft_gather_home(struct weft_line *l, struct weft_out *out);

/* GETM, TAKE: a node has dropped its copy for an INV. */
void weft_gather_ack(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out);

/* GETM: a node gives back unasked what it was lent. */
void weft_gather_returned(struct weft_line *l, const struct weft_msg *msg,
			  struct weft_out *out);

/* GETS: a write-back has reached the home. */
void weft_gather_written(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out);

/* A line that goes home: send INV to the nodes that it is still lent to. */
void weft_gather_call_in(struct weft_line *l, struct weft_out *out);

/*
 * The owner wants to write what it has lent: TAKE.  Ask the readers for it, without the entry's
 * lock, as that takes one round trip and mostly suffices.
 */
void weft_gather_call_back(struct weft_line *l, u32 fresh, struct weft_out *out);

/* TAKE: it does not, or has not yet: take the entry's lock first. */
void weft_gather_call_on(struct weft_line *l, struct weft_out *out);

/* TAKE to write: end it, or commit, if all nodes that the line is lent to have given it up. */
void weft_gather_taken(struct weft_line *l, struct weft_out *out);

/* Nodes have died: drop what they may have begun to send. */
void weft_gather_gone(struct weft_line *l, u32 dead, struct weft_out *out);

/* GETS, GETM: ask again for what has not come. */
void weft_gather_timeout(struct weft_line *l, struct weft_out *out);

#endif /* WEFT_CORE_GATHER_H */
