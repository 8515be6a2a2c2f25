/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading ahead for programs that go through a region block by block. */
#ifndef WEFT_AHEAD_H
#define WEFT_AHEAD_H

#include "fs/inode.h"

/**
 * weft_ahead() - a program reads a block that was not in the cache, or that was
 * read ahead
 * @index: of the block
 *
 * Asks for the next ones, if this looks sequential; waits for none.  Process
 * context.
 */
void weft_ahead(struct weft_inode *wi, u64 index);

#endif /* WEFT_AHEAD_H */
