// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft_rdma.ko: data by RDMA, the transport of another module in net/transport.h.  Makes a card
 * (card.h) for each node that is up; the mender finds a device for it, makes queues, and has the
 * other files mend what is theirs.  Knows nothing of blocks and their locks.
 */
#include <linux/in.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "net/config.h"
#include "net/node.h"
#include "net/transport.h"
#include "rdma/conn.h"
#include "rdma/fault.h"
#include "rdma/inbox.h"
#include "rdma/mr.h"
#include "rdma/read.h"
#include "rdma/regqp.h"
#include "rdma/write.h"
#include "weft_version.h"

/* --- the mender: the work item of a card that does all that sleeps ------------------------- */

#define LISTEN_MS	2000	/* until the next attempt to find a device */
#define BACKLOG		WEFT_CALLERS_MAX
/* As many as can be outstanding: work requests of MRs and connections, receive buffers. */
#define COMPLETIONS	(2 * WEFT_MRS + WEFT_CARD_WORK + 2 * WEFT_PEERS_MAX + WEFT_INBOXES)

struct workqueue_struct *weft_menders;

/* Return: NULL; else what the device lacks, a sentence. */
static const char *lacks(const struct weft_card *card)
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

/* Return: as above. */
static const char *make_queues(struct weft_card *card)
{
	struct ib_srq_init_attr srq = {
		.srq_type = IB_SRQT_BASIC, .attr = { .max_wr = WEFT_INBOXES, .max_sge = 1 },
	};
	const char *why = lacks(card);

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

static void destroy_queues(struct weft_card *card)
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

/* Find the device, make all queues and listen.  Return: NULL; else why not, a sentence. */
static const char *listen(struct weft_card *card)
{
	struct sockaddr_in own = {
		.sin_family = AF_INET, .sin_port = htons(WEFT_WIRE_UDP_PORT),
		.sin_addr.s_addr = card->addr,
	};
	struct rdma_cm_id *id;
	const char *why;
	int err;

	id = rdma_create_id(card->net, weft_conn_event, card, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return "there is no memory for a connection";
	card->listener = id;
	err = rdma_bind_addr(id, (struct sockaddr *)&own);
	if (err)
		return err == -EADDRINUSE ? "its port is in use" :
					    "no RDMA device has the node's address";
	if (!id->device)
		return "no RDMA device has the node's address";
	card->device = id->device;
	why = make_queues(card);
	if (why)
		return why;
	if (weft_inbox_fill(card))
		return "there is no memory for messages";
	if (weft_regqp_open(card))
		return "the device cannot be connected to itself";
	if (rdma_listen(id, BACKLOG))
		return "nobody can be listened to";
	return NULL;
}

/* Destroy all that was made of the device. */
static void unlisten(struct weft_card *card)
{
	spin_lock_bh(&card->lock);
	card->up = false;
	spin_unlock_bh(&card->lock);
	weft_conn_end_all(card);
	weft_regqp_close(card);
	weft_mr_unmake_all(card);
	destroy_queues(card);
	weft_inbox_empty(card);
	if (card->listener)
		rdma_destroy_id(card->listener);
	card->listener = NULL;
	card->device = NULL;
	/* connection requests that came meanwhile */
	weft_conn_end_all(card);
	spin_lock_bh(&card->lock);
	card->gone = false;
	spin_unlock_bh(&card->lock);
}

static void try_to_listen(struct weft_card *card)
{
	const char *why = listen(card);

	if (why) {
		unlisten(card);
		if (card->why != why)
			pr_info("weft_rdma: data of %pI4 goes by UDP: %s\n", &card->addr, why);
		WRITE_ONCE(card->why, why);
		return;
	}
	WRITE_ONCE(card->why, NULL);
	weft_mr_equip(card);
	spin_lock_bh(&card->lock);
	card->up = true;
	spin_unlock_bh(&card->lock);
	pr_info("weft_rdma: data of %pI4 goes by %s\n", &card->addr,
		dev_name(&card->device->dev));
}

/*
 * Make the registration QP anew if a work request in it has failed or takes too long.  Return:
 * whether there is one.
 */
static bool mend_regqp(struct weft_card *card)
{
	bool broken;

	spin_lock_bh(&card->lock);
	if (weft_mr_stuck(card))
		card->regqp.broken = true;
	broken = card->regqp.broken;
	spin_unlock_bh(&card->lock);
	if (!broken)
		return true;
	weft_regqp_close(card);
	return !weft_regqp_open(card);
}

static void mend(struct work_struct *work)
{
	struct weft_card *card = container_of(work, struct weft_card, mend.work);
	bool gone;

	spin_lock_bh(&card->lock);
	gone = card->gone;
	spin_unlock_bh(&card->lock);
	if (gone && card->listener) {
		unlisten(card);
		pr_info("weft_rdma: data of %pI4 goes by UDP: the device is gone\n",
			&card->addr);
	}
	if (!card->listener) {
		try_to_listen(card);
	} else if (!mend_regqp(card)) {
		/* without a registration QP the device is of no use */
		unlisten(card);
	} else {
		weft_mr_mend(card);
		weft_mr_equip(card);
		weft_conn_mend(card);
		weft_fault_mend(card);
	}
	spin_lock_bh(&card->lock);
	if (!card->ended)
		queue_delayed_work(weft_menders, &card->mend, card->up ? weft_conn_next(card) :
				   msecs_to_jiffies(LISTEN_MS));
	spin_unlock_bh(&card->lock);
}

/* --- the transport -------------------------------------------------------------------- */

static int card_open(struct weft_node *node, const struct weft_config *cfg,
		     struct netlink_ext_ack *extack)
{
	struct weft_card *card = kvzalloc(sizeof(*card), GFP_KERNEL);

	if (!card)
		return -ENOMEM;
	card->node = node;
	card->net = cfg->net;
	card->addr = node->peers.addr;
	spin_lock_init(&card->lock);
	init_waitqueue_head(&card->unused);
	INIT_DELAYED_WORK(&card->mend, mend);
	weft_mr_init(card);
	weft_conn_init(card);
	weft_deeds_make(card);
	weft_fault_init(card);
	spin_lock_bh(&card->lock);
	weft_card_wake(card);
	spin_unlock_bh(&card->lock);
	rcu_assign_pointer(node->card, card);
	return 0;
}

static void card_close(struct weft_node *node)
{
	struct weft_card *card = rcu_dereference_protected(node->card, true);

	RCU_INIT_POINTER(node->card, NULL);
	/* pairs with card_post() and card_send(): no thread is in there any more */
	synchronize_rcu();
	spin_lock_bh(&card->lock);
	card->ended = true;
	spin_unlock_bh(&card->lock);
	/* pairs with weft_card_wake(): nobody queues the work any more */
	cancel_delayed_work_sync(&card->mend);
	unlisten(card);
	/* outboxes may still have references to posted buffers, which are parts of the card */
	wait_event(card->unused, !READ_ONCE(card->n_out));
	/* pairs with weft_posted_put(): the last one is out of posted_free() then */
	synchronize_rcu();
	weft_deeds_drop(card);
	kvfree(card);
}

/* The card of a node, or NULL, until rcu_read_unlock(). */
static struct weft_card *card_of(const struct weft_node *node)
{
	/* pairs with synchronize_rcu() of card_close() */
	return rcu_dereference(node->card);
}

static struct weft_posted *card_post(struct weft_node *node, u32 home, u64 line,
				     struct weft_contents *contents)
{
	struct weft_card *card = card_of(node);

	return card ? weft_mr_make(card, home, line, contents) : NULL;
}

static bool card_send(struct weft_node *node, const struct weft_outgoing *out)
{
	struct weft_card *card = card_of(node);

	return card && (weft_write_send(card, out) || weft_read_send(card, out));
}

static const char *card_why(struct weft_node *node, u32 to)
{
	struct weft_card *card = card_of(node);
	const char *why = NULL;

	if (!card)
		return "the node is not up";
	spin_lock_bh(&card->lock);
	if (card->up)
		why = weft_conn_why(&card->conns[to]);
	else
		why = READ_ONCE(card->why) ?: "the device is being looked for";
	spin_unlock_bh(&card->lock);
	return why;
}

static void card_moved(struct weft_node *node, u32 member)
{
	struct weft_card *card = card_of(node);

	if (card)
		weft_conn_moved(&card->conns[member]);
}

static const struct weft_transport transport = {
	.open = card_open,
	.close = card_close,
	.post = card_post,
	.why = card_why,
	.moved = card_moved,
	.send = card_send,
};

static int __init weft_rdma_init(void)
{
	int err;

	weft_menders = alloc_workqueue("weft_rdma", WQ_UNBOUND, 0);
	if (!weft_menders)
		return -ENOMEM;
	err = weft_transport_register(&transport);
	if (err)
		destroy_workqueue(weft_menders);
	return err;
}

static void __exit weft_rdma_exit(void)
{
	weft_transport_unregister(&transport);
	destroy_workqueue(weft_menders);
}

module_init(weft_rdma_init);
module_exit(weft_rdma_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION(WEFT_VERSION);
MODULE_DESCRIPTION("weft: data by RDMA");
