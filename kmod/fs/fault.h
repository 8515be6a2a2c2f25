/* SPDX-License-Identifier: GPL-2.0-only */
/* Getting a block for a program: page faults, reads and writes. */
#ifndef WEFT_FAULT_H
#define WEFT_FAULT_H

#include "blocks/block.h"
#include "fs/inode.h"

/**
 * weft_lock_cached() - the page, if it is in the cache with this permission
 *
 * The quick path of all accesses; no lock of a page is held.
 *
 * Return: a reference to the block, with its page locked; or NULL.
 */
struct weft_block *weft_lock_cached(struct weft_inode *wi, pgoff_t page,
				    u8 perm);

/**
 * weft_get_page() - have a page of a region in the cache, with permission
 * @page: offset in the file, in pages
 * @perm: WEFT_S or WEFT_M
 * @ahead: to read: the next ones may be asked for, too, if this looks sequential
 * @end: until when to wait, jiffies
 *
 * Sleeps, killable; no lock of the memory management needs to be held.
 *
 * Return: the block, pinned and with a reference: weft_put_page() when done, the
 * permission itself may be gone again; or -ENXIO: beyond the end, and what
 * weft_block_get() and weft_block_acquire() say.
 */
struct weft_block *weft_get_page(struct weft_inode *wi, pgoff_t page, u8 perm,
				 bool ahead, unsigned long end);
void weft_put_page(struct weft_block *blk);

/* For who traces, and for its locks: the thread needs byte @offset of the region, and waits. */
void weft_note_miss(struct weft_inode *wi, u64 offset, u8 perm);

extern const struct vm_operations_struct weft_vm_operations;

/* Until when a program waits that starts to wait now. */
unsigned long weft_wait_end(const struct weft_rack *rack);

#endif /* WEFT_FAULT_H */
