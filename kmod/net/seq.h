/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers of this node's transactions and calls, which no two have in common.
 *
 * A miss takes several.  So that processors do not wait for each other's cache line, each has
 * a range of its own (core/seq.h), and @given is written by one in 64.  Calls are numbered by
 * @given itself: blades expect those of a member roughly in order.
 */
#ifndef WEFT_NET_SEQ_H
#define WEFT_NET_SEQ_H

#include <linux/atomic.h>
#include <linux/cache.h>
/* Before percpu.h, as in base/stats.h. */
#include <linux/irqflags.h>
#include <linux/percpu.h>

#include "core/seq.h"

/**
 * struct weft_seqs - sequence numbers
 * @given: how many were given to processors, or to calls
 * @ranges: what processors have left of those
 *
 * In a cache line of its own.
 */
struct weft_seqs {
	atomic64_t given;
	struct weft_seq_range __percpu *ranges;
} ____cacheline_aligned_in_smp;

/* Return: 0 or -ENOMEM. */
int weft_seqs_init(struct weft_seqs *seqs);
void weft_seqs_exit(struct weft_seqs *seqs);

/* For a transaction.  Bottom halves are off: ranges are taken from in softirq, too. */
u32 weft_seq_next(struct weft_seqs *seqs);

/* For a call: after all that were given to calls before.  Any context. */
u32 weft_seq_call(struct weft_seqs *seqs);

#endif /* WEFT_NET_SEQ_H */
