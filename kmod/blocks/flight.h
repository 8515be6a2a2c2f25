/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks in flight from and to each home, counted in windows (core/window.h).  Called by the
 * other files of blocks/ with the block locked, and by fs/ before it reads ahead.  It limits what
 * nobody waits for: read-ahead and evictions.  A miss of a program never waits for the window.
 */
#ifndef WEFT_FLIGHT_H
#define WEFT_FLIGHT_H

#include <linux/spinlock.h>
#include <linux/wait.h>

#include "blocks/block.h"
#include "core/window.h"

struct weft_cache;

/*
 * From a home a block is in flight from its request until it is here, and at its home, too, if
 * another node had modified it; or until the transaction ends without it.  To a home it is in
 * flight while weft_cache.putting counts it.
 */

/**
 * struct weft_flight - what is in flight from one home, or to it
 * @lock: guards all fields, which are read without it as hints; innermost, inside a block's lock
 * @window: bytes in flight, and how many may be
 * @homing: bytes of these that are here and that their home does not have yet
 * @calm: waiters for less of @homing
 * @newest: send time of the youngest request, sent once, that has been answered, ns
 */
struct weft_flight {
	spinlock_t lock;
	struct weft_window window;
	u32 homing;
	wait_queue_head_t calm;
	u64 newest;
};

/* @cache is zeroed. */
void weft_flight_init(struct weft_cache *cache);

/* Size of the window of a home (a member id), bytes; a hint without a lock. */
u32 weft_flight_size(const struct weft_cache *cache, u32 home);

/* Has the window room for a block to read ahead?  A hint without a lock. */
bool weft_flight_room(const struct weft_region *region, u64 index);

/* Count a block as in flight though no thread waits for it.  Return: false: there is no room. */
bool weft_flight_early(struct weft_block *blk) __must_hold(&blk->lock);

/* Count a block whose request goes out, unless its contents are here. */
void weft_flight_begin(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * Begin and end of a block's way home; an unmodified block counts for nothing.  These never wait
 * for room: whoever starts many asks weft_flight_home_room().
 */
void weft_flight_home_begin(struct weft_block *blk) __must_hold(&blk->lock);
void weft_flight_home_end(struct weft_block *blk) __must_hold(&blk->lock);

/* The region has got another home meanwhile: count the block there. */
void weft_flight_home_moves(struct weft_block *blk, u8 home) __must_hold(&blk->lock);

/* Has the window to the block's home room for one more write-back?  Any context. */
bool weft_flight_home_room(const struct weft_block *blk);

/* After each event, before its messages go: is the block still in flight? */
void weft_flight_follow(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * Called by a program that wants to read the block.  If the block is not here, and much of what
 * this node has read before is not at its home yet, wait for that, a second at most.  Process
 * context.
 */
void weft_flight_calm(const struct weft_block *blk);

/*
 * Has a younger request to the same home been answered before this one?  Requests take several
 * ways, so this counts as a loss only after the usual time.
 */
bool weft_flight_overtaken(const struct weft_block *blk) __must_hold(&blk->lock);

/* No answer came in time: cut the window. */
void weft_flight_lost(struct weft_block *blk) __must_hold(&blk->lock);

/* Undo the cut: the retransmission was spurious (RFC 4015). */
void weft_flight_needless(struct weft_block *blk) __must_hold(&blk->lock);

#endif /* WEFT_FLIGHT_H */
