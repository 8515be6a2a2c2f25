/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads do with blocks: find or make one, get permission, use it under the lock of
 * its page, let go of it.
 */
#ifndef WEFT_ACCESS_H
#define WEFT_ACCESS_H

#include "blocks/block.h"

struct weft_outbox;

/**
 * weft_block_get() - look a block up, make it if there is none
 * @may_wait: wait for room in the cache if there is none
 * @end: until when, jiffies
 *
 * Process context.  Return: a LIVE block with a reference; -EAGAIN if there is no
 * room and @may_wait is false, or the block is just being made or taken apart;
 * -ENOMEM; -ENOBUFS: everything in the cache is locked in memory; -ETIMEDOUT;
 * -EINTR.
 */
struct weft_block *weft_block_get(struct weft_region *region, u64 index,
				  bool may_wait, unsigned long end);

/**
 * weft_block_acquire() - get permission and wait for it
 * @perm: WEFT_S or WEFT_M
 * @end: until when, jiffies
 *
 * On success the block is pinned: weft_block_unpin() when the use is over.  The
 * permission itself may be gone again: weft_block_lock_page() tells.
 *
 * Return: 0; -ESTALE: the block is DEAD, look it up again; -EINTR; -ETIMEDOUT;
 * -ENXIO: the region, or this part of it, does not exist.
 */
int weft_block_acquire(struct weft_block *blk, u8 perm, unsigned long end);

/* Pin the block and start to get permission; weft_block_acquire() waits for it. */
void weft_block_ask(struct weft_block *blk, u8 perm);

/*
 * Start to get permission for a thread that comes back for it.  Return: false: the line is not idle,
 * nothing was asked for.
 */
bool weft_block_start(struct weft_block *blk, u8 perm);

/*
 * Start to get a read-only copy that nobody waits for; the caller sends @outbox.  Return:
 * false: the window of its home is full, it was not asked for.
 */
bool weft_block_prefetch(struct weft_block *blk, struct weft_outbox *outbox);

void weft_block_unpin(struct weft_block *blk);

/* What programs may do with it, if it is not sealed (tail.h). */
u8 weft_block_may_use(const struct weft_block *blk) __must_hold(&blk->lock);

/**
 * weft_block_lock_page() - fence off revocation, if the permission is there
 * @page: which of the block's pages
 * @perm: WEFT_S or WEFT_M
 *
 * Return: true with the page locked; false if the permission is not there, or
 * the block is not LIVE.
 */
bool weft_block_lock_page(struct weft_block *blk, u32 page, u8 perm);

/* The program has what it asked for: it keeps it for hold_us.  Page locked. */
void weft_block_touched(struct weft_block *blk, u8 perm);

/*
 * It is about to write to byte @at of the block: as soon as the fault is over.  With the
 * lock of its page.
 */
void weft_block_writes(struct weft_block *blk, u32 at);

/**
 * weft_block_wait() - wait until something happened to the block
 * @seen: value of @wakes when it was last looked at
 * @end: until when, jiffies; later by the time in which this machine stood still
 *
 * Return: 0, -EINTR, -ETIMEDOUT.
 */
int weft_block_wait(struct weft_block *blk, u32 seen, unsigned long *end);

#endif /* WEFT_ACCESS_H */
