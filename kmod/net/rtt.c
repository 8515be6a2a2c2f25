// SPDX-License-Identifier: GPL-2.0-only
/*
 * Round trips: smoothed times of answers, and the time-outs and back-offs that follow from them
 * (RFC 6298).  Called by blocks/ and locks/ for each answer and each timer.  Any context but
 * hard interrupts; takes no lock.
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/time64.h>

#include "net/rtt.h"

#define RTO_MAX_US	1000000
#define RTT_BATCH	8
#define LONG_NS		(20 * NSEC_PER_MSEC)	/* longer ones may include a blade's restart */
#define QUERY_US	20000
#define PATIENCE_MIN_US	20
#define PATIENCE_MAX_US	50000
#define PATIENCE_ASKS	2	/* times what asking usually takes */
#define BACKOFF_MIN_US	20
#define BACKOFF_MAX_US	10000

static const struct weft_rtts at_first = { .kind = {
	[WEFT_RTT_ASK] = { 2000, 1000, 5000 },
	[WEFT_RTT_AHEAD] = { 10000, 5000, 40000 },
	/* no program waits for these but by fsync() */
	[WEFT_RTT_HOME] = { 10000, 5000, 40000 },
	/* @least_us 0: nothing is repeated, the block is asked for */
	[WEFT_RTT_PASS] = { 1000, 500, 0 },
	[WEFT_RTT_WRITTEN] = { 10000, 5000, 40000 },
	[WEFT_RTT_SHARED] = { 4000, 2000, 0 },
} };

/* Samples of one kind that a processor has not added to weft_rtts.kind yet. */
struct weft_rtt_sum {
	u32 n;
	u32 us;		/* sum of the samples, us */
	u32 off;	/* sum of their distances from the mean, us */
	u32 tick;	/* jiffies when the processor last added */
};

struct weft_rtt_samples {
	struct weft_rtt_sum kind[WEFT_RTT_KINDS];
};

int weft_rtt_init(struct weft_rtts *rtts)
{
	*rtts = at_first;
	rtts->samples = alloc_percpu(struct weft_rtt_samples);
	return rtts->samples ? 0 : -ENOMEM;
}

void weft_rtt_exit(struct weft_rtts *rtts)
{
	free_percpu(rtts->samples);
}

/* Smooth @n equal samples in. */
static void smooth(struct weft_rtt *rtt, u32 us, u32 off, u32 n)
{
	u32 mean = READ_ONCE(rtt->mean_us), deviation = READ_ONCE(rtt->deviation_us);

	while (n--) {
		deviation = (deviation * 3 + off) / 4;
		mean = (mean * 7 + us) / 8;
	}
	WRITE_ONCE(rtt->deviation_us, deviation);
	WRITE_ONCE(rtt->mean_us, mean);
}

void weft_rtt_sample(struct weft_rtts *rtts, enum weft_rtt_what what, u64 nsec)
{
	struct weft_rtt_sum *s = &this_cpu_ptr(rtts->samples)->kind[what];
	u32 us = (u32)min_t(u64, nsec / NSEC_PER_USEC, RTO_MAX_US);
	u32 mean = READ_ONCE(rtts->kind[what].mean_us);

	if (nsec > LONG_NS && ktime_get_ns() - nsec < READ_ONCE(rtts->void_until))
		return;
	s->n++;
	s->us += us;
	s->off += us > mean ? us - mean : mean - us;
	/* add the first sample of a tick at once: mostly there is no other */
	if (s->n < RTT_BATCH && s->tick == (u32)jiffies)
		return;
	smooth(&rtts->kind[what], s->us / s->n, s->off / s->n, s->n);
	*s = (struct weft_rtt_sum){ .tick = (u32)jiffies };
}

void weft_rtt_void(struct weft_rtts *rtts)
{
	WRITE_ONCE(rtts->void_until, ktime_get_ns());
}

static unsigned long doubled(u32 us, u8 losses)
{
	us = min_t(u64, (u64)us << min_t(u8, losses, 10), RTO_MAX_US);
	return usecs_to_jiffies(us) + 1;
}

static u32 usual_us(const struct weft_rtts *rtts, enum weft_rtt_what what)
{
	return min_t(u32, READ_ONCE(rtts->kind[what].mean_us) +
			  4 * READ_ONCE(rtts->kind[what].deviation_us), RTO_MAX_US);
}

u64 weft_rtt_usual(const struct weft_rtts *rtts, enum weft_rtt_what what)
{
	return (u64)usual_us(rtts, what) * NSEC_PER_USEC;
}

unsigned long weft_rtt_timeout(const struct weft_rtts *rtts, enum weft_rtt_what what, u8 losses)
{
	return doubled(max_t(u32, usual_us(rtts, what), rtts->kind[what].least_us), losses);
}

/* the node that got the data commits when it has all answers, which may take two round trips */
unsigned long weft_rtt_query(const struct weft_rtts *rtts, bool shared, u8 losses)
{
	u32 us = max_t(u32, 2 * usual_us(rtts, WEFT_RTT_ASK), QUERY_US);

	if (shared)
		us = max(us, usual_us(rtts, WEFT_RTT_SHARED));
	return doubled(us, losses);
}

u64 weft_rtt_patience(const struct weft_rtts *rtts)
{
	u32 most = min_t(u32, PATIENCE_ASKS * usual_us(rtts, WEFT_RTT_ASK), PATIENCE_MAX_US);

	return (u64)clamp_t(u32, usual_us(rtts, WEFT_RTT_PASS), PATIENCE_MIN_US,
			    max_t(u32, most, PATIENCE_MIN_US)) * NSEC_PER_USEC;
}

void weft_rtt_broken(struct weft_rtts *rtts)
{
	u32 ask = READ_ONCE(rtts->kind[WEFT_RTT_ASK].mean_us);

	smooth(&rtts->kind[WEFT_RTT_PASS],
	       min(ask, READ_ONCE(rtts->kind[WEFT_RTT_PASS].mean_us)), 0, 1);
}

u64 weft_rtt_backoff(const struct weft_rtts *rtts, u8 nacks)
{
	/* the transaction in the way takes about as long as one of this node */
	u32 us = max_t(u32, READ_ONCE(rtts->kind[WEFT_RTT_ASK].mean_us) / 2, BACKOFF_MIN_US);

	us = min_t(u64, (u64)us << min_t(u8, nacks ? nacks - 1 : 0, 10), BACKOFF_MAX_US);
	/* random, so that nodes that were refused together do not meet again */
	us = us / 2 + (u32)(((u64)get_random_u32() * us) >> 32);
	return (u64)us * NSEC_PER_USEC;
}
