/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sequence numbers that processors give out without sharing memory: each takes a range at a time.
 * net/node.c uses it, with a counter of its own for the ranges.  No locks, no memory here.
 */
#ifndef WEFT_CORE_SEQ_H
#define WEFT_CORE_SEQ_H

#include "types.h"

/*
 * A number is not given out again before nearly all of the 2^WEFT_TXN_SEQ_BITS others were.  A
 * processor that was idle may still hold the rest of an old range, which could come round: such a
 * rest is thrown away when WEFT_SEQ_OLD numbers were given out after it, counted in 64 bits.
 */
#define WEFT_SEQ_RANGE	64
#define WEFT_SEQ_OLD	(1u << (WEFT_TXN_SEQ_BITS - 6))

/**
 * struct weft_seq_range - numbers of one processor
 * @next: the first of them
 * @end: behind the last; @next if none is left
 */
struct weft_seq_range {
	u64 next;
	u64 end;
};

/* Is a number left that may be used?  @given: numbers given to all processors so far. */
static inline bool weft_seq_usable(const struct weft_seq_range *r, u64 given)
{
	return r->next != r->end && given - r->next < WEFT_SEQ_OLD;
}

/* Take the WEFT_SEQ_RANGE numbers from @first on. */
static inline void weft_seq_refill(struct weft_seq_range *r, u64 first)
{
	r->next = first;
	r->end = first + WEFT_SEQ_RANGE;
}

#endif /* WEFT_CORE_SEQ_H */
