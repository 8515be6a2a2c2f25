/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lies behind the end of a region, in its last block: programs that have the page mapped may
 * store there, and nobody may find it when the region has grown.
 */
#ifndef WEFT_TAIL_H
#define WEFT_TAIL_H

#include "blocks/block.h"

/**
 * weft_tail_seal() - look at what lies behind byte @at of a block, and hold programs off
 * @generation: receives what weft_tail_zero() wants
 *
 * If it is not all zeros no program of this node writes to the block until weft_tail_unseal();
 * other nodes may still take it.  The block is pinned; one thread at a time.
 *
 * Return: 0: all zeros; 1: it is not, the block is sealed; -EAGAIN: this node may not write to it.
 */
int weft_tail_seal(struct weft_block *blk, u32 at, u32 *generation);

/* Zero it, if nobody has written to the block since it was sealed.  Return: whether it is. */
bool weft_tail_zero(struct weft_block *blk, u32 at, u32 generation);

void weft_tail_unseal(struct weft_block *blk);

#endif /* WEFT_TAIL_H */
