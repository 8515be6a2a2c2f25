/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remote handles (address, key, tag) of blocks that nodes' cards read: rdma.c opens, closes and
 * ends them, alone; write.c gives one with a block.
 */
#ifndef WEFT_MEMD_RDMA_HANDLE_H
#define WEFT_MEMD_RDMA_HANDLE_H

#include "landing.h"

struct memd;
struct rdma;
struct rdma_handles;

void rdma_handles_init(struct rdma_handles *d, bool wanted);

/* There is a card: memory for marks, unless it cannot be had or registered. */
void rdma_handles_open(struct rdma *r);
/* It goes: no node is connected, no frames are registered. */
void rdma_handles_close(struct rdma *r);

/* May there be any now?  As long as it differs from the memory's @nodes that is to change. */
bool rdma_handles_allowed(const struct memd *m);

/* Those that were given are not good any more.  No node is connected. */
void rdma_handles_end(struct rdma *r);

/**
 * rdma_handle_give() - of the block that the card writes just now
 * @frame: first of its chain, which is in one piece
 * @key: of nodes, to its chunk; 0: there is none
 *
 * The line is the caller's, and it has @lock.
 *
 * Return: false: there is none.
 */
bool rdma_handle_give(struct memd *m, struct weft_deed *handle, u32 frame, u32 key);

#endif /* WEFT_MEMD_RDMA_HANDLE_H */
