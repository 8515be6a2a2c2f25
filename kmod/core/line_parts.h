/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the cache controller have for each other:
 *
 *	line.c		entry points: which part an event is for
 *	requester.c	the outstanding transaction (struct weft_line: @op, @txn)
 *	gather.c	a miss: what it waits for until it may commit
 *	provider.c	what others want from our copy (@rq), and data retained
 *			for them (@held)
 *
 * All of it runs inside one call of a function of line.h and adds to its @out.
 */
#ifndef WEFT_CORE_LINE_PARTS_H
#define WEFT_CORE_LINE_PARTS_H

#include "line.h"

static inline u32 weft_line_me(const struct weft_line *l)
{
	return weft_node_bit(l->self);
}

/*
 * What the owner has goes elsewhere: under a version that nobody else has, but those
 * to whom it is lent.  Nobody has written since.
 */
static inline void weft_line_raise(struct weft_line *l)
{
	if (!l->lent)
		l->version++;
}

/* --- line.c ---------------------------------------------------------------- */

/* Add a message to @out; the caller fills in what its type needs besides. */
struct weft_msg *weft_line_send(struct weft_line *l, struct weft_out *out,
				u8 to, u8 type, u32 txn);

/* Add a message that carries the block. */
void weft_line_send_data(struct weft_line *l, struct weft_out *out, u8 to,
			 u8 type, u32 txn, u32 nonce);

/* If the line is nobody's business any more its memory can go; else the timer. */
void weft_line_settle(struct weft_line *l, struct weft_out *out);

/* --- requester.c ----------------------------------------------------------- */

/* A transaction of kind @op, and what it will have heard: nothing yet. */
void weft_requester_begin(struct weft_line *l, u8 op, u32 fresh);

/* Ask the directory for what a miss wants. */
void weft_requester_request(struct weft_line *l, struct weft_out *out);

/* All is here: tell the directory what its entry is from now on. */
void weft_requester_commit(struct weft_line *l, u32 status, u32 copyset,
			   struct weft_out *out);

/* Nothing is outstanding any more. */
void weft_requester_finish(struct weft_line *l, struct weft_out *out);

/* An answer to a transaction of a node: ours, if it names it. */
void weft_requester_recv(struct weft_line *l, const struct weft_msg *msg,
			 u32 fresh, struct weft_out *out);

/*
 * Someone is refused because of a transaction of ours.  If it is alive it ends
 * by its own time-outs; if it is not, a late copy of its request took the lock.
 */
void weft_requester_chased(struct weft_line *l, const struct weft_msg *msg,
			   struct weft_out *out);

/*
 * The transaction @msg->holder is in our way, for the @n th time.  If it is a
 * dead one of ours end it; else ask its owner now and then whether it is alive.
 */
void weft_requester_chase(struct weft_line *l, const struct weft_msg *msg, u8 n,
			  struct weft_out *out);

/* PUT: nobody here uses the copy any more. */
void weft_requester_leave(struct weft_line *l, struct weft_out *out);

/* Take back what we retain: a transaction of ours, so that nobody else has it. */
void weft_requester_take(struct weft_line *l, u32 fresh, struct weft_out *out);

/* The line is nobody's any more; its data, of version @l->version, goes home. */
void weft_requester_give_back(struct weft_line *l, u32 fresh,
			      struct weft_out *out);

/* Send again what is not answered. */
void weft_requester_timeout(struct weft_line *l, struct weft_out *out);

/* --- gather.c --------------------------------------------------------------- */

/* The answer says that the entry is locked for us, and what was in it. */
void weft_gather_entry(struct weft_line *l, const struct weft_msg *msg);

/* DATA or PASSED: a fragment, or all, of the block. */
void weft_gather_data(struct weft_line *l, const struct weft_msg *msg, u32 fresh,
		      struct weft_out *out);

/* GETM: the entry is ours, and nobody has data to send us: we have, or fetch it. */
void weft_gather_no_data(struct weft_line *l, const struct weft_msg *msg,
			 struct weft_out *out);

/* GETM, TAKE: a node has dropped its copy, as it was told to. */
void weft_gather_ack(struct weft_line *l, const struct weft_msg *msg,
		     struct weft_out *out);

/* GETM: a node gives back, unasked, what it was lent. */
void weft_gather_returned(struct weft_line *l, const struct weft_msg *msg,
			  struct weft_out *out);

/* GETS: the home has a version that was written back. */
void weft_gather_written(struct weft_line *l, const struct weft_msg *msg,
			 struct weft_out *out);

/* TAKE to write: commit if those who were lent the line have given it up. */
void weft_gather_taken(struct weft_line *l, struct weft_out *out);

/* GETS, GETM: ask again for what has not come. */
void weft_gather_timeout(struct weft_line *l, struct weft_out *out);

/* --- provider.c ------------------------------------------------------------ */

/* INV or FWD. */
void weft_provider_recv(struct weft_line *l, const struct weft_msg *msg,
			u32 fresh, struct weft_out *out);

/* What waited for the host is revoked: obey the order in @rq, lend what was to be. */
void weft_provider_revoked(struct weft_line *l, u32 fresh, struct weft_out *out);

/* A node gives back what we, the owner, have lent to it, in the version of now. */
void weft_provider_returned(struct weft_line *l, const struct weft_msg *msg,
			    struct weft_out *out);

/* Who got the data has it. */
void weft_provider_done(struct weft_line *l, const struct weft_msg *msg,
			struct weft_out *out);

/* The directory's word on who owns the line that we gave away. */
void weft_provider_info(struct weft_line *l, const struct weft_msg *msg,
			u32 fresh, struct weft_out *out);

/* Nobody needs the data that is retained. */
void weft_provider_release(struct weft_line *l, struct weft_out *out);

/* Data is retained, and nothing else outstanding: ask what became of it. */
void weft_provider_timeout(struct weft_line *l, struct weft_out *out);

#endif /* WEFT_CORE_LINE_PARTS_H */
