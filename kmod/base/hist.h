/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long things take: histograms, always on, one set for each processor.
 *
 * One list gives the enum and the names that netlink and weftctl show.  Which bucket a
 * time counts in: weft_hist.h.
 *
 * What begins and what ends a time:
 *
 * miss_*	the transaction begins because a program needs the block (or will,
 *		when it is read ahead); the permission is there.  By kind, as the
 *		counters of the same names
 * lock_acquire	a lock is asked for by a message; the permission is there.  Locks
 *		that the node has already are not in it
 * lock_hand_over  a node that has a lock to write hears that another node waits;
 *		the message that gives it away is put together.  Programs may hold
 *		the lock meanwhile: that is most of it
 * lock_yield	the same for a lock that this node has to read
 * invalidation	a block that a program has is wanted by another node for itself;
 *		the answer is put together.  The block's minimum stay is in it, and
 *		taking it out of page tables.  If the cache was just giving the block
 *		up it counts from there
 * downgrade	the same for a block of which a copy to read may stay
 */
#ifndef WEFT_HIST_H
#define WEFT_HIST_H

#include <linux/irqflags.h>	/* before percpu.h: see stats.h */
#include <linux/percpu.h>
#include <linux/types.h>

#include "base/stats.h"
#include "weft_hist.h"

#define WEFT_HISTS(X) \
	/* in the order of the counters WEFT_STAT_MISS_* */ \
	X(MISS_READ_UNSHARED,	"miss_read_unshared") \
	X(MISS_READ_SHARED,	"miss_read_shared") \
	X(MISS_READ_MODIFIED,	"miss_read_modified") \
	X(MISS_WRITE_UNSHARED,	"miss_write_unshared") \
	X(MISS_WRITE_SHARED,	"miss_write_shared") \
	X(MISS_WRITE_MODIFIED,	"miss_write_modified") \
	X(MISS_UPGRADE,		"miss_upgrade") \
	X(LOCK_ACQUIRE,		"lock_acquire") \
	X(LOCK_HAND_OVER,	"lock_hand_over") \
	X(LOCK_YIELD,		"lock_yield") \
	X(INVALIDATION,		"invalidation") \
	X(DOWNGRADE,		"downgrade")

enum weft_hist {
#define X(id, name) WEFT_HIST_##id,
	WEFT_HISTS(X)
#undef X
	WEFT_HIST_COUNT,
};

/**
 * struct weft_hist_data - one histogram
 * @nsec: sum of all times
 * @bucket: how many times of each length
 */
struct weft_hist_data {
	u64 nsec;
	u64 bucket[WEFT_HIST_BUCKETS];
};

struct weft_hists {
	struct weft_hist_data hist[WEFT_HIST_COUNT];
};

/* Memory for counters and histograms, all 0.  Return: 0 or -ENOMEM. */
int weft_counters_init(struct weft_counters *c);
void weft_counters_exit(struct weft_counters *c);

/* Any context. */
static inline void weft_hist_add(const struct weft_counters *c, enum weft_hist hist, u64 nsec)
{
	this_cpu_inc(c->hists->hist[hist].bucket[weft_hist_bucket(nsec)]);
	this_cpu_add(c->hists->hist[hist].nsec, nsec);
}

/**
 * weft_hist_get() - sums over all processors
 * @data: WEFT_HIST_COUNT histograms
 */
void weft_hist_get(const struct weft_counters *c, struct weft_hist_data *data);

/* Name of a histogram, for netlink. */
const char *weft_hist_name(enum weft_hist hist);

#endif /* WEFT_HIST_H */
