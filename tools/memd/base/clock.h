/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rack's clock, which tells old messages from new ones in a rack that has a key: the
 * first blade keeps it, others set theirs by its answers.  It has nothing to do with the
 * time of day.
 */
#ifndef WEFT_MEMD_CLOCK_H
#define WEFT_MEMD_CLOCK_H

#include "tag.h"
#include "tools/common/clock.h"

/* The rack's clock as this blade knows it. */
struct clock {
	u32 epoch;	/* life of the first blade; 0: it has not been heard yet */
	u32 ahead;	/* ticks of it when our machine's monotonic clock says 0 */
};

static inline u32 clock_ticks(u64 ms)
{
	return (u32)(ms * WEFT_TICK_HZ / 1000);
}

/* Set it: it was @stamp at @ms by the timers. */
static inline void clock_set(struct clock *c, struct weft_stamp stamp, u64 ms)
{
	c->epoch = stamp.epoch;
	c->ahead = stamp.tick - clock_ticks(ms);
}

/* Read it, at @ms by the timers. */
static inline struct weft_stamp clock_read(const struct clock *c, u64 ms)
{
	return (struct weft_stamp){ .epoch = c->epoch, .tick = clock_ticks(ms) + c->ahead };
}

/* Milliseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps. */
static inline u64 boot_ms(void)
{
	return clock_ns(CLOCK_BOOTTIME) / NS_IN_MS;
}

/* Milliseconds since then, 0 if that is to come. */
static inline u64 boot_since(u64 when)
{
	u64 now = boot_ms();

	return now > when ? now - when : 0;
}

#endif /* WEFT_MEMD_CLOCK_H */
