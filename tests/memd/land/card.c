// SPDX-License-Identifier: GPL-2.0-only
/* The RDMA device of a node that is played, see card.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "card.h"
#include "tests/common/check.h"
#include "tools/common/clock.h"
#include "wire.h"

u8 card_memory[CARD_LANDINGS][CARD_BLOCK] __attribute__((aligned(4096)));
static u8 in[CARD_BUFFERS][CARD_MESSAGE];

static void give_buffer(struct card *c, u32 i)
{
	struct ibv_sge sge = { .addr = (uintptr_t)in[i], .length = sizeof(in[i]),
			       .lkey = c->in_mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

	CHECK(!ibv_post_recv(c->id->qp, &wr, &bad));
}

bool card_connect(struct card *c, u32 blade, const struct weft_hello *hello,
		  const struct weft_key *with)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(WEFT_WIRE_UDP_PORT),
		.sin_addr.s_addr = htonl(blade),
	};
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 2 * CARD_LANDINGS, .max_recv_wr = CARD_BUFFERS,
			 .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = CARD_MESSAGE },
	};
	u8 said[WEFT_HELLO_LEN];
	struct rdma_conn_param param = {
		.private_data = said, .private_data_len = sizeof(said),
		.retry_count = 7, .rnr_retry_count = 6,
		.initiator_depth = 1,
	};
	u32 i;

	CHECK(!rdma_create_id(NULL, &c->id, NULL, RDMA_PS_TCP));
	CHECK(!rdma_resolve_addr(c->id, NULL, (struct sockaddr *)&to, 2000));
	CHECK(!rdma_resolve_route(c->id, 2000));
	CHECK(!rdma_create_qp(c->id, NULL, &attr));
	c->mr = ibv_reg_mr(c->id->pd, card_memory, sizeof(card_memory),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	c->in_mr = ibv_reg_mr(c->id->pd, in, sizeof(in), IBV_ACCESS_LOCAL_WRITE);
	CHECK(c->mr && c->in_mr);
	for (i = 0; i < CARD_BUFFERS; i++)
		give_buffer(c, i);
	weft_hello_pack(hello, said, with);
	c->connected = !rdma_connect(c->id, &param);
	if (c->connected)
		return true;
	CHECK_EQ(errno, ECONNREFUSED);
	card_disconnect(c);
	return false;
}

void card_disconnect(struct card *c)
{
	if (!c->id)
		return;
	card_close(c);
	/* it waits for that to be over, which never is what has not begun */
	if (c->connected)
		(void)rdma_disconnect(c->id);
	CHECK(!ibv_dereg_mr(c->mr));
	CHECK(!ibv_dereg_mr(c->in_mr));
	rdma_destroy_qp(c->id);
	CHECK(!rdma_destroy_id(c->id));
	memset(c, 0, sizeof(*c));
}

/* Something that is done.  Return: false: not within @ms. */
static bool take_done(struct ibv_cq *cq, struct ibv_wc *wc, int ms)
{
	u64 end = now_ms() + (u64)ms;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, wc))) {
		if (now_ms() >= end)
			return false;
		usleep(200);
	}
	CHECK(n == 1);
	return true;
}

struct weft_landing card_open(struct card *c, u32 i)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW }, *bad;
	struct ibv_mw *window = c->windows[i];
	struct ibv_wc wc;

	if (!window)
		window = ibv_alloc_mw(c->id->pd, IBV_MW_TYPE_2);
	CHECK(window);
	c->windows[i] = window;
	wr.bind_mw.mw = window;
	wr.bind_mw.rkey = ibv_inc_rkey(window->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		.mr = c->mr, .addr = (uintptr_t)card_memory[i], .length = CARD_BLOCK,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	CHECK(!ibv_post_send(c->id->qp, &wr, &bad));
	CHECK(take_done(c->id->send_cq, &wc, CARD_WAIT_MS));
	CHECK(wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
	window->rkey = wr.bind_mw.rkey;
	memset(card_memory[i], 0xEE, CARD_BLOCK);
	return (struct weft_landing){ .addr = (uintptr_t)card_memory[i], .key = window->rkey };
}

void card_close(struct card *c)
{
	u32 i;

	for (i = 0; i < CARD_LANDINGS; i++) {
		if (c->windows[i])
			(void)ibv_dealloc_mw(c->windows[i]);
		c->windows[i] = NULL;
	}
}

u32 card_take(struct card *c, u8 buf[CARD_MESSAGE], int ms)
{
	struct ibv_wc wc;

	if (!take_done(c->id->recv_cq, &wc, ms))
		return 0;
	CHECK(wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
	CHECK(wc.byte_len <= CARD_MESSAGE);
	memcpy(buf, in[wc.wr_id], wc.byte_len);
	give_buffer(c, (u32)wc.wr_id);
	return wc.byte_len;
}

static bool is_done(struct card *c)
{
	struct ibv_wc wc;

	CHECK(take_done(c->id->send_cq, &wc, CARD_WAIT_MS));
	return wc.status == IBV_WC_SUCCESS;
}

static bool one_sided(struct card *c, enum ibv_wr_opcode what, u32 i, u32 len,
		      const struct weft_landing *there)
{
	struct ibv_sge sge = { .addr = (uintptr_t)card_memory[i], .length = len,
			       .lkey = c->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = what,
		.wr.rdma = { .remote_addr = there->addr, .rkey = there->key },
	}, *bad;

	CHECK(!ibv_post_send(c->id->qp, &wr, &bad));
	return is_done(c);
}

bool card_write(struct card *c, u32 i, const struct weft_landing *to)
{
	return one_sided(c, IBV_WR_RDMA_WRITE, i, CARD_BLOCK, to);
}

bool card_read(struct card *c, u32 i, const struct weft_landing *from, u32 len)
{
	return one_sided(c, IBV_WR_RDMA_READ, i, len, from);
}

void card_send(struct card *c, const u8 *buf, u32 len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)buf, .length = len };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
	}, *bad;

	CHECK(!ibv_post_send(c->id->qp, &wr, &bad));
	CHECK(is_done(c));
}

int card_room_free(struct card *c, int ms)
{
	struct ibv_wc wc;

	if (!take_done(c->id->recv_cq, &wc, ms))
		return -1;
	CHECK(wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
	CHECK(wc.wc_flags & IBV_WC_WITH_IMM);
	CHECK_EQ(wc.byte_len, 0);
	give_buffer(c, (u32)wc.wr_id);
	return (int)ntohl(wc.imm_data);
}
