// SPDX-License-Identifier: GPL-2.0-only
/* The rack's clock, see clock.h. */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include "net/clock.h"

static u32 own_ticks(void)
{
	return (u32)div_u64(ktime_get_coarse_ns(), NSEC_PER_SEC / WEFT_TICK_HZ);
}

struct weft_stamp weft_clock_read(const struct weft_clock *clock)
{
	u64 at = (u64)atomic64_read(&clock->at);

	return (struct weft_stamp){
		.epoch = (u32)(at >> 32),
		.tick = (u32)at + own_ticks(),
	};
}

void weft_clock_set(struct weft_clock *clock, struct weft_stamp stamp)
{
	u32 ahead = stamp.tick - own_ticks();

	atomic64_set(&clock->at, (s64)((u64)stamp.epoch << 32 | ahead));
}

void weft_clock_forget(struct weft_clock *clock)
{
	atomic64_set(&clock->at, 0);
}
