// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages that come by the card: LANDED, which invalidates the key of its landing, and notices
 * of free write-back buffers.  main.c makes and frees the receive buffers; completions come in
 * softirq.  A message is copied out, and its buffer posted again at once.
 */
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "base/stats.h"
#include "net/node.h"
#include "rdma/conn.h"
#include "rdma/inbox.h"
#include "rdma/mr.h"
#include "rdma/wbuf.h"

static int give(struct weft_inbox_buffer *buffer)
{
	struct ib_sge sge = {
		.addr = buffer->dma, .length = WEFT_INBOX_LEN,
		.lkey = buffer->card->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &buffer->cqe, .sg_list = &sge, .num_sge = 1 };

	return ib_post_srq_recv(buffer->card->srq, &wr, NULL);
}

/* The connection of a queue pair; NULL: it is gone, and its messages have no sender. */
static struct weft_conn *conn_of_qp(struct weft_card *card, const struct ib_qp *qp)
{
	u32 i;

	lockdep_assert_held(&card->lock);
	for (i = 0; i < ARRAY_SIZE(card->conns); i++) {
		if (card->conns[i].id && card->conns[i].id->qp == qp)
			return &card->conns[i];
	}
	return NULL;
}

static __be32 sender(struct weft_card *card, const struct ib_qp *qp)
{
	const struct weft_conn *conn;
	__be32 addr;

	spin_lock_bh(&card->lock);
	conn = conn_of_qp(card, qp);
	addr = conn ? conn->addr : 0;
	spin_unlock_bh(&card->lock);
	return addr;
}

static void room_is_free(struct weft_card *card, const struct ib_qp *qp, u32 room)
{
	struct weft_conn *conn;

	spin_lock_bh(&card->lock);
	conn = conn_of_qp(card, qp);
	if (conn && conn->state == WEFT_CONN_UP && !weft_wbuf_told(conn, room))
		weft_conn_break(conn, "it says that a room is free which it does not have");
	spin_unlock_bh(&card->lock);
}

/* Copy a message out; NULL: no memory. */
static struct sk_buff *take_out(struct weft_inbox_buffer *buffer, u32 len)
{
	struct weft_card *card = buffer->card;
	struct sk_buff *skb = alloc_skb(len, GFP_ATOMIC);

	if (!skb) {
		weft_stat_inc(&card->node->counters, WEFT_STAT_MSG_NO_MEMORY);
		return NULL;
	}
	ib_dma_sync_single_for_cpu(card->device, buffer->dma, WEFT_INBOX_LEN, DMA_FROM_DEVICE);
	skb_put_data(skb, buffer->data, len);
	ib_dma_sync_single_for_device(card->device, buffer->dma, WEFT_INBOX_LEN,
				      DMA_FROM_DEVICE);
	return skb;
}

static void came(struct ib_cq *cq, struct ib_wc *wc)
{
	struct weft_inbox_buffer *buffer =
		container_of(wc->wr_cqe, struct weft_inbox_buffer, cqe);
	struct weft_card *card = buffer->card;
	struct sk_buff *skb = NULL;
	__be32 from = 0;

	if (wc->status == IB_WC_SUCCESS && wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		from = sender(card, wc->qp);
		if (from)
			skb = take_out(buffer, min_t(u32, wc->byte_len, WEFT_INBOX_LEN));
	}
	/* fails if the queue is gone, which needs no buffers */
	give(buffer);
	if (wc->status == IB_WC_SUCCESS && wc->wc_flags & IB_WC_WITH_INVALIDATE)
		weft_mr_landed(card, wc->ex.invalidate_rkey, skb, from);
	else if (wc->status == IB_WC_SUCCESS && wc->wc_flags & IB_WC_WITH_IMM)
		room_is_free(card, wc->qp, be32_to_cpu(wc->ex.imm_data));
	kfree_skb(skb);
}

int weft_inbox_fill(struct weft_card *card)
{
	struct weft_inbox_buffer *buffer;
	u32 i;

	for (i = 0; i < WEFT_INBOXES; i++) {
		buffer = &card->inboxes[i];
		buffer->card = card;
		buffer->cqe.done = came;
		buffer->data = kzalloc(WEFT_INBOX_LEN, GFP_KERNEL);
		if (!buffer->data)
			return -ENOMEM;
		buffer->dma = ib_dma_map_single(card->device, buffer->data, WEFT_INBOX_LEN,
						DMA_FROM_DEVICE);
		if (ib_dma_mapping_error(card->device, buffer->dma)) {
			kfree(buffer->data);
			buffer->data = NULL;
			return -ENOMEM;
		}
		if (give(buffer))
			return -ENOMEM;
	}
	return 0;
}

void weft_inbox_empty(struct weft_card *card)
{
	struct weft_inbox_buffer *buffer;
	u32 i;

	for (i = 0; i < WEFT_INBOXES; i++) {
		buffer = &card->inboxes[i];
		if (!buffer->data)
			continue;
		ib_dma_unmap_single(card->device, buffer->dma, WEFT_INBOX_LEN, DMA_FROM_DEVICE);
		kfree(buffer->data);
		buffer->data = NULL;
	}
}
