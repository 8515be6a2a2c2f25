// SPDX-License-Identifier: GPL-2.0-only
/* The numbers of a member's calls, see callno.h. */
#include "base/callno.h"

/* How far the second of two sequence numbers is ahead of the first; negative: behind. */
static int ahead(u32 a, u32 b)
{
	/* both have 26 bits, and wrap */
	return (int)((b - a) << (32 - WEFT_TXN_SEQ_BITS)) >> (32 - WEFT_TXN_SEQ_BITS);
}

void callno_begin(struct callno *n, u32 seq, u64 now)
{
	*n = (struct callno){ .known = true, .newest = seq, .horizon = seq, .heard = now };
}

void callno_note(struct callno *n, u32 seq, u64 now)
{
	if (!n->known || now - n->heard > CALLNO_SILENCE_MS) {
		n->known = true;
		n->newest = seq;
		n->horizon = seq - CALLNO_HORIZON;
	}
	n->heard = now;
	if (ahead(n->newest, seq) > 0)
		n->newest = seq;
	if (ahead(n->horizon, n->newest) > CALLNO_HORIZON)
		n->horizon = n->newest - CALLNO_HORIZON;
}

void callno_forget(struct callno *n, u32 seq)
{
	if (ahead(n->horizon, seq) > 0)
		n->horizon = seq;
}

bool callno_old(const struct callno *n, u32 seq)
{
	return n->known && ahead(n->horizon, seq) <= 0;
}
