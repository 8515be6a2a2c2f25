// SPDX-License-Identifier: GPL-2.0-only
/* The mender, see mend.h. */
#include <linux/in.h>
#include <linux/slab.h>

#include "net/node.h"
#include "rdma/deed.h"
#include "rdma/fault.h"
#include "rdma/inbox.h"
#include "rdma/link.h"
#include "rdma/loop.h"
#include "rdma/mend.h"
#include "rdma/strip.h"

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

	id = rdma_create_id(card->net, weft_link_event, card, RDMA_PS_TCP, IB_QPT_RC);
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
	if (weft_loop_open(card))
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
	weft_link_end_all(card);
	weft_loop_close(card);
	weft_strip_strip(card);
	weft_card_unmake(card);
	weft_inbox_empty(card);
	if (card->listener)
		rdma_destroy_id(card->listener);
	card->listener = NULL;
	card->device = NULL;
	/* who called while it was destroyed */
	weft_link_end_all(card);
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
	weft_strip_equip(card);
	spin_lock_bh(&card->lock);
	card->up = true;
	spin_unlock_bh(&card->lock);
	pr_info("weft_rdma: data of %pI4 goes by %s\n", &card->addr,
		dev_name(&card->device->dev));
}

/* If something in the loop failed, or takes too long, it is made anew. */
static bool mend_loop(struct weft_card *card)
{
	bool broken;

	spin_lock_bh(&card->lock);
	if (weft_strip_stuck(card))
		card->loop.broken = true;
	broken = card->loop.broken;
	spin_unlock_bh(&card->lock);
	if (!broken)
		return true;
	weft_loop_close(card);
	return !weft_loop_open(card);
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
	} else if (!mend_loop(card)) {
		/* of no use then */
		unlisten(card);
	} else {
		weft_strip_mend(card);
		weft_strip_equip(card);
		weft_link_mend(card);
		weft_fault_mend(card);
	}
	spin_lock_bh(&card->lock);
	weft_card_wake_in(card, card->up ? weft_link_next(card) :
					   msecs_to_jiffies(LISTEN_MS));
	spin_unlock_bh(&card->lock);
}

struct weft_card *weft_mend_begin(struct weft_node *node, struct net *net)
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
	weft_strip_init(card);
	weft_link_init(card);
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

void weft_mend_end(struct weft_card *card)
{
	spin_lock_bh(&card->lock);
	card->ended = true;
	spin_unlock_bh(&card->lock);
	/* pairs with weft_card_wake(): nobody queues it any more */
	cancel_delayed_work_sync(&card->mend);
	unlisten(card);
	wait_event(card->unused, is_unused(card));
	/* pairs with weft_pad_put(): who has given back the last one is out of our code */
	synchronize_rcu();
	weft_deeds_drop(card);
	kvfree(card);
}
