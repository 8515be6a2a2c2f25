// SPDX-License-Identifier: GPL-2.0-only
/* What is made of a node's network card, see card.h. */
#include "rdma/card.h"

/* All that can be told at a time: of MRs, connections, messages. */
#define COMPLETIONS	(2 * WEFT_MRS + WEFT_CARD_WORK + 2 * WEFT_PEERS_MAX + WEFT_INBOXES)

static struct workqueue_struct *menders;

int weft_card_setup(void)
{
	menders = alloc_workqueue("weft_rdma", WQ_UNBOUND, 0);
	return menders ? 0 : -ENOMEM;
}

void weft_card_cleanup(void)
{
	destroy_workqueue(menders);
}

void weft_card_wake(struct weft_card *card)
{
	/* @ended is written with the lock before the last one is waited for */
	lockdep_assert_held(&card->lock);
	if (!card->ended)
		mod_delayed_work(menders, &card->mend, 0);
}

void weft_card_wake_in(struct weft_card *card, unsigned long delay)
{
	lockdep_assert_held(&card->lock);
	if (!card->ended)
		queue_delayed_work(menders, &card->mend, delay);
}

static const char *cannot(const struct weft_card *card)
{
	const struct ib_device *device = card->device;
	u32 port = card->listener->port_num;

	if (!rdma_protocol_roce(device, port) && !rdma_protocol_ib(device, port))
		return "the device is of a kind for which this was not made (iWARP)";
	if (!(device->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return "the device cannot take back keys";
	if (device->attrs.max_fast_reg_page_list_len < WEFT_MR_PAGES)
		return "the device cannot register enough pages at a time";
	if (device->attrs.max_cqe < COMPLETIONS || device->attrs.max_srq_wr < WEFT_INBOXES ||
	    device->attrs.max_qp_wr <= WEFT_CONN_WORK)
		return "the device has too short queues";
	return NULL;
}

const char *weft_card_make(struct weft_card *card)
{
	struct ib_srq_init_attr srq = {
		.srq_type = IB_SRQT_BASIC, .attr = { .max_wr = WEFT_INBOXES, .max_sge = 1 },
	};
	const char *why = cannot(card);

	if (why)
		return why;
	card->sges = min_t(u32, card->device->attrs.max_send_sge, WEFT_MR_PAGES);
	card->pd = ib_alloc_pd(card->device, 0);
	if (IS_ERR(card->pd)) {
		card->pd = NULL;
		return "the device has no protection domain left";
	}
	card->cq = ib_alloc_cq(card->device, card, COMPLETIONS, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(card->cq)) {
		card->cq = NULL;
		return "the device has no completion queue left";
	}
	card->srq = ib_create_srq(card->pd, &srq);
	if (IS_ERR(card->srq)) {
		card->srq = NULL;
		return "the device has no receive queue left";
	}
	return NULL;
}

void weft_card_unmake(struct weft_card *card)
{
	if (card->srq)
		ib_destroy_srq(card->srq);
	if (card->cq)
		ib_free_cq(card->cq);
	if (card->pd)
		ib_dealloc_pd(card->pd);
	card->srq = NULL;
	card->cq = NULL;
	card->pd = NULL;
}
