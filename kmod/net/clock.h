/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rack's clock as this node knows it, which tells old messages from new ones in a rack
 * that has a key.  The first memory blade keeps it; its answers set ours.  It has nothing to
 * do with the time of day.
 */
#ifndef WEFT_CLOCK_H
#define WEFT_CLOCK_H

#include "core/tag.h"

/* What it says.  Any context. */
struct weft_stamp weft_clock_read(void);

/* It is @stamp now.  Any context. */
void weft_clock_set(struct weft_stamp stamp);

/* The first blade has not been heard yet. */
void weft_clock_forget(void);

#endif /* WEFT_CLOCK_H */
