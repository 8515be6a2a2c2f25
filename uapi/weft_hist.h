/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Buckets of histograms of times, the same from the kernel to a plot: bucket b has the
 * times from 2^(b-1) to 2^b - 1 ns, the first one those of 0, the last one all that are
 * longer than the others take: it begins at 2^38 ns, which is 275 s.
 */
#ifndef _UAPI_WEFT_HIST_H
#define _UAPI_WEFT_HIST_H

#include <linux/types.h>

#define WEFT_HIST_BUCKETS	40

/* Bucket of a time in ns. */
static inline unsigned int weft_hist_bucket(__u64 nsec)
{
	unsigned int bits = nsec ? 64 - (unsigned int)__builtin_clzll(nsec) : 0;

	return bits < WEFT_HIST_BUCKETS ? bits : WEFT_HIST_BUCKETS - 1;
}

/* What all times in a bucket are less than, ns; 0: no limit. */
static inline __u64 weft_hist_below(unsigned int bucket)
{
	return bucket < WEFT_HIST_BUCKETS - 1 ? 1ull << bucket : 0;
}

#endif /* _UAPI_WEFT_HIST_H */
