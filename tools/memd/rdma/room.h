/* SPDX-License-Identifier: GPL-2.0-only */
/* Where nodes' cards write blocks that go home.  Who is alone makes and drops them. */
#ifndef WEFT_MEMD_RDMA_ROOM_H
#define WEFT_MEMD_RDMA_ROOM_H

#include "landing.h"

struct ibv_wc;
struct memd;
struct rdma;
struct rdma_conn;
struct rdma_rooms;

/* None, if memory cannot be had or registered: then what goes home comes by UDP. */
void rdma_rooms_make(struct rdma *r, struct rdma_rooms *rooms);
/* The node's queue pair is gone. */
void rdma_rooms_drop(struct rdma_rooms *rooms);

/* For the hello.  Return: how many there are. */
u32 rdma_rooms_say(const struct rdma_rooms *rooms, struct weft_landing *first);

/* The room that LANDED in @buf, of the rooms' node, names; -1: none, or it is not LANDED. */
int rdma_rooms_find(const struct rdma_rooms *rooms, const u8 *buf, size_t len);

/* What was in the room has been looked at: the node may have it again. */
void rdma_room_free(struct memd *m, struct rdma_conn *c, int room);

/* The node has heard that. */
void rdma_room_told(struct memd *m, const struct ibv_wc *wc);

#endif /* WEFT_MEMD_RDMA_ROOM_H */
