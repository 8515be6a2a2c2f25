// SPDX-License-Identifier: GPL-2.0-only
/* Blocks that a card writes, and what it says of them; see write.h. */
#include "rdma/write.h"

#include "base/blade.h"
#include "base/log.h"
#include "net/members.h"
#include "net/udp.h"
#include "rdma/buffer.h"
#include "rdma/card.h"
#include "rdma/handle.h"
#include "rdma/memory.h"
#include "rdma/sendq.h"
#include "store/backing.h"
#include "store/frames.h"

#define PIECES		(WEFT_BLOCK_MAX / FRAME_SIZE)
#define AT_ONCE		16	/* completions */
#define ROUNDS		64	/* of these before others have their turn */

void rdma_break(struct memd *m, struct rdma_conn *c)
{
	c->sq.broken = true;
	__atomic_store_n(&m->b->rdma->mend, true, __ATOMIC_RELEASE);
	if (m->nth)
		turn_wake(m->b->thread[0]);
}

/* --- a block ---------------------------------------------------------------- */

/* The work requests for one block. */
struct land {
	struct ibv_sge sge[PIECES];	/* pieces of it */
	u32 n;				/* how many */
	u32 key;			/* by which nodes may read the last one; 0: they may not */
	struct ibv_send_wr wr[RDMA_DEPTH + 1];	/* writes, and LANDED */
	struct ibv_sge message;		/* LANDED */
};

/* As many as zeros() or pieces() makes. */
static u32 count_pieces(const struct memd *m, u32 frame, u32 bytes)
{
	u32 n = 0;

	if (frame == FRAME_NONE)
		return (bytes + RDMA_ZEROS - 1) / RDMA_ZEROS;
	while (frame) {
		rdma_memory_piece(m->b->frames, &frame);
		n++;
	}
	return n;
}

static void zeros(const struct rdma *r, struct land *land, u32 bytes)
{
	u32 n;

	for (; bytes; bytes -= n) {
		n = bytes < RDMA_ZEROS ? bytes : RDMA_ZEROS;
		land->sge[land->n++] = (struct ibv_sge){
			.addr = (uintptr_t)r->own->zeros, .length = n,
			.lkey = r->own_mr->lkey,
		};
	}
}

/* The first @n pieces of a chain are not read any more. */
static void unuse(struct rdma *r, u32 frame, u32 n)
{
	u32 first = frame;

	for (; frame && n; n--) {
		rdma_memory_piece(r->memory.frames, &frame);
		rdma_memory_unuse(&r->memory, first);
		first = frame;
	}
}

/* Return: false: some of it cannot be registered, then nothing is in use. */
static bool pieces(struct memd *m, struct land *land, u32 frame)
{
	struct rdma *r = m->b->rdma;
	u32 at = frame, first = frame, n;
	struct rdma_keys keys;

	while (at) {
		n = rdma_memory_piece(m->b->frames, &at);
		if (!rdma_memory_use(&r->memory, first, m->timers.now, &keys)) {
			unuse(r, frame, land->n);
			return false;
		}
		land->sge[land->n++] = (struct ibv_sge){
			.addr = (uintptr_t)frames_memory(m->b->frames, first),
			.length = n * FRAME_SIZE, .lkey = keys.own,
		};
		land->key = keys.nodes;
		first = at;
	}
	return true;
}

/* Return: how many requests they make. */
static u32 requests(struct rdma *r, struct land *land, const struct rdma_transfer *f,
		    const struct weft_landing *landing, size_t len)
{
	u32 i = 0, n = 0, k, last;
	u64 at = landing->addr;

	for (; i < land->n; i = last, n++) {
		last = i + r->sges < land->n ? i + r->sges : land->n;
		land->wr[n] = (struct ibv_send_wr){
			.wr_id = f->name, .next = &land->wr[n + 1],
			.sg_list = &land->sge[i], .num_sge = (int)(last - i),
			.opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = { .remote_addr = at, .rkey = landing->key },
		};
		for (k = i; k < last; k++)
			at += land->sge[k].length;
	}
	land->message = (struct ibv_sge){
		.addr = (uintptr_t)r->own->out[rdma_writes_index(&r->writes, f)],
		.length = (u32)len, .lkey = r->own_mr->lkey,
	};
	land->wr[n] = (struct ibv_send_wr){
		.wr_id = f->name, .sg_list = &land->message, .num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = landing->key,
	};
	return n + 1;
}

