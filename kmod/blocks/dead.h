/* SPDX-License-Identifier: GPL-2.0-only */
/* What is left of dead nodes in blocks of this node. */
#ifndef WEFT_DEAD_H
#define WEFT_DEAD_H

#include "blocks/block.h"

/**
 * weft_block_gone() - nodes have died, of which no message is taken any more
 * @dead: bits of them
 *
 * See weft_line_gone().  Programs lose access to what was lent to this node.  Process
 * context, no page locked.
 *
 * Return: false: something of it is under way; call it again.
 */
bool weft_block_gone(struct weft_block *blk, u32 dead);

/*
 * What it has asked for, if a time-out has passed, or 40 ms have: now again, as who was to answer
 * may do so now.  Any context.
 */
void weft_block_again(struct weft_block *blk);

#endif /* WEFT_DEAD_H */
