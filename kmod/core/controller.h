/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache controller's state machine for one line at a compute node: MSI,
 * one outstanding transaction, collecting of answers, retention of data that
 * was given away until its receiver has it, retransmission.
 *
 *	line.h		what is known of a line; what follows from an event; the outstanding
 *			transaction: how it begins and ends
 *	gather.h	a miss: what it waits for until it may commit
 *	landing.h	where the data of a miss may land
 *	provider.h	what other nodes want from our copy
 *	requester.h	what this node wants, and the answers to that
 *	controller.h	entry points: which part an event is for
 *
 * A host includes this one.
 *
 * All functions below: @out is overwritten; @fresh is a transaction sequence
 * number never used before by this node in this life (only its low bits count),
 * used up whether needed or not.  Any context; the host serializes calls for
 * one line.
 */
#ifndef WEFT_CORE_CONTROLLER_H
#define WEFT_CORE_CONTROLLER_H

#include "line.h"
#include "provider.h"
#include "requester.h"

/**
 * weft_line_members() - who has left the rack has nothing any more
 * @members: bits of nodes; asked for after the line was @dunned: who was lent it, and
 *	is not among them, has left since
 *
 * To be followed by weft_line_timeout().
 */
void weft_line_members(struct weft_line *l, u32 members);

/**
 * weft_line_gone() - nodes have died, and are still in the copysets
 * @dead: bits of them; no message of theirs is handed in any more, and none is sent on by
 *	a directory that takes them for members
 *
 * What a dead owner has lent nobody may read any more when the directory begins to serve
 * its lines from the home: only those who were lent them know of that.  So this comes
 * first, at all nodes, and the directory's members change when all have done it.
 *
 * Return: false if programs have to lose access first (WEFT_DO_REVOKE): to be called again
 * after weft_line_revoked().
 */
bool weft_line_gone(struct weft_line *l, u32 dead, struct weft_out *out);

/**
 * weft_line_recv() - a message for this line
 * @msg: checked by weft_wire_unpack().  LANDED: with its coming the card has taken back the
 *	key of the landing that is open for this line; any other is not handed in
 *
 * A node also calls this for a line that it knows nothing of, on a line made by
 * weft_line_init(): the answers need no memory.
 */
void weft_line_recv(struct weft_line *l, const struct weft_msg *msg, u32 fresh,
		    struct weft_out *out);

/*
 * The host has done WEFT_DO_PROTECT or WEFT_DO_REVOKE.  @out may ask for more of it: an
 * order that came meanwhile needs what was only to be protected.
 */
void weft_line_revoked(struct weft_line *l, u32 fresh, struct weft_out *out);

/**
 * weft_line_timeout() - the timer that WEFT_DO_TIMER asked for
 *
 * Sends again what is not answered.  Spurious calls are harmless.
 */
void weft_line_timeout(struct weft_line *l, struct weft_out *out);

/**
 * weft_line_return() - the line's home has begun to know nothing of its lines
 *
 * What only this node may have goes home, under a version that is newer than all
 * before (what is lent has one already); every transaction ends, waiters wake, nothing
 * is cached.  Programs have no access any more: the host has taken it away.  What is
 * retained for others is written home, too: if they have it, theirs is as new or newer.
 * The home serves nobody until all nodes have done this.
 *
 * Return: true if something is on its way home: the data stays until WEFT_DO_FREE.
 */
bool weft_line_return(struct weft_line *l, u32 fresh, struct weft_out *out);

/**
 * weft_line_forget() - the line's home does not exist any more
 *
 * For a region that was removed: every transaction ends, waiters wake, data
 * goes.
 */
void weft_line_forget(struct weft_line *l, struct weft_out *out);

#endif /* WEFT_CORE_CONTROLLER_H */