static void over(struct rdma *r, struct rdma_transfer *f)
{
	u32 frame = f->frame;

	rdma_writes_put(&r->writes, f);
	if (frame == FRAME_NONE)
		return;
	unuse(r, frame, ~0u);
	frames_drop(r->memory.frames, frame);
}

static_assert(WEFT_WIRE_HDR_LEN + WEFT_DEED_LEN + WEFT_WIRE_TRAILER_LEN <= RDMA_MESSAGE,
	      "LANDED has room for a deed");

/* Add a remote handle to LANDED, by which the node can read the block itself the next time. */
static void add_handle(struct memd *m, struct weft_msg *msg, const struct land *land, u32 frame,
		     u8 *payload)
{
	struct weft_deed handle;

	/* a read by a remote handle does not tell of a loss, and takes one piece only */
	if (frame == FRAME_NONE || land->n != 1 || msg->flags & WEFT_F_LOST ||
	    !rdma_handle_give(m, &handle, frame, land->key))
		return;
	weft_deed_pack(&handle, payload);
	msg->payload = payload;
	msg->len = WEFT_DEED_LEN;
	count(m, RDMA_DEEDS);
}

static size_t pack(struct memd *m, struct weft_msg *msg, const struct land *land, u32 frame,
		   u8 *buf)
{
	add_handle(m, msg, land, frame, buf + WEFT_WIRE_HDR_LEN);
	msg->rack = m->b->opt.rack;
	msg->src = m->b->opt.id;
	return weft_wire_pack(msg, buf, &m->b->key, memd_time(m));
}

/* The write is taken.  Return: false: it is not begun, as memory is not registered. */
static bool post(struct memd *m, struct rdma_conn *c, struct rdma_transfer *f,
		 struct weft_msg *msg, const struct weft_landing *landing)
{
	struct rdma *r = m->b->rdma;
	struct ibv_send_wr *bad;
	struct land land;
	size_t len;

	land.n = 0;
	if (f->frame == FRAME_NONE)
		zeros(r, &land, f->bytes);
	else if (!pieces(m, &land, f->frame))
		return false;
	len = pack(m, msg, &land, f->frame, r->own->out[rdma_writes_index(&r->writes, f)]);
	f->work = requests(r, &land, f, landing, len);
	rdma_sendq_went(&c->sq, landing->key, msg->txn, f->work);
	/* if it fails a part may be in flight: all that ends with the connection */
	if (ibv_post_send(c->id->qp, land.wr, &bad))
		rdma_break(m, c);
	return true;
}

static enum rdma_way try(struct memd *m, struct weft_msg *msg,
			 const struct weft_landing *landing, u32 to, u32 frame)
{
	struct rdma *r = m->b->rdma;
	struct rdma_conn *c = &r->conn[to];
	struct rdma_transfer *f;
	enum rdma_way way;

	if (!c->id)
		return RDMA_NO_CONNECTION;
	way = rdma_sendq_choose(&c->sq, m->b->members->by_id[to].addr, landing->key, msg->txn,
			       (count_pieces(m, frame, msg->size) + r->sges - 1) / r->sges + 1);
	if (way != RDMA_LANDS)
		return way;
	f = rdma_writes_take(&r->writes, (u8)to);
	if (!f)
		return RDMA_FULL;
	if (frame != FRAME_NONE && !frames_hold(m->b->frames, frame)) {
		rdma_writes_put(&r->writes, f);
		return RDMA_FULL;
	}
	f->frame = frame;
	f->bytes = msg->size;
	f->since = m->timers.now;
	if (!post(m, c, f, msg, landing)) {
		rdma_writes_put(&r->writes, f);
		frames_drop(m->b->frames, frame);
		return RDMA_NO_MEMORY;
	}
	return c->sq.broken ? RDMA_NO_CONNECTION : RDMA_LANDS;
}

bool rdma_write(struct memd *m, struct weft_msg *msg, const struct weft_landing *landing,
	       u32 to, u32 frame)
{
	static const enum memd_stat why[] = {
		[RDMA_NO_CONNECTION] = STAT_RDMA_NO_CONNECTION,
		[RDMA_FULL] = STAT_RDMA_FULL,
		[RDMA_NO_MEMORY] = STAT_RDMA_NO_MEMORY,
		[RDMA_AGAIN] = STAT_RDMA_AGAIN,
	};
	enum rdma_way way = RDMA_NO_CONNECTION;

	if (m->b->rdma) {
		pthread_mutex_lock(&m->b->rdma->lock);
		way = try(m, msg, landing, to, frame);
		pthread_mutex_unlock(&m->b->rdma->lock);
	}
	if (way == RDMA_LANDS)
		m->stats.out[msg->type]++;
	else
		m->stats.count[why[way]]++;
	return way == RDMA_LANDS;
}

