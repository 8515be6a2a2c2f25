// SPDX-License-Identifier: GPL-2.0-only
/* The rack's clock, see clock.h. */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include "net/clock.h"

/*
 * Epoch above, and below it how many ticks the clock is ahead of this machine's: in one
 * word, so that nobody sees half of a change.
 */
static atomic64_t rack_clock;

static u32 own_ticks(void)
{
	return (u32)div_u64(ktime_get_coarse_ns(), NSEC_PER_SEC / WEFT_TICK_HZ);
}

struct weft_stamp weft_clock_read(void)
{
	u64 clock = (u64)atomic64_read(&rack_clock);

	return (struct weft_stamp){
		.epoch = (u32)(clock >> 32),
		.tick = (u32)clock + own_ticks(),
	};
}

void weft_clock_set(struct weft_stamp stamp)
{
	u32 ahead = stamp.tick - own_ticks();

	atomic64_set(&rack_clock, (s64)((u64)stamp.epoch << 32 | ahead));
}

void weft_clock_forget(void)
{
	atomic64_set(&rack_clock, 0);
}
