/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks that the card writes to where nodes want them, and what it has done.  lines/blocks.c has
 * blocks written; rdma.c asks what is done, and drops what a connection has in flight.
 */
#ifndef WEFT_MEMD_RDMA_WRITE_H
#define WEFT_MEMD_RDMA_WRITE_H

#include "landing.h"

struct memd;
struct rdma;
struct rdma_conn;

/**
 * rdma_write() - have the card write a block, and say so
 * @msg: LANDED
 * @landing: where
 * @to: node
 * @frame: first of the block; FRAME_NONE: zeros
 *
 * The line is the caller's.  If it is not done it is counted why.
 *
 * Return: false: it is not.
 */
bool rdma_write(struct memd *m, struct weft_msg *msg, const struct weft_landing *landing,
	       u32 to, u32 frame);

/* Mark a connection as broken: the first thread destroys it.  @lock is held. */
void rdma_break(struct memd *m, struct rdma_conn *c);

/* Drop the blocks in flight to a node: its connection is destroyed. */
void rdma_drop_writes(struct rdma *r, u8 node);

/* Give the card a buffer for what nodes send.  Return: 0 or -1. */
int rdma_receive_into(struct rdma *r, u32 nth);

/* Take the completions of the card. */
void rdma_completions(struct memd *m);

#endif /* WEFT_MEMD_RDMA_WRITE_H */