void rdma_drop_writes(struct rdma *r, u8 node)
{
	u32 i;

	for (i = 0; i < RDMA_WRITES; i++)
		if (r->writes.of[i].node == node)
			over(r, &r->writes.of[i]);
}

/* --- what the card says ----------------------------------------------------- */

int rdma_receive_into(struct rdma *r, u32 nth)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->own->in[nth], .length = RDMA_MESSAGE,
		.lkey = r->own_mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = RDMA_RECEIVE | nth, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return ibv_post_srq_recv(r->srq, &wr, &bad) ? -1 : 0;
}

/* Of a connection that is not there any more the card may still say something. */
static struct rdma_conn *conn_of(struct rdma *r, u32 qp)
{
	u32 i;

	for (i = WEFT_NODE_MIN; i <= WEFT_NODE_MAX; i++)
		if (r->conn[i].id && r->conn[i].id->qp->qp_num == qp)
			return &r->conn[i];
	return NULL;
}

static void received(struct memd *m, const struct ibv_wc *wc)
{
	struct rdma *r = m->b->rdma;
	u32 nth = (u32)(wc->wr_id & ~RDMA_RECEIVE), len = 0;
	struct rdma_conn *c = conn_of(r, wc->qp_num);
	u8 buf[RDMA_MESSAGE];
	int buffer;

	if (wc->status == IBV_WC_SUCCESS && c && wc->byte_len <= sizeof(buf)) {
		len = wc->byte_len;
		memcpy(buf, r->own->in[nth], len);
	}
	pthread_mutex_lock(&r->lock);
	/* without buffers nodes are heard by UDP only, which is not worth more than this */
	if ((rdma_receive_into(r, nth) || wc->status != IBV_WC_SUCCESS) && c)
		rdma_break(m, c);
	pthread_mutex_unlock(&r->lock);
	if (!len)
		return;
	/* connections do not end before the turn does */
	buffer = rdma_buffers_find(&c->buffers, buf, len);
	if (buffer < 0) {
		m->b->rdma->ops->receive(m, buf, len, c->sq.addr, m->udp->port);
		return;
	}
	m->b->rdma->ops->receive_home(m, buf, len, c->sq.addr,
				      c->buffers.at + (size_t)buffer * WEFT_ROOM_SIZE);
	rdma_buffer_free(m, c, buffer);
}

static void sent(struct memd *m, const struct ibv_wc *wc)
{
	struct rdma *r = m->b->rdma;
	struct rdma_transfer *f;
	struct rdma_conn *c;

	pthread_mutex_lock(&r->lock);
	f = rdma_writes_find(&r->writes, wc->wr_id);
	if (f) {
		c = &r->conn[f->node];
		if (wc->status == IBV_WC_SUCCESS) {
			count(m, RDMA_LANDED);
			m->stats.count[STAT_RDMA_LANDED_BYTES] += f->bytes;
			c->sq.busy -= f->work;
			over(r, f);
		} else if (!c->sq.broken) {
			log_note("RDMA to node %u: %s", f->node,
				 ibv_wc_status_str(wc->status));
			rdma_break(m, c);
		}
	}
	pthread_mutex_unlock(&r->lock);
}

/* Return: false: there may be more. */
static bool poll_all(struct memd *m)
{
	struct rdma *r = m->b->rdma;
	struct ibv_wc wc[AT_ONCE];
	int n = 0, i;
	u32 round;

	for (round = 0; round < ROUNDS && (n = ibv_poll_cq(r->cq, AT_ONCE, wc)) > 0; round++)
		for (i = 0; i < n; i++)
			if (wc[i].wr_id & RDMA_RECEIVE)
				received(m, &wc[i]);
			else if (wc[i].wr_id & RDMA_BUFFER)
				rdma_buffer_told(m, &wc[i]);
			else
				sent(m, &wc[i]);
	return n <= 0;
}

void rdma_completions(struct memd *m)
{
	struct rdma *r = m->b->rdma;
	struct ibv_cq *cq;
	void *unused;
	u32 n = 0;

	if (!r->cq)
		return;
	while (n < ROUNDS && !ibv_get_cq_event(r->channel, &cq, &unused))
		n++;
	if (n)
		ibv_ack_cq_events(r->cq, n);
	/* after ibv_req_notify_cq() a new completion makes an event */
	r->more = !poll_all(m) || ibv_req_notify_cq(r->cq, 0) || !poll_all(m);
}
