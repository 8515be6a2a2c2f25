// SPDX-License-Identifier: GPL-2.0-only
/* Write-back buffers, see buffer.h. */
#include "rdma/buffer.h"

#include <arpa/inet.h>

#include "base/blade.h"
#include "rdma/card.h"
#include "rdma/write.h"

#define ALIGNMENT	4096

void rdma_buffers_make(struct rdma *r, struct rdma_buffers *buffers)
{
	buffers->at = aligned_alloc(ALIGNMENT, RDMA_BUFFERS * WEFT_ROOM_SIZE);
	if (!buffers->at)
		return;
	/* a node can name a buffer that it has not written to: it gets nothing of ours, or others' */
	memset(buffers->at, 0, RDMA_BUFFERS * WEFT_ROOM_SIZE);
	/* the node may write, and nobody reads */
	buffers->mr = ibv_reg_mr(r->pd, buffers->at, RDMA_BUFFERS * WEFT_ROOM_SIZE,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (buffers->mr)
		return;
	free(buffers->at);
	buffers->at = NULL;
}

void rdma_buffers_drop(struct rdma_buffers *buffers)
{
	/* if it fails the card is gone, and so is what it had */
	if (buffers->mr)
		(void)ibv_dereg_mr(buffers->mr);
	free(buffers->at);
	memset(buffers, 0, sizeof(*buffers));
}

u32 rdma_buffers_say(const struct rdma_buffers *buffers, struct weft_landing *first)
{
	first->addr = (uintptr_t)buffers->at;
	first->key = buffers->mr ? buffers->mr->rkey : 0;
	return buffers->mr ? RDMA_BUFFERS : 0;
}

int rdma_buffers_find(const struct rdma_buffers *buffers, const u8 *buf, size_t len)
{
	struct weft_landing landing;
	struct weft_msg msg;
	u64 at;
	u32 psum;

	if (!buffers->mr || weft_wire_unpack_header(&msg, buf, len, &psum) ||
	    msg.type != WEFT_MSG_LANDED)
		return -1;
	msg.payload = msg.len ? buf + WEFT_WIRE_HDR_LEN : NULL;
	if (!weft_landing_unpack(&landing, &msg) || landing.key != buffers->mr->rkey ||
	    !msg.size || msg.size > WEFT_ROOM_SIZE)
		return -1;
	at = landing.addr - (uintptr_t)buffers->at;
	if (at >= RDMA_BUFFERS * WEFT_ROOM_SIZE || at % WEFT_ROOM_SIZE)
		return -1;
	return (int)(at / WEFT_ROOM_SIZE);
}

void rdma_buffer_free(struct memd *m, struct rdma_conn *c, int buffer)
{
	struct rdma *r = m->b->rdma;
	struct ibv_send_wr wr = {
		.wr_id = RDMA_BUFFER | (u64)(c - r->conn), .opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = htonl((u32)buffer),
	};
	struct ibv_send_wr *bad;

	pthread_mutex_lock(&r->lock);
	if (!c->sq.broken) {
		c->buffers.told++;
		if (c->buffers.told > RDMA_BUFFERS || ibv_post_send(c->id->qp, &wr, &bad))
			rdma_break(m, c);
	}
	pthread_mutex_unlock(&r->lock);
}

void rdma_buffer_told(struct memd *m, const struct ibv_wc *wc)
{
	struct rdma *r = m->b->rdma;
	struct rdma_conn *c = &r->conn[wc->wr_id & ~RDMA_BUFFER];

	pthread_mutex_lock(&r->lock);
	/* the completion may be of the node's former connection */
	if (c->id && c->id->qp->qp_num == wc->qp_num && !c->sq.broken) {
		c->buffers.told--;
		if (wc->status != IBV_WC_SUCCESS)
			rdma_break(m, c);
	}
	pthread_mutex_unlock(&r->lock);
}
