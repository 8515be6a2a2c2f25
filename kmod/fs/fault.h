/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page faults, and the way of every access to a block: fs/file and fs/attr get blocks here, the
 * memory management calls the operations.  No wait for the network may hold mmap_lock, but where
 * the memory management does not let it go.
 */
#ifndef WEFT_FAULT_H
#define WEFT_FAULT_H

#include "blocks/block.h"
#include "fs/inode.h"

/**
 * weft_lock_cached() - lock a page that is in the cache with permission @perm
 *
 * The quick path of all accesses.  The caller has no page locked.
 *
 * Return: the block, with a reference and with the page locked; NULL: it misses.
 */
struct weft_block *weft_lock_cached(struct weft_inode *wi, pgoff_t page, u8 perm);

/**
 * weft_get_page() - fetch the block of a page, with permission @perm
 * @page: offset in the file, in pages
 * @perm: WEFT_S or WEFT_M
 * @ahead: of a read: prefetch the next blocks if it is sequential
 * @end: when to give up, jiffies
 *
 * Sleeps, killable; needs no lock of the memory management.
 *
 * Return: the block, pinned and with a reference, for weft_put_page(); another node may already
 * have taken the permission again.  -ENXIO: behind the end; -EIO: the region is lost; as
 * weft_block_get() and weft_block_acquire().
 */
struct weft_block *weft_get_page(struct weft_inode *wi, pgoff_t page, u8 perm,
				 bool ahead, unsigned long end);
void weft_put_page(struct weft_block *blk);

/* Tell the tracepoint and the guard learning that the thread misses byte @offset of the region. */
void weft_note_miss(struct weft_inode *wi, u64 offset, u8 perm);

extern const struct vm_operations_struct weft_vm_operations;

/* When a wait that begins now has to give up: the time-out from now, in jiffies. */
unsigned long weft_wait_end(const struct weft_rack *rack);

#endif /* WEFT_FAULT_H */
