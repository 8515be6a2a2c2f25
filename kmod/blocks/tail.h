/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lies behind the end of a region in its last block.  Programs that have the page mapped may
 * store there, and a region that grows must show zeros.  fs/attr.c calls it with the block
 * pinned, one thread at a time; it changes no size.
 */
#ifndef WEFT_TAIL_H
#define WEFT_TAIL_H

#include "blocks/block.h"

/**
 * weft_tail_seal() - look at what lies behind byte @at of a block, and keep programs from writing
 * @generation: receives the argument for weft_tail_zero()
 *
 * If it is not all zeros, programs of this node may not write to the block until
 * weft_tail_unseal(); other nodes may still take it.  Sleeps.
 *
 * Return: 0: all zeros; 1: it is not, the block is sealed; -EAGAIN: this node may not write.
 */
int weft_tail_seal(struct weft_block *blk, u32 at, u32 *generation);

/*
 * Zero it unless the block has changed since it was sealed.  Return: whether it is zero.  Sleeps.
 */
bool weft_tail_zero(struct weft_block *blk, u32 at, u32 generation);

void weft_tail_unseal(struct weft_block *blk);

#endif /* WEFT_TAIL_H */
