/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sequence numbers that many processors give out without meeting: each takes a range of them
 * at a time.
 *
 * What must hold: a number that is given out is not given out again before nearly all of the
 * 2^WEFT_TXN_SEQ_BITS others were.  A processor that was given none for long may have a rest
 * of a range from before they came round, so such a rest is thrown away: nobody uses numbers
 * that are WEFT_SEQ_OLD behind the last range.  That counts in 64 bits, which do not wrap.
 */
#ifndef WEFT_CORE_SEQ_H
#define WEFT_CORE_SEQ_H

#include "types.h"

#define WEFT_SEQ_RANGE	64
#define WEFT_SEQ_OLD	(1u << (WEFT_TXN_SEQ_BITS - 6))

/**
 * struct weft_seq_range - numbers that a processor has for itself
 * @next: the first
 * @end: behind the last; @next: there are none
 */
struct weft_seq_range {
	u64 next;
	u64 end;
};

/* Has it numbers that may be used?  @given: how many numbers were given to anybody. */
static inline bool weft_seq_usable(const struct weft_seq_range *r, u64 given)
{
	return r->next != r->end && given - r->next < WEFT_SEQ_OLD;
}

/* It has WEFT_SEQ_RANGE of them now, from @first on. */
static inline void weft_seq_refill(struct weft_seq_range *r, u64 first)
{
	r->next = first;
	r->end = first + WEFT_SEQ_RANGE;
}

#endif /* WEFT_CORE_SEQ_H */
