/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is under way to each peer, and how much may be: its window (net/window.h), with a
 * lock and with the time.
 *
 * A miss of a program counts as under way but asks nobody for room: it goes out at once,
 * unless too much of what came is not at home yet (weft_underway_calm()).
 * What goes out because it may be wanted (read-ahead) is only sent if there is room.
 *
 * All of it in any context, but weft_underway_calm().
 */
#ifndef WEFT_UNDERWAY_H
#define WEFT_UNDERWAY_H

#include <linux/spinlock.h>
#include <linux/wait.h>

#include "net/window.h"

/**
 * struct weft_underway - what is under way to one peer
 * @lock: @window.  Innermost: taken with a block's lock held
 * @window: of what comes from it
 * @homing: bytes of these that are here, and that their home is still to have.  @lock to write
 * @calm: who waits until that is less
 * @newest: of all that was answered, and was asked for once, when the last one was, ns.  @lock
 *	to write
 */
struct weft_underway {
	spinlock_t lock;
	struct weft_window window;
	u32 homing;
	wait_queue_head_t calm;
	u64 newest;
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

/* It is here, but not at home, where another node sends it. */
void weft_underway_homing(struct weft_underway *under, u32 bytes);

/*
 * So much is on its way home because of this node that no program should ask for more: wait
 * until it is less, not for long.  Process context.
 */
void weft_underway_calm(struct weft_underway *under);

/**
 * weft_underway_done() - it is under way no longer
 * @homing: weft_underway_homing() was told of it
 * @asked: when it was asked for, ns, if it came and was asked for once; else 0: how long
 *	it took says nothing
 */
void weft_underway_done(struct weft_underway *under, u32 bytes, bool homing, u64 asked);

/* Has something been answered that was asked for after @asked, ns?  A hint, too. */
bool weft_underway_overtaken(const struct weft_underway *under, u64 asked);

/*
 * Nothing came in time of what was asked for at @asked, ns.  Return: whether less may be
 * under way for it.
 */
bool weft_underway_lost(struct weft_underway *under, u64 asked);

/* ... but it was under way: it has come twice. */
void weft_underway_needless(struct weft_underway *under);

#endif /* WEFT_UNDERWAY_H */
