/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers of a member's calls: which of them may have been carried out before.  net/reply.c
 * asks.  It knows numbers only, no calls.
 */
#ifndef WEFT_MEMD_CALLNO_H
#define WEFT_MEMD_CALLNO_H

#include "tag.h"

/*
 * The numbers have WEFT_TXN_SEQ_BITS bits, and wrap, so half of them are ahead of any and half
 * behind it.  That is enough, as a member calls each second, unless it was cut off: then it has
 * used any number of them for other messages, and its next call counts anew.  Its calls of before
 * are too old by the rack's clock by then (weft_stamp_fresh()).
 */

/* Behind the newest everything that is further away is taken for old. */
#define CALLNO_HORIZON		(1 << (WEFT_TXN_SEQ_BITS - 2))

/* A clock may be ahead of another by as much as a message may be old; and a tick more. */
#define CALLNO_SILENCE_MS	(2 * WEFT_TICKS_FRESH * 1000 / WEFT_TICK_HZ + 1000)

/* Of one member's calls in its life. */
struct callno {
	bool known;	/* it has called */
	u32 newest;	/* the newest */
	/* This one and all before it may have been carried out, and no reply tells */
	u32 horizon;
	u64 heard;	/* when it last called, milliseconds */
};

/* A member begins a new life with a call of that number: all before it are old. */
void callno_begin(struct callno *n, u32 seq, u64 now);

/* A member has called. */
void callno_note(struct callno *n, u32 seq, u64 now);

/* The reply to a call is not kept any more. */
void callno_forget(struct callno *n, u32 seq);

/* Return: whether a call whose reply is not kept may have been carried out. */
bool callno_old(const struct callno *n, u32 seq);

#endif /* WEFT_MEMD_CALLNO_H */
