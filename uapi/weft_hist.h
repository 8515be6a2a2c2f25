/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Buckets of histograms of times, for the kernel module, programs and plots.  Bucket 0 has the
 * times of 0 ns, bucket b those from 2^(b-1) to 2^b - 1 ns, the last one all from 2^38 ns (275 s)
 * on.
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

/* Exclusive upper limit of a bucket, ns; 0: it has none. */
static inline __u64 weft_hist_below(unsigned int bucket)
{
	return bucket < WEFT_HIST_BUCKETS - 1 ? 1ull << bucket : 0;
}

#endif /* _UAPI_WEFT_HIST_H */
