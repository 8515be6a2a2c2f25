// SPDX-License-Identifier: GPL-2.0-only
/* Sequence numbers of transactions and calls, see seq.h. */
#include <linux/bottom_half.h>
#include <linux/errno.h>
#include <linux/preempt.h>
#include <linux/random.h>

#include "net/seq.h"

int weft_seqs_init(struct weft_seqs *seqs)
{
	seqs->ranges = alloc_percpu(struct weft_seq_range);
	if (!seqs->ranges)
		return -ENOMEM;
	/* numbers of an earlier life may still be on their way */
	atomic64_set(&seqs->given, get_random_u32());
	return 0;
}

void weft_seqs_exit(struct weft_seqs *seqs)
{
	free_percpu(seqs->ranges);
}

u32 weft_seq_next(struct weft_seqs *seqs)
{
	struct weft_seq_range *r = this_cpu_ptr(seqs->ranges);

	WARN_ON_ONCE(!in_softirq());
	if (!weft_seq_usable(r, (u64)atomic64_read(&seqs->given)))
		weft_seq_refill(r, (u64)atomic64_fetch_add(WEFT_SEQ_RANGE, &seqs->given));
	return (u32)r->next++;
}

u32 weft_seq_call(struct weft_seqs *seqs)
{
	return (u32)atomic64_fetch_inc(&seqs->given);
}
