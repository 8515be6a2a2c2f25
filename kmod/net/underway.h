/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is under way to each peer, and how much may be: its window (net/window.h), with a
 * lock and with the time.
 *
 * A miss of a program counts as under way but asks nobody for room: it goes out at once.
 * What goes out because it may be wanted (read-ahead) is only sent if there is room.
 *
 * All of it in any context.
 */
#ifndef WEFT_UNDERWAY_H
#define WEFT_UNDERWAY_H

#include <linux/spinlock.h>

#include "net/window.h"

/**
 * struct weft_underway - what is under way to one peer
 * @lock: @window.  Innermost: taken with a block's lock held
 * @window: of what comes from it
 */
struct weft_underway {
	spinlock_t lock;
	struct weft_window window;
};

void weft_underway_init(struct weft_underway *under);

/* Would weft_underway_take() find room?  Without a lock: a hint. */
bool weft_underway_room(struct weft_underway *under, u32 bytes);

/* Bytes that may be under way to it: a hint, too. */
u32 weft_underway_size(struct weft_underway *under);

/* Return: false: there is no room, it is not to be sent. */
bool weft_underway_take(struct weft_underway *under, u32 bytes);

/* A program waits for it: it is sent in any case. */
void weft_underway_force(struct weft_underway *under, u32 bytes);

/**
 * weft_underway_done() - it is under way no longer
 * @asked: when it was asked for, ns, if it came and was asked for once; else 0: how long
 *	it took says nothing
 */
void weft_underway_done(struct weft_underway *under, u32 bytes, u64 asked);

/*
 * Nothing came in time of what was asked for at @asked, ns.  Return: whether less may be
 * under way for it.
 */
bool weft_underway_lost(struct weft_underway *under, u64 asked);

/* ... but it was under way: it has come twice. */
void weft_underway_needless(struct weft_underway *under);

#endif /* WEFT_UNDERWAY_H */
