/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The provider's side: orders of other nodes for this node's copy (struct weft_line: @rq), loans,
 * and data retained for the receiver (@held).  Hosts pass on, lend and give back by it;
 * controller.c hands in messages.  It asks for nothing on this node's behalf.
 */
#ifndef WEFT_CORE_PROVIDER_H
#define WEFT_CORE_PROVIDER_H

#include "line.h"

/**
 * weft_line_pass() - give the line to a node that has not asked, to write
 * @txn: transaction that the node expects it with
 *
 * The data goes out after weft_line_revoked().  If the node does not expect it, or another one got
 * the entry's lock first, the line comes back, or goes to that one.
 *
 * Return: false if this node is not the owner, the line is busy, or @txn is no other node's.
 */
bool weft_line_pass(struct weft_line *l, u32 txn, struct weft_out *out);

/**
 * weft_line_lend() - let a node read that has not asked, and stay the owner
 * @txn: transaction that the node expects it with
 *
 * The data goes out after weft_line_revoked() if this node could write until now, else at once.
 * No node may write, this one included, before all readers have given the line up; the next owner
 * sees to that.
 *
 * Return: false if this node is not the owner, the line is busy, the node has been lent it
 * already, or @txn is no other node's.
 */
bool weft_line_lend(struct weft_line *l, u32 txn, struct weft_out *out);

/**
 * weft_line_yield() - give back what was lent, to the node that is to have the line next
 * @txn: transaction that the node expects it with, to write
 *
 * Sent after weft_line_revoked().  That node need not know yet that it gets the line, and may
 * never get it: a copy may be dropped at any time.
 *
 * Return: false if the line was not lent to this node, or is busy.
 */
bool weft_line_yield(struct weft_line *l, u32 txn, struct weft_out *out);

/*
 * Does @msg say that another node has committed a transaction with data of this node?  The nonce
 * names the retention.
 */
static inline bool weft_line_taken(const struct weft_line *l, const struct weft_msg *msg)
{
	return msg->type == WEFT_MSG_COMMIT_ACK && weft_txn_member(msg->txn) != l->self;
}

/* --- for the parts of the cache controller --------------------------------- */

/* INV or FWD. */
void weft_provider_recv(struct weft_line *l, const struct weft_msg *msg,
			u32 fresh, struct weft_out *out);

/* weft_line_revoked(): obey the order in @rq, make the loan of @lending. */
void weft_provider_revoked(struct weft_line *l, bool lend, u32 fresh, struct weft_out *out);

/* A node gives back what this node, the owner, has lent to it, in the current version. */
void weft_provider_returned(struct weft_line *l, const struct weft_msg *msg,
			    struct weft_out *out);

/* weft_line_taken(): end the retention that the message names. */
void weft_provider_taken(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out);

/* INFO: the directory says which node owns the line that this node gave away. */
void weft_provider_info(struct weft_line *l, const struct weft_msg *msg,
			u32 fresh, struct weft_out *out);

/* Data is retained, and no transaction is outstanding: send QUERY. */
void weft_provider_timeout(struct weft_line *l, struct weft_out *out);

#endif /* WEFT_CORE_PROVIDER_H */
