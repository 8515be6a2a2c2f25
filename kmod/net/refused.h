/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last message that somebody sent who has not the rack's key, or not the address of
 * the member that it names: for people who look for that machine.
 */
#ifndef WEFT_REFUSED_H
#define WEFT_REFUSED_H

#include <linux/types.h>

/**
 * struct weft_refused - one such message
 * @stat: the counter that it was counted under; WEFT_STAT_COUNT: there was none
 * @from: the address that it came from
 * @msecs: how long ago
 */
struct weft_refused {
	unsigned int stat;
	__be32 from;
	u64 msecs;
};

/**
 * weft_refused_note() - count a message that is refused
 * @stat: under which counter
 * @from: the address that it came from
 *
 * Any context but interrupts.
 */
void weft_refused_note(unsigned int stat, __be32 from);

/* The last one since weft_refused_forget(). */
void weft_refused_last(struct weft_refused *r);

void weft_refused_forget(void);

#endif /* WEFT_REFUSED_H */
