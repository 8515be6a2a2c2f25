// SPDX-License-Identifier: GPL-2.0-only
/* How long the rack takes to answer, see rtt.h. */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/time64.h>

#include "rtt.h"

#define RTO_MIN_US	5000
#define RTO_MAX_US	1000000
#define QUERY_US	20000
#define BACKOFF_MIN_US	20
#define BACKOFF_MAX_US	10000

/*
 * Smoothed as in TCP (RFC 6298): mean and mean deviation, over all lines.  Two
 * processors that write at a time lose a sample, which does not matter.
 */
static u32 mean_us = 2000;
static u32 deviation_us = 1000;

void weft_rtt_sample(u64 first, u64 last)
{
	u32 mean = READ_ONCE(mean_us), us, off;
	u64 nsec = last < (u64)mean * NSEC_PER_USEC / 2 ? first : last;

	us = (u32)min_t(u64, nsec / NSEC_PER_USEC, RTO_MAX_US);
	off = us > mean ? us - mean : mean - us;
	WRITE_ONCE(deviation_us, (READ_ONCE(deviation_us) * 3 + off) / 4);
	WRITE_ONCE(mean_us, (mean * 7 + us) / 8);
}

static unsigned long doubled(u32 us, u8 losses)
{
	us = min_t(u64, (u64)us << min_t(u8, losses, 10), RTO_MAX_US);
	return usecs_to_jiffies(us) + 1;
}

static u32 usual_us(void)
{
	return min_t(u32, READ_ONCE(mean_us) + 4 * READ_ONCE(deviation_us),
		     RTO_MAX_US);
}

unsigned long weft_rtt_timeout(u8 losses)
{
	return doubled(max_t(u32, usual_us(), RTO_MIN_US), losses);
}

/* The receiver says DONE when it has all answers: that can take two of them. */
unsigned long weft_rtt_query(u8 losses)
{
	return doubled(max_t(u32, 2 * usual_us(), QUERY_US), losses);
}

u64 weft_rtt_backoff(u8 nacks)
{
	/* the transaction that is in the way takes about as long as ours do */
	u32 us = max_t(u32, READ_ONCE(mean_us) / 2, BACKOFF_MIN_US);

	us = min_t(u64, (u64)us << min_t(u8, nacks ? nacks - 1 : 0, 10),
		   BACKOFF_MAX_US);
	/* spread, so that those who were refused together do not meet again */
	us = us / 2 + (u32)(((u64)get_random_u32() * us) >> 32);
	return (u64)us * NSEC_PER_USEC;
}
