/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last message that somebody sent who has not the rack's key, or not the address of
 * the member that it names: for people who look for that machine.
 */
#ifndef WEFT_REFUSED_H
#define WEFT_REFUSED_H

#include <linux/ktime.h>
#include <linux/spinlock.h>
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
 * struct weft_last_refused - the last one
 * @lock: all of it.  Taken with bottom halves off
 * @stat: as above
 * @from: as above
 * @when: when it came
 */
struct weft_last_refused {
	spinlock_t lock;
	unsigned int stat;
	__be32 from;
	ktime_t when;
};

void weft_refused_init(struct weft_last_refused *last);

/**
 * weft_refused_note() - a message is refused
 * @stat: the counter that it was counted under
 * @from: the address that it came from
 *
 * Any context but interrupts.
 */
void weft_refused_note(struct weft_last_refused *last, unsigned int stat, __be32 from);

/* The last one since weft_refused_forget(). */
void weft_refused_last(struct weft_last_refused *last, struct weft_refused *r);

void weft_refused_forget(struct weft_last_refused *last);

#endif /* WEFT_REFUSED_H */
