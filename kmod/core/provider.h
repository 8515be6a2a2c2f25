/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What other nodes want from our copy (struct weft_line: @rq), and data that is retained
 * for them (@held).
 */
#ifndef WEFT_CORE_PROVIDER_H
#define WEFT_CORE_PROVIDER_H

#include "line.h"

/**
 * weft_line_pass() - give the line to who has not asked yet, to write
 * @txn: transaction that the other node expects it with
 *
 * The data goes out after weft_line_revoked().  If the other node does not expect
 * it, or another one was faster, the line comes back, or goes to that one.
 *
 * Return: false if this node is not the owner, the line is busy, or @txn is no
 * other node's.
 */
bool weft_line_pass(struct weft_line *l, u32 txn, struct weft_out *out);

/**
 * weft_line_lend() - let a node read that has not asked yet, and stay the owner
 * @txn: transaction that the other node expects it with
 *
 * The data goes out after weft_line_revoked() if this node could write until now,
 * else at once.  Nobody can write, this node neither, before all that read have
 * given the line up; whoever gets the line from this node sees to that.
 *
 * Return: false if this node is not the owner, the line is busy, the other node has
 * been lent it already, or @txn is no other node's.
 */
bool weft_line_lend(struct weft_line *l, u32 txn, struct weft_out *out);

/**
 * weft_line_yield() - give back what was lent, to who is to have the line next
 * @txn: transaction that the other node expects it with, to write
 *
 * Said after weft_line_revoked().  That node need not know yet that it is to have the
 * line, and never has to: a copy may be dropped at any time.
 *
 * Return: false if the line was not lent to this node, or is busy.
 */
bool weft_line_yield(struct weft_line *l, u32 txn, struct weft_out *out);

/*
 * Does @msg say that another node has committed a transaction, with data that this node gave
 * it?  What is retained for that one is known by the nonce.
 */
static inline bool weft_line_taken(const struct weft_line *l, const struct weft_msg *msg)
{
	return msg->type == WEFT_MSG_COMMIT_ACK && weft_txn_member(msg->txn) != l->self;
}

/* --- for the parts of the cache controller --------------------------------- */

/* INV or FWD. */
void weft_provider_recv(struct weft_line *l, const struct weft_msg *msg,
			u32 fresh, struct weft_out *out);

/* What waited for the host is revoked: obey the order in @rq, lend what was to be. */
void weft_provider_revoked(struct weft_line *l, u32 fresh, struct weft_out *out);

/* A node gives back what we, the owner, have lent to it, in the version of now. */
void weft_provider_returned(struct weft_line *l, const struct weft_msg *msg,
			    struct weft_out *out);

/* The directory knows that the data is elsewhere: weft_line_taken(). */
void weft_provider_taken(struct weft_line *l, const struct weft_msg *msg,
			 struct weft_out *out);

/* The directory's word on who owns the line that we gave away. */
void weft_provider_info(struct weft_line *l, const struct weft_msg *msg,
			u32 fresh, struct weft_out *out);

/* Data is retained, and nothing else outstanding: ask what became of it. */
void weft_provider_timeout(struct weft_line *l, struct weft_out *out);

#endif /* WEFT_CORE_PROVIDER_H */
