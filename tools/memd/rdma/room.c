// SPDX-License-Identifier: GPL-2.0-only
/* Rooms for what nodes write home, see room.h. */
#include "rdma/room.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "base/blade.h"
#include "rdma/card.h"
#include "rdma/land.h"

#define ALIGNMENT	4096

void rdma_rooms_make(struct rdma *r, struct rdma_rooms *rooms)
{
	rooms->at = aligned_alloc(ALIGNMENT, RDMA_ROOMS * WEFT_ROOM_SIZE);
	if (!rooms->at)
		return;
	/* a node can name a room that it has not written to: it gets nothing of ours, or others' */
	memset(rooms->at, 0, RDMA_ROOMS * WEFT_ROOM_SIZE);
	/* the node may write, and nobody reads */
	rooms->mr = ibv_reg_mr(r->pd, rooms->at, RDMA_ROOMS * WEFT_ROOM_SIZE,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (rooms->mr)
		return;
	free(rooms->at);
	rooms->at = NULL;
}

void rdma_rooms_drop(struct rdma_rooms *rooms)
{
	/* if it fails the card is gone, and so is what it had */
	if (rooms->mr)
		(void)ibv_dereg_mr(rooms->mr);
	free(rooms->at);
	memset(rooms, 0, sizeof(*rooms));
}

u32 rdma_rooms_say(const struct rdma_rooms *rooms, struct weft_landing *first)
{
	first->addr = (uintptr_t)rooms->at;
	first->key = rooms->mr ? rooms->mr->rkey : 0;
	return rooms->mr ? RDMA_ROOMS : 0;
}

int rdma_rooms_find(const struct rdma_rooms *rooms, const u8 *buf, size_t len)
{
	struct weft_landing landing;
	struct weft_msg msg;
	u64 at;
	u32 psum;

	if (!rooms->mr || weft_wire_unpack_header(&msg, buf, len, &psum) ||
	    msg.type != WEFT_MSG_LANDED)
		return -1;
	msg.payload = msg.len ? buf + WEFT_WIRE_HDR_LEN : NULL;
	if (!weft_landing_unpack(&landing, &msg) || landing.key != rooms->mr->rkey ||
	    !msg.size || msg.size > WEFT_ROOM_SIZE)
		return -1;
	at = landing.addr - (uintptr_t)rooms->at;
	if (at >= RDMA_ROOMS * WEFT_ROOM_SIZE || at % WEFT_ROOM_SIZE)
		return -1;
	return (int)(at / WEFT_ROOM_SIZE);
}

void rdma_room_free(struct memd *m, struct rdma_conn *c, int room)
{
	struct rdma *r = m->b->rdma;
	struct ibv_send_wr wr = {
		.wr_id = RDMA_ROOM | (u64)(c - r->conn), .opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = htonl((u32)room),
	};
	struct ibv_send_wr *bad;

	pthread_mutex_lock(&r->lock);
	if (!c->link.broken) {
		c->rooms.told++;
		if (c->rooms.told > RDMA_ROOMS || ibv_post_send(c->id->qp, &wr, &bad))
			rdma_break(m, c);
	}
	pthread_mutex_unlock(&r->lock);
}

void rdma_room_told(struct memd *m, const struct ibv_wc *wc)
{
	struct rdma *r = m->b->rdma;
	struct rdma_conn *c = &r->conn[wc->wr_id & ~RDMA_ROOM];

	pthread_mutex_lock(&r->lock);
	/* of the one before it may still be said */
	if (c->id && c->id->qp->qp_num == wc->qp_num && !c->link.broken) {
		c->rooms.told--;
		if (wc->status != IBV_WC_SUCCESS)
			rdma_break(m, c);
	}
	pthread_mutex_unlock(&r->lock);
}
