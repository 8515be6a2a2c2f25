// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft_rdma.ko: data by RDMA, a transport that weft.ko is brought (net/transport.h), so that weft.ko
 * itself needs nothing of RDMA.  For each node that is up there is a card (card.h).
 */
#include <linux/module.h>

#include "net/config.h"
#include "net/node.h"
#include "net/transport.h"
#include "rdma/link.h"
#include "rdma/mend.h"
#include "rdma/read.h"
#include "rdma/strip.h"
#include "rdma/write.h"
#include "weft_version.h"

static int card_open(struct weft_node *node, const struct weft_config *cfg,
		     struct netlink_ext_ack *extack)
{
	struct weft_card *card = weft_mend_begin(node, cfg->net);

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
	/* pairs with card_pad() and card_send(): nobody is in there any more */
	synchronize_rcu();
	weft_mend_end(card);
}

static struct weft_pad *card_pad(struct weft_node *node, u32 home, u64 line,
				 struct weft_contents *contents)
{
	/* RCU; pairs with the synchronize_rcu() of card_close() */
	struct weft_card *card = rcu_dereference(node->card);

	return card ? weft_strip_make(card, home, line, contents) : NULL;
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
		why = weft_link_why(&card->links[to]);
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
		weft_link_moved(&card->links[member]);
}

static const struct weft_transport transport = {
	.name = "rdma",
	.open = card_open,
	.close = card_close,
	.pad = card_pad,
	.why = card_why,
	.moved = card_moved,
	.send = card_send,
};

static int __init weft_rdma_init(void)
{
	int err = weft_card_setup();

	if (err)
		return err;
	err = weft_plug_register(&transport);
	if (err)
		weft_card_cleanup();
	return err;
}

static void __exit weft_rdma_exit(void)
{
	weft_plug_unregister(&transport);
	weft_card_cleanup();
}

module_init(weft_rdma_init);
module_exit(weft_rdma_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION(WEFT_VERSION);
MODULE_DESCRIPTION("weft: data by RDMA");
