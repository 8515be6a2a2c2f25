/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times of answers, time-outs and back-offs, for all lines of a rack.  For blocks/ and locks/.
 */
#ifndef WEFT_RTT_H
#define WEFT_RTT_H

#include <linux/cache.h>
/* before percpu.h, as in base/stats.h */
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/types.h>

/*
 * Kinds of answers.  Read-ahead and write-backs go in large numbers, each waits for those before
 * it: their times say nothing about a single request, nor its time about them.
 */
enum weft_rtt_what {
	WEFT_RTT_ASK,		/* a request for which a thread waits */
	WEFT_RTT_AHEAD,		/* a request of read-ahead */
	WEFT_RTT_HOME,		/* a write-back */
	WEFT_RTT_PASS,		/* a block that is passed on, after its lock */
	WEFT_RTT_WRITTEN,	/* a reader has the data; until its home has it, too */
	WEFT_RTT_SHARED,	/* ... until the former owner hears of that */
	WEFT_RTT_KINDS
};

/*
 * Times of one kind of answer.
 *
 * Smoothed as in TCP (RFC 6298), over all lines.  Two processors that write at the same time
 * lose a sample, which is harmless.
 */
struct weft_rtt {
	u32 mean_us;		/* smoothed mean */
	u32 deviation_us;	/* smoothed mean deviation */
	u32 least_us;		/* shortest time-out */
};

struct weft_rtt_samples;

/*
 * Times of all kinds of answers.
 *
 * In cache lines of its own, written once a tick and for each 8 samples of a processor.
 */
struct weft_rtts {
	struct weft_rtt kind[WEFT_RTT_KINDS]; /* read for each miss */
	u64 void_until;	/* ns; long samples of requests before that time do not count */
	/* samples of each processor that are not in @kind yet */
	struct weft_rtt_samples __percpu *samples;
} ____cacheline_aligned_in_smp;

/* Begin with times that suit a rack of unknown speed.  Return: 0 or -ENOMEM. */
int weft_rtt_init(struct weft_rtts *rtts);
void weft_rtt_exit(struct weft_rtts *rtts);

/*
 * An answer has come.  @nsec: time since the request.  Only for a request that was sent once
 * (Karn's algorithm): see @doubt of struct weft_block.  Bottom halves are off.
 */
void weft_rtt_sample(struct weft_rtts *rtts, enum weft_rtt_what what, u64 nsec);

/*
 * Forget how long pending requests take: a home begins anew or serves again, or a region moves.
 * One sample of a second from that time, and any loss in the next moments, at any home, would be
 * repeated after a second.  Any context.
 */
void weft_rtt_void(struct weft_rtts *rtts);

/* Jiffies until a request is repeated, after @losses time-outs in a row. */
unsigned long weft_rtt_timeout(const struct weft_rtts *rtts, enum weft_rtt_what what, u8 losses);

/* Nanoseconds within which nearly all answers come. */
u64 weft_rtt_usual(const struct weft_rtts *rtts, enum weft_rtt_what what);

/*
 * Jiffies until the directory is asked about retained data.  @shared: a reader has the data, and
 * waits until the home has it, too, and for all else that it has asked for.
 */
unsigned long weft_rtt_query(const struct weft_rtts *rtts, bool shared, u8 losses);

/*
 * Nanoseconds to wait, after a lock has come, for blocks that are passed on with it.  What was
 * usual while nodes fought for locks may be a hundred times what asking for the block takes, so
 * that bounds it.
 */
u64 weft_rtt_patience(const struct weft_rtts *rtts);

/* A block that was waited for so did not come: do not wait so long the next time. */
void weft_rtt_broken(struct weft_rtts *rtts);

/* Nanoseconds until a request is repeated that was refused @nacks times in a row. */
u64 weft_rtt_backoff(const struct weft_rtts *rtts, u8 nacks);

#endif /* WEFT_RTT_H */
