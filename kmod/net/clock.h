/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rack's clock as this node knows it, which tells old messages from new ones in a rack
 * that has a key.  The first memory blade keeps it; its answers set ours.  It has nothing to
 * do with the time of day.
 */
#ifndef WEFT_CLOCK_H
#define WEFT_CLOCK_H

#include <linux/atomic.h>

#include "core/tag.h"

/**
 * struct weft_clock - a rack's clock
 * @at: epoch above, and below it how many ticks the clock is ahead of this machine's: in one
 *	word, so that no thread sees half of a change
 */
struct weft_clock {
	atomic64_t at;
};

/* What it says.  Any context. */
struct weft_stamp weft_clock_read(const struct weft_clock *clock);

/* It is @stamp now.  Any context. */
void weft_clock_set(struct weft_clock *clock, struct weft_stamp stamp);

/* The first blade has not been heard yet. */
void weft_clock_forget(struct weft_clock *clock);

#endif /* WEFT_CLOCK_H */
