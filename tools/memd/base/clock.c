// SPDX-License-Identifier: GPL-2.0-only
/* The rack's clock, see clock.h. */
#include "base/clock.h"

static u32 ticks(u64 ms)
{
	return (u32)(ms * WEFT_TICK_HZ / 1000);
}

void clock_set(struct clock *c, struct weft_stamp stamp, u64 ms)
{
	c->epoch = stamp.epoch;
	c->ahead = stamp.tick - ticks(ms);
}

struct weft_stamp clock_read(const struct clock *c, u64 ms)
{
	return (struct weft_stamp){ .epoch = c->epoch, .tick = ticks(ms) + c->ahead };
}
