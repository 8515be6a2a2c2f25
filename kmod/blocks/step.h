/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of a block: the one place that looks at all wishes and does the next thing.
 * Threads, messages, locks and the eviction write what they want into the block between
 * weft_block_begin() and weft_block_end(), and drive nothing themselves.
 */
#ifndef WEFT_STEP_H
#define WEFT_STEP_H

#include "blocks/block.h"

struct weft_outbox;

/*
 * A thread writes @want (permission), the eviction @leave, fsync() @clean, a home that begins
 * anew @flush, a region that goes @forget, the minimum stay @keep, a lock @bound; what other
 * nodes want stands in the line.  weft_block_end() makes steps until nothing is left that is
 * possible now, and sets the timer for the rest.
 */

void weft_step_init(struct weft_block *blk);

/*
 * Write-through: ignore an INV that overtakes the PUT with which a modified block leaves?  It is
 * repeated later.
 */
bool weft_step_deaf(struct weft_block *blk, const struct weft_msg *msg) __must_hold(&blk->lock);

/* Takes @lock.  Any context but hard interrupts. */
void weft_block_begin(struct weft_block *blk);

/**
 * weft_block_end() - do what is wanted and possible, release @lock
 * @outbox: receives the messages; the caller sends it after it has released all its locks
 */
void weft_block_end(struct weft_block *blk, struct weft_outbox *outbox);

/* The block is DEAD: stop the timer for good. */
void weft_step_stop(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * Take away from programs what is to be taken, in this thread instead of the work queue.  Process
 * context, no page locked; the caller has a reference.
 */
void weft_block_take(struct weft_block *blk);

/* The same if another node waits for it, else nothing. */
void weft_block_take_now(struct weft_block *blk);

#endif /* WEFT_STEP_H */
