/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads do with blocks: find or make one, get permission, use it under its page lock, let
 * go.  Called by page faults, read(), write() and reading ahead (fs/), and by locks that make the
 * blocks that they guard.  A thread never waits with a page or a spinlock held.
 */
#ifndef WEFT_ACCESS_H
#define WEFT_ACCESS_H

#include "blocks/block.h"

struct weft_outbox;

/**
 * weft_block_get() - look a block up, make it if there is none
 * @may_wait: wait for room in the cache
 * @end: when to give up, jiffies
 *
 * Process context.  Return: a LIVE block with a reference; -EAGAIN without @may_wait if there is
 * no room, or the block is being made or taken apart; -ENOMEM; -ENOBUFS: all of the cache is
 * locked in memory or in use; -ETIMEDOUT; -EINTR.
 */
struct weft_block *weft_block_get(struct weft_region *region, u64 index,
				  bool may_wait, unsigned long end);

/**
 * weft_block_acquire() - get permission and wait for it
 * @perm: WEFT_S or WEFT_M
 * @end: when to give up, jiffies
 *
 * Pins the block on success; weft_block_unpin() ends the use.  The permission may be gone again
 * by then: weft_block_lock_page() tells.
 *
 * Return: 0; -ESTALE: the block is DEAD, look it up again; -EINTR; -ETIMEDOUT; -ENXIO: the home
 * has no such line; -EIO: the contents died with a node.
 */
int weft_block_acquire(struct weft_block *blk, u8 perm, unsigned long end);

/* Pin the block and request permission; weft_block_acquire() waits for it. */
void weft_block_ask(struct weft_block *blk, u8 perm);

/*
 * Request permission for a thread that comes back later.  Return: false, with nothing requested,
 * if the line is busy.
 */
bool weft_block_start(struct weft_block *blk, u8 perm);

/*
 * Request a copy to read that no thread waits for; the caller sends @outbox.  Return: false, with
 * nothing requested, if the window of the home is full.
 */
bool weft_block_prefetch(struct weft_block *blk, struct weft_outbox *outbox);

void weft_block_unpin(struct weft_block *blk);

/* Permission that programs have, apart from a seal (tail.h). */
u8 weft_block_may_use(const struct weft_block *blk) __must_hold(&blk->lock);

/**
 * weft_block_lock_page() - fence off revocation while the permission is there
 * @page: which of the block's pages
 * @perm: WEFT_S or WEFT_M
 *
 * Return: true with the page locked; false if the permission is gone or the block is not LIVE.
 */
bool weft_block_lock_page(struct weft_block *blk, u32 page, u8 perm);

/* The access goes ahead: the block stays for hold_us.  Page locked. */
void weft_block_touched(struct weft_block *blk, u8 perm);

/* The program writes to byte @at when the fault returns.  Page locked. */
void weft_block_writes(struct weft_block *blk, u32 at);

/**
 * weft_block_wait() - wait for a wake-up
 * @seen: value of @wakes at the last look
 * @end: when to give up, jiffies; extended by the time in which this machine stood still
 *
 * Return: 0, -EINTR, -ETIMEDOUT.
 */
int weft_block_wait(struct weft_block *blk, u32 seen, unsigned long *end);

#endif /* WEFT_ACCESS_H */
