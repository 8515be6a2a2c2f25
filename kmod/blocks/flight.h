/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks in flight, in the windows of their homes (core/window.h): to this node, from the
 * request until they are here, and at home if another node had modified them, or the
 * transaction ends without; and home, as long as they count as such in the cache
 * (weft_cache.putting).
 *
 * A miss of a program counts as in flight but asks nobody for room: its request goes out at
 * once, unless too much of what came is not at home yet (weft_flight_calm()).  What goes out
 * because it may be wanted (read-ahead) is only sent if there is room.
 */
#ifndef WEFT_FLIGHT_H
#define WEFT_FLIGHT_H

#include <linux/spinlock.h>
#include <linux/wait.h>

#include "blocks/block.h"
#include "core/window.h"

struct weft_cache;

/**
 * struct weft_flight - what is in flight from one home, or to it
 * @lock: @window.  Innermost: taken with a block's lock held
 * @window: of what comes from it
 * @homing: bytes of these that are here, and that their home is still to have.  @lock to write
 * @calm: who waits until that is less
 * @newest: of all that was answered, and was asked for once, when the last one was, ns.  @lock
 *	to write
 */
struct weft_flight {
	spinlock_t lock;
	struct weft_window window;
	u32 homing;
	wait_queue_head_t calm;
	u64 newest;
};

void weft_flight_init(struct weft_cache *cache);

/* Bytes that may be in flight from a home, a member.  Without a lock: a hint. */
u32 weft_flight_size(const struct weft_cache *cache, u32 home);

/* Is there room for a block to be read ahead?  Without a lock: a hint. */
bool weft_flight_room(const struct weft_region *region, u64 index);

/* It is to be asked for though nobody waits for it.  Return: false: there is no room. */
bool weft_flight_early(struct weft_block *blk) __must_hold(&blk->lock);

/* Its request goes out: contents come with the answer, unless they are here. */
void weft_flight_begin(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * It begins to be written home, and is there; what is not modified counts for nothing.
 * Nothing of it waits for room here: who starts many asks weft_flight_home_room().
 */
void weft_flight_home_begin(struct weft_block *blk) __must_hold(&blk->lock);
void weft_flight_home_end(struct weft_block *blk) __must_hold(&blk->lock);

/* ... and is written to another home, which the region has got meanwhile. */
void weft_flight_home_moves(struct weft_block *blk, u8 to) __must_hold(&blk->lock);

/* May it, or one more, be written home to where this one is?  Any context. */
bool weft_flight_home_room(const struct weft_block *blk);

/*
 * Something happened to the line, and nothing was sent for it yet: is it still in flight?
 */
void weft_flight_follow(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * A program wants to read it: if it is not here, and much of what programs have read before is
 * not at its home yet, it waits for that.  Not for long.  Process context.
 */
void weft_flight_calm(const struct weft_block *blk);

/*
 * Nothing came, and of what was asked for later something did.  That takes other ways, and may
 * have been faster: it counts only after the usual time.
 */
bool weft_flight_overtaken(const struct weft_block *blk) __must_hold(&blk->lock);

/* Its request is repeated, as no answer came. */
void weft_flight_lost(struct weft_block *blk) __must_hold(&blk->lock);

/* Both came: undo the cut, the retransmission was spurious (RFC 4015). */
void weft_flight_needless(struct weft_block *blk) __must_hold(&blk->lock);

#endif /* WEFT_FLIGHT_H */
