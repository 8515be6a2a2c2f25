/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of a block: their locks, whether programs or devices use them, and the only
 * place that takes them away from programs.
 */
#ifndef WEFT_PAGES_H
#define WEFT_PAGES_H

#include "blocks/block.h"

struct weft_packet;

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
