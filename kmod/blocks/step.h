/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of a block: one place that looks at what is wanted of it, and does the next
 * thing.
 *
 * Whoever wants something writes that into the block between weft_block_begin() and
 * weft_block_end(): permission for a thread (@want), that it leaves the cache (@leave), is
 * written home (@clean), given back (@flush), forgotten (@forget), stays longer or less
 * long (@keep); what a lock wants stands in @bound, what other nodes want in the line.
 * weft_block_end() makes steps until nothing is left that can be done now, and sets the
 * timer for what can be done later.  Pages are taken away from programs by
 * weft_block_take() alone.
 */
#ifndef WEFT_STEP_H
#define WEFT_STEP_H

#include "blocks/block.h"

struct weft_outbox;

/* Ready for use by the functions below; called for a new block. */
void weft_step_init(struct weft_block *blk);

/* Any context but hard interrupts. */
void weft_block_begin(struct weft_block *blk);

/**
 * weft_block_end() - do what is wanted and possible, let go of the block
 * @outbox: receives the messages; sent by the caller, who has let go of all locks then
 */
void weft_block_end(struct weft_block *blk, struct weft_outbox *outbox);

/* The block is DEAD: the timer starts no more. */
void weft_step_stop(struct weft_block *blk) __must_hold(&blk->lock);

/**
 * weft_block_take() - take away from programs what is to be taken, if anything is
 *
 * Without waiting for the work queue.  Process context, no page locked; the caller has a
 * reference.
 */
void weft_block_take(struct weft_block *blk);

/* The same, if another node waits for it. */
void weft_block_take_now(struct weft_block *blk);

#endif /* WEFT_STEP_H */
