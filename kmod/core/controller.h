/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry points of the cache controller of a line: MSI, one outstanding transaction, retention of
 * data that was given away, retransmission.  A host includes this header; it calls in for one
 * line at a time, in any context.  The core sends, sleeps and allocates nothing.
 */
#ifndef WEFT_CORE_CONTROLLER_H
#define WEFT_CORE_CONTROLLER_H

#include "line.h"
#include "provider.h"
#include "requester.h"

/*
 *	line.h		what is known of a line, its transaction, what follows from an event
 *	gather.h	a miss: what it waits for until it may commit
 *	landing.h	where the data of a miss may land
 *	provider.h	what other nodes want from this node's copy
 *	requester.h	what this node wants, and the answers to that
 *
 * All functions overwrite @out.  @fresh is a transaction sequence number that this node has never
 * used in this life (only its low bits count); it is used up in any case.
 */

/**
 * weft_line_members() - forget loans to nodes that have left the rack
 * @members: bits of nodes, asked for after the line was @dunned: a node that was lent the line and
 *	is not among them has left since
 *
 * Followed by weft_line_timeout().
 */
void weft_line_members(struct weft_line *l, u32 members);

/**
 * weft_line_gone() - nodes have died, and are still in copysets
 * @dead: bits of the nodes; no message of theirs is handed in any more, and no directory that
 *	takes them for members sends one on
 *
 * No node may read what a dead owner has lent when the home begins to serve the line, and only the
 * readers know of the loan.  So all nodes call this before the directory's members change.  They
 * write it home: it is the last value, as the owner could not write while they had it.
 *
 * Return: false if something is left to do, by weft_line_revoked() or messages: call it again, for
 * some seconds (WEFT_RETURN_TRIES).
 */
bool weft_line_gone(struct weft_line *l, u32 dead, struct weft_out *out);

/**
 * weft_line_recv() - a message for this line
 * @msg: checked by weft_wire_unpack().  LANDED is handed in only for the landing that is open for
 *	this line, and closes it: the card has taken back the key
 *
 * For a line that the node does not have, call it with a fresh weft_line_init(): the answers need
 * no memory.
 */
void weft_line_recv(struct weft_line *l, const struct weft_msg *msg, u32 fresh,
		    struct weft_out *out);

/**
 * weft_line_revoked() - the host has done WEFT_DO_PROTECT or WEFT_DO_REVOKE
 * @lend: a node that wants to read is lent the line, if it may be (WEFT_LOANS).  Else it reads
 *	when the home has what this node has written, too
 *
 * @out may ask for more: an order may have come meanwhile that needs WEFT_DO_REVOKE.
 */
void weft_line_revoked(struct weft_line *l, bool lend, u32 fresh, struct weft_out *out);

/* The timer of WEFT_DO_TIMER: send again what is not answered.  Spurious calls are harmless. */
void weft_line_timeout(struct weft_line *l, struct weft_out *out);

/**
 * weft_line_return() - give the line back to a home that has lost its directory
 *
 * Data that only this node may have goes home under a version newer than all before (lent data
 * has such a version already); all transactions end, waiters wake, nothing stays cached.  Retained
 * data goes home, too: the node that it was given to has the same version or a newer one.  Nodes
 * that the line is lent to are called in, as nobody else knows of them; and the COMMIT that made
 * this node the owner is repeated, as a switch that lives on has the owner of before.  The host has
 * taken all access from programs.  The home serves nobody until all nodes have done it.
 *
 * Return: true if that is under way: the data stays until WEFT_DO_FREE.
 */
bool weft_line_return(struct weft_line *l, u32 fresh, struct weft_out *out);

/* The region was removed: end all transactions, wake waiters, drop the data. */
void weft_line_forget(struct weft_line *l, struct weft_out *out);

#endif /* WEFT_CORE_CONTROLLER_H */
