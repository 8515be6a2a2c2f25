// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft_rdma.ko: data by RDMA, a transport that weft.ko is brought (net/transport.h), so that
 * weft.ko itself needs nothing of RDMA.  For each node that is up there is a card (card.h).
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

/*
 * --- The mender ---
 *
 * A work item of each card, which makes and destroys all that sleeps: it looks for a device,
 * gives it up when it goes, and has the files below mend what is theirs.
 */

#define LISTEN_MS	2000	/* to the next attempt */
#define BACKLOG		WEFT_CALLERS_MAX

/* Return: NULL; else why not. */
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
	why = weft_card_make(card);
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

/* All that there is of the device. */
static void unlisten(struct weft_card *card)
{
	spin_lock_bh(&card->lock);
	card->up = false;
	spin_unlock_bh(&card->lock);
	weft_conn_end_all(card);
	weft_regqp_close(card);
	weft_mr_unmake_all(card);
	weft_card_unmake(card);
	weft_inbox_empty(card);
	if (card->listener)
		rdma_destroy_id(card->listener);
	card->listener = NULL;
	card->device = NULL;
	/* who called while it was destroyed */
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

/* If something in the registration QP failed, or takes too long, it is made anew. */
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
		/* of no use then */
		unlisten(card);
	} else {
		weft_mr_mend(card);
		weft_mr_equip(card);
		weft_conn_mend(card);
		weft_fault_mend(card);
	}
	spin_lock_bh(&card->lock);
	weft_card_wake_in(card, card->up ? weft_conn_next(card) :
					   msecs_to_jiffies(LISTEN_MS));
	spin_unlock_bh(&card->lock);
}

/* A card, without a device yet.  NULL: there is no memory. */
static struct weft_card *mend_begin(struct weft_node *node, struct net *net)
{
	struct weft_card *card = kvzalloc(sizeof(*card), GFP_KERNEL);

	if (!card)
		return NULL;
	card->node = node;
	card->net = net;
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
	return card;
}

static bool is_unused(struct weft_card *card)
{
	bool unused;

	spin_lock_bh(&card->lock);
	unused = !card->n_out;
	spin_unlock_bh(&card->lock);
	return unused;
}

/*
 * It ends: all posted buffers are closed, nothing is under way.  Nobody finds it any more, but
 * who has a reference to a posted buffer, for which this waits.
 */
static void mend_end(struct weft_card *card)
{
	spin_lock_bh(&card->lock);
	card->ended = true;
	spin_unlock_bh(&card->lock);
	/* pairs with weft_card_wake(): nobody queues it any more */
	cancel_delayed_work_sync(&card->mend);
	unlisten(card);
	wait_event(card->unused, is_unused(card));
	/* pairs with weft_posted_put(): who has given back the last one is out of our code */
	synchronize_rcu();
	weft_deeds_drop(card);
	kvfree(card);
}

/* --- the transport -------------------------------------------------------------------- */

static int card_open(struct weft_node *node, const struct weft_config *cfg,
		     struct netlink_ext_ack *extack)
{
	struct weft_card *card = mend_begin(node, cfg->net);

	if (!card)
		return -ENOMEM;
	rcu_assign_pointer(node->card, card);
	return 0;
}

/* Those who open and close are one at a time. */
static void card_close(struct weft_node *node)
{
	struct weft_card *card = rcu_dereference_protected(node->card, true);

	RCU_INIT_POINTER(node->card, NULL);
	/* pairs with card_post() and card_send(): nobody is in there any more */
	synchronize_rcu();
	mend_end(card);
}

static struct weft_posted *card_post(struct weft_node *node, u32 home, u64 line,
				     struct weft_contents *contents)
{
	/* RCU; pairs with the synchronize_rcu() of card_close() */
	struct weft_card *card = rcu_dereference(node->card);

	return card ? weft_mr_make(card, home, line, contents) : NULL;
}

static bool card_send(struct weft_node *node, const struct weft_outgoing *out)
{
	/* RCU; pairs with the synchronize_rcu() of card_close() */
	struct weft_card *card = rcu_dereference(node->card);

	return card && (weft_write_send(card, out) || weft_read_send(card, out));
}

static const char *card_why(struct weft_node *node, u32 to)
{
	/* RCU; pairs with the synchronize_rcu() of card_close() */
	struct weft_card *card = rcu_dereference(node->card);
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
	/* RCU; pairs with the synchronize_rcu() of card_close() */
	struct weft_card *card = rcu_dereference(node->card);

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
	int err = weft_card_setup();

	if (err)
		return err;
	err = weft_transport_register(&transport);
	if (err)
		weft_card_cleanup();
	return err;
}

static void __exit weft_rdma_exit(void)
{
	weft_transport_unregister(&transport);
	weft_card_cleanup();
}

module_init(weft_rdma_init);
module_exit(weft_rdma_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION(WEFT_VERSION);
MODULE_DESCRIPTION("weft: data by RDMA");
