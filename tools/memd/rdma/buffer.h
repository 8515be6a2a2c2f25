/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write-back buffers, into which nodes' cards write: rdma.c makes and drops them with a
 * connection, alone; write.c finds and frees one for each LANDED.
 */
#ifndef WEFT_MEMD_RDMA_BUFFER_H
#define WEFT_MEMD_RDMA_BUFFER_H

#include "landing.h"

struct ibv_wc;
struct memd;
struct rdma;
struct rdma_conn;
struct rdma_buffers;

/* None, if memory cannot be had or registered: then what goes home comes by UDP. */
void rdma_buffers_make(struct rdma *r, struct rdma_buffers *buffers);
/* The node's queue pair is gone. */
void rdma_buffers_drop(struct rdma_buffers *buffers);

/* For the hello.  Return: how many there are. */
u32 rdma_buffers_say(const struct rdma_buffers *buffers, struct weft_landing *first);

/* The buffer that LANDED in @buf, of the buffers' node, names; -1: none, or it is not LANDED. */
int rdma_buffers_find(const struct rdma_buffers *buffers, const u8 *buf, size_t len);

/* Tell the node that the buffer is free again. */
void rdma_buffer_free(struct memd *m, struct rdma_conn *c, int buffer);

/* That message has arrived. */
void rdma_buffer_told(struct memd *m, const struct ibv_wc *wc);

#endif /* WEFT_MEMD_RDMA_BUFFER_H */
