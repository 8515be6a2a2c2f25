/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes that wait at the owner of a line to own it next (struct weft_line: @waiters):
 * the queue at the holder, for pages (Soul, section 4.2, has it for locks).
 *
 * The directory keeps no queue: it refuses a GETM while another transaction has the
 * entry's lock, and says which.  The node that was refused asks the node of that one
 * to be passed the line when its programs had their turn (CHASE with EXCL).  The queue
 * travels with the line, and is void when its owner loses it otherwise than to a writer.
 * Nobody counts on it: a node that is forgotten asks the directory again in time.
 */
#ifndef WEFT_CORE_WAITERS_H
#define WEFT_CORE_WAITERS_H

#include "line.h"

/* A node asks to be passed the line, and names others that wait behind it. */
void weft_waiters_note(struct weft_line *l, const struct weft_msg *msg);

/* The line could not be passed to this one: it is the first again. */
void weft_waiters_first(struct weft_line *l, u32 txn);

/* The first of them, which waits no more; 0: nobody waits. */
u32 weft_waiters_take(struct weft_line *l);

/*
 * The line goes to the transaction @txn, which has the entry's lock by @grant: its node
 * is told who waits.
 */
void weft_waiters_move(struct weft_line *l, u32 txn, u32 grant, struct weft_out *out);

static inline void weft_waiters_forget(struct weft_line *l)
{
	l->waiters[0] = 0;
}

#endif /* WEFT_CORE_WAITERS_H */
