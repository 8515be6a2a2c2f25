/* SPDX-License-Identifier: GPL-2.0-only */
/* How long the rack takes to answer, and so when to send again. */
#ifndef WEFT_RTT_H
#define WEFT_RTT_H

#include <linux/cache.h>
/* Before percpu.h, as in base/stats.h. */
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/types.h>

/*
 * What is read ahead or written home goes in large numbers at a time, and each
 * waits for those before it: that says nothing about a request that is alone, and
 * such a request nothing about it.
 */
enum weft_rtt_what {
	WEFT_RTT_ASK,		/* a request, somebody waits for it */
	WEFT_RTT_AHEAD,		/* a request of reading ahead */
	WEFT_RTT_HOME,		/* a block on its way home */
	WEFT_RTT_PASS,		/* what is passed on with a lock comes after it */
	WEFT_RTT_WRITTEN,	/* what a reader has was modified elsewhere, and is at home */
	WEFT_RTT_SHARED,	/* ... which says so to who had modified it */
	WEFT_RTT_KINDS
};

/**
 * struct weft_rtt - how long one kind of answer takes
 * @mean_us: usually
 * @deviation_us: and so much more or less
 * @least_us: so long at least is waited before something is sent again
 *
 * Smoothed as in TCP (RFC 6298): mean and mean deviation, over all lines.  Two
 * processors that write at a time lose a sample, which does not matter.
 */
struct weft_rtt {
	u32 mean_us;
	u32 deviation_us;
	u32 least_us;
};

struct weft_rtt_samples;

/**
 * struct weft_rtts - how long all kinds take
 * @kind: read by all, on the way of each miss
 * @void_until: ns; what was asked before that, and took long, says nothing
 * @samples: those that each processor has and @kind has not
 *
 * In cache lines of its own, which are written once a tick and for each 8
 * samples of a processor.
 */
struct weft_rtts {
	struct weft_rtt kind[WEFT_RTT_KINDS];
	u64 void_until;
	struct weft_rtt_samples __percpu *samples;
} ____cacheline_aligned_in_smp;

/* What is assumed of a rack that has not answered yet.  Return: 0 or -ENOMEM. */
int weft_rtt_init(struct weft_rtts *rtts);
void weft_rtt_exit(struct weft_rtts *rtts);

/**
 * weft_rtt_sample() - an answer came
 * @nsec: after so long
 *
 * Only if it is known which copy of the request it answers: see @doubt of struct
 * weft_block.  Bottom halves are off.
 */
void weft_rtt_sample(struct weft_rtts *rtts, enum weft_rtt_what what, u64 nsec);

/*
 * A home begins anew, or serves again, or a region moves: how long that was waited for is no
 * measure of how long the rack takes.  One such sample, of a second, and whatever is lost in the
 * next moments, of any home, is repeated after a second.  Any context.
 */
void weft_rtt_void(struct weft_rtts *rtts);

/* Jiffies until it is sent again after @losses time-outs in a row. */
unsigned long weft_rtt_timeout(const struct weft_rtts *rtts, enum weft_rtt_what what, u8 losses);

/* Nanoseconds that an answer takes, but for few. */
u64 weft_rtt_usual(const struct weft_rtts *rtts, enum weft_rtt_what what);

/*
 * Jiffies until the directory is asked about retained data.  @shared: a reader has it, which
 * waits until the home has it, too, and for all that was asked for with it.
 */
unsigned long weft_rtt_query(const struct weft_rtts *rtts, bool shared, u8 losses);

/* Nanoseconds after a lock that what is passed on with it is waited for. */
u64 weft_rtt_patience(const struct weft_rtts *rtts);

/* Nanoseconds until a request is repeated that was refused @nacks times. */
u64 weft_rtt_backoff(const struct weft_rtts *rtts, u8 nacks);

#endif /* WEFT_RTT_H */
