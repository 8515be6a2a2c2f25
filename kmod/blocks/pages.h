/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of a block: their locks, whether programs or devices use them, and the only
 * place that takes them away from programs.
 *
 * They are one folio of the page cache, if the kernel has one of that size, and then have one
 * lock, one reference, one flag that says that they are up to date, and go out as one piece
 * of memory; else each is a folio.  Nobody else has to know: who locks a page of the block
 * locks its folio.  The folio is never split: that takes all references to it, and the block
 * has one; and it is cut off by whole blocks only (weft_block_take_apart()).
 */
#ifndef WEFT_PAGES_H
#define WEFT_PAGES_H

#include "blocks/block.h"

struct weft_packet;

/*
 * Make them, for a block that is NEW; sleeps.  Return: 0 or -ENOMEM: some may be there, which
 * go with the block.
 */
int weft_pages_make(struct weft_block *blk);

/* Page locks of all pages of the block; sleeps. */
void weft_pages_lock(struct weft_block *blk);
void weft_pages_unlock(struct weft_block *blk);

/*
 * The locks of all pages, if none is mapped, no device writes into one, and none has to be
 * waited for.  Does not sleep.
 */
bool weft_pages_trylock_unmapped(struct weft_block *blk) __must_hold(&blk->lock);

/* Is any of them mapped?  They are locked: none can be mapped meanwhile. */
bool weft_pages_mapped(struct weft_block *blk);

/*
 * Has a device pinned any of it (O_DIRECT from Linux 6.5 on, RDMA)?  Of use if no mapping
 * is left, or none to write: then none begins.  Its pages are locked.
 */
bool weft_pages_pinned(struct weft_block *blk);

/* The same of a block that programs of this node may have modified. */
bool weft_pages_device_writes(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * Has a program locked any of it in memory?  Of a block that is one folio, 256 mappings are
 * looked at, and only what is mapped counts.  The block is or was LIVE; sleeps.
 */
bool weft_pages_mlocked(struct weft_block *blk);

/* The contents may be read from now on, if the permission says so. */
void weft_pages_set_uptodate(struct weft_block *blk) __must_hold(&blk->lock);

/*
 * filemap_map_pages() maps none of its pages any more.  They are locked.  To be called
 * (again) under @lock, where the permission goes: until then a message may set the flag.
 */
void weft_pages_clear_uptodate(struct weft_block *blk);

/* Take all mappings of the block away.  Its pages are locked. */
void weft_pages_unmap(struct weft_block *blk);

/* Take write permission from all mappings.  Its pages are locked. */
void weft_pages_protect(struct weft_block *blk);

/* The aligned word of the block that byte @at is in. */
u64 weft_pages_word(struct weft_block *blk, u32 at);

/* A hash of the page that byte @at is in: another one if the page was written to. */
u64 weft_pages_hash(struct weft_block *blk, u32 at);

/* Copy what a message brings to its place.  Nobody has the block mapped. */
void weft_pages_install(struct weft_block *blk, const struct weft_packet *packet)
	__must_hold(&blk->lock);

#endif /* WEFT_PAGES_H */
