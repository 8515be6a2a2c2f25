/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prefetching for sequential readers.  fs/fault calls it for each read miss, and for the first
 * access to a block that was read ahead.  It waits for nothing, neither network nor room in the
 * cache.
 */
#ifndef WEFT_AHEAD_H
#define WEFT_AHEAD_H

#include "fs/inode.h"

/**
 * weft_ahead() - ask for the blocks behind @index, if the accesses are sequential
 * @index: block that a program reads
 *
 * Process context.
 */
void weft_ahead(struct weft_inode *wi, u64 index);

#endif /* WEFT_AHEAD_H */
