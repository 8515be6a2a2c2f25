/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of a block: made, locked, mapped or not, filled; the only place that takes them away
 * from programs.  Called by the other files of blocks/ and by fs/.  Decides nothing about the
 * line: of the block's state it reads the permission and writes nothing.
 */
#ifndef WEFT_PAGES_H
#define WEFT_PAGES_H

#include "blocks/block.h"

struct weft_packet;

/*
 * If the kernel has a folio of the block's size, that folio holds all pages of the block: one
 * lock, one reference, one uptodate flag, one piece of memory to send.  Otherwise each page is a
 * folio.  No caller needs to know: to lock a page is to lock its folio.  The folio is never
 * split, since a split needs all references and the block keeps one; a truncation cuts off whole
 * blocks only (weft_block_take_apart()).
 */

/* Find the control group that pages are charged to.  At module load. */
void weft_pages_init(void);

/*
 * Make the pages of a block that is NEW; sleeps.  Return: 0 or -ENOMEM, after which the pages
 * made so far go with the block.
 */
int weft_pages_make(struct weft_block *blk);

/* Lock and unlock all pages of the block; locking sleeps. */
void weft_pages_lock(struct weft_block *blk);
void weft_pages_unlock(struct weft_block *blk);

/*
 * Lock all pages without sleeping.  Return: false, with no page locked, if a lock is taken, a
 * page is mapped or a device writes into one.  On true nothing is left to take from programs,
 * since a page is mapped under its lock only.
 */
bool weft_pages_trylock_unmapped(struct weft_block *blk) __must_hold(&blk->lock);

/* Is a page of the block mapped?  Pages locked, so that the answer stays true. */
bool weft_pages_mapped(struct weft_block *blk);

/*
 * Has a device pinned a page (O_DIRECT since Linux 6.5, RDMA)?  Pages locked.  No new pin comes
 * once no mapping, or none that allows writing, is left.
 */
bool weft_pages_pinned(struct weft_block *blk);

/*
 * May a device be writing into the block, though programs have lost it?  What the device writes
 * after the contents have gone out would be lost.  References without a pin (O_DIRECT before
 * Linux 6.5) look like all others, and count for nothing.
 */
bool weft_pages_device_writes(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * Has a program locked a page of the block in memory?  For a block of one folio this looks at
 * 256 mappings at most, and only at what is mapped.  The block is or was LIVE; sleeps.
 */
bool weft_pages_mlocked(struct weft_block *blk);

/* Set the uptodate flag of all pages if the permission allows reading. */
void weft_pages_set_uptodate(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * Clear it, so that filemap_map_pages() maps no page of the block.  Pages locked.  The caller
 * that gives the permission away clears it (again) under @lock: until then a message may set it.
 */
void weft_pages_clear_uptodate(struct weft_block *blk);

/* Remove all mappings of the block; make all of them read-only.  Pages locked. */
void weft_pages_unmap(struct weft_block *blk);
void weft_pages_protect(struct weft_block *blk);

/* The aligned word that holds byte @at of the block; a hash of the page that holds it. */
u64 weft_pages_word(struct weft_block *blk, u32 at);
u64 weft_pages_hash(struct weft_block *blk, u32 at);

/* Copy the payload of a message to its place.  No program has the block mapped. */
void weft_pages_install(struct weft_block *blk, const struct weft_packet *packet)
	__must_hold(&blk->lock);

#endif /* WEFT_PAGES_H */
