// SPDX-License-Identifier: GPL-2.0-only
/* What others send by the card, see inbox.h. */
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "base/stats.h"
#include "net/node.h"
#include "rdma/inbox.h"
#include "rdma/strip.h"

static int give(struct weft_inbox_buffer *buffer)
{
	struct ib_sge sge = {
		.addr = buffer->dma, .length = WEFT_INBOX_LEN,
		.lkey = buffer->card->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &buffer->cqe, .sg_list = &sge, .num_sge = 1 };

	return ib_post_srq_recv(buffer->card->srq, &wr, NULL);
}

/* Its connection may be gone by now: then nobody has sent it. */
static __be32 sender(struct weft_card *card, const struct ib_qp *qp)
{
	__be32 addr = 0;
	u32 i;

	spin_lock_bh(&card->lock);
	for (i = 0; i < ARRAY_SIZE(card->links); i++) {
		if (card->links[i].id && card->links[i].id->qp == qp)
			addr = card->links[i].addr;
	}
	spin_unlock_bh(&card->lock);
	return addr;
}

/* NULL: there is no memory for it. */
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
	/* if the device has no queue any more it needs no buffers */
	give(buffer);
	if (wc->status == IB_WC_SUCCESS && wc->wc_flags & IB_WC_WITH_INVALIDATE)
		weft_strip_landed(card, wc->ex.invalidate_rkey, skb, from);
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
		ib_dma_unmap_single(card->device, buffer->dma, WEFT_INBOX_LEN,
				    DMA_FROM_DEVICE);
		kfree(buffer->data);
		buffer->data = NULL;
	}
}
