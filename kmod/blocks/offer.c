// SPDX-License-Identifier: GPL-2.0-only
/* What a block's request has offered, see offer.h. */
#include <linux/slab.h>

#include "base/stats.h"
#include "blocks/block.h"
#include "blocks/cache.h"
#include "blocks/offer.h"
#include "core/requester.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/transport.h"

/* --- requests ------------------------------------------------------------------------ */

/* What goes on for the same data goes with the landing that is open for it. */
static bool goes_on(const struct weft_block *blk, const struct weft_msg *msg)
{
	return blk->line.landing && blk->offer.posted && !blk->offer.closing &&
	       msg->type == WEFT_MSG_READ && msg->txn == blk->line.txn;
}

static struct weft_posted *make_posted(struct weft_block *blk, const struct weft_msg *msg)
{
	struct weft_node *node = blk->cache->node;
	struct weft_contents *contents;
	struct weft_posted *posted;

	if (blk->offer.posted || !weft_line_may_land(&blk->line, msg))
		return NULL;
	contents = weft_block_contents(blk);
	posted = weft_transport_post(node, weft_node_home(node, blk->line.key), blk->line.key,
				     contents);
	if (!posted) {
		contents->put(contents);
		return NULL;
	}
	weft_stat_inc(&node->counters, WEFT_STAT_LANDINGS_OFFERED);
	weft_line_landing_open(&blk->line);
	blk->offer.posted = posted;
	return posted;
}

static void put(u32 to, const struct weft_msg *from, const struct weft_landing *landing,
		struct weft_posted *posted, struct weft_outbox *outbox)
{
	u8 payload[WEFT_LANDING_LEN];
	struct weft_msg msg = *from;

	if (landing->key) {
		weft_landing_pack(landing, payload);
		msg.payload = payload;
		msg.len = WEFT_LANDING_LEN;
	}
	/* a READ is that already */
	if (posted && posted->direct && msg.type != WEFT_MSG_READ)
		msg.flags |= WEFT_F_DIRECT;
	weft_outbox_put_offer(outbox, to, &msg, posted);
}

void weft_offer_put(struct weft_block *blk, u32 to, const struct weft_send *s,
		    struct weft_outbox *outbox)
{
	const struct weft_landing *landing = &s->landing;
	struct weft_posted *posted = NULL;

	lockdep_assert_held(&blk->lock);
	if (!landing->key) {
		posted = make_posted(blk, &s->msg);
		if (posted || goes_on(blk, &s->msg))
			landing = &blk->offer.posted->landing;
	}
	put(to, &s->msg, landing, posted, outbox);
}

void weft_offer_put_other(u32 to, const struct weft_send *s, struct weft_outbox *outbox)
{
	put(to, &s->msg, &s->landing, NULL, outbox);
}

/* --- what comes while it is open ------------------------------------------------------ */

void weft_offer_close(struct weft_block *blk, struct weft_outbox *outbox)
{
	lockdep_assert_held(&blk->lock);
	if (!blk->offer.posted || blk->offer.closing)
		return;
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_LANDINGS_CLOSED);
	blk->offer.closing = true;
	weft_outbox_close(outbox, blk->offer.posted);
}

void weft_offer_park(struct weft_block *blk, const struct weft_packet *packet)
{
	struct weft_parked *parked = NULL;

	lockdep_assert_held(&blk->lock);
	if (blk->offer.n < WEFT_PARKED_MAX)
		parked = kmalloc(sizeof(*parked), GFP_ATOMIC);
	if (!parked) {
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_MSG_NO_MEMORY);
		return;
	}
	parked->packet = *packet;
	skb_get(packet->skb);
	parked->next = blk->offer.parked;
	blk->offer.parked = parked;
	blk->offer.n++;
}

bool weft_offer_landed(struct weft_block *blk, const struct weft_packet *packet)
{
	lockdep_assert_held(&blk->lock);
	if (!packet->posted || packet->posted != blk->offer.posted)
		return false;
	blk->offer.posted = NULL;
	blk->offer.closing = false;
	weft_posted_put(packet->posted);
	weft_stat_inc(weft_block_counters(blk), WEFT_STAT_BLOCKS_LANDED);
	return true;
}

bool weft_offer_closed(struct weft_block *blk, const struct weft_posted *posted)
{
	lockdep_assert_held(&blk->lock);
	if (blk->offer.posted != posted)
		return false;
	blk->offer.posted = NULL;
	blk->offer.closing = false;
	weft_line_landing_closed(&blk->line);
	return true;
}

struct weft_parked *weft_offer_take_parked(struct weft_block *blk)
{
	struct weft_parked *parked = blk->offer.parked, *first = NULL, *next;

	lockdep_assert_held(&blk->lock);
	if (blk->offer.posted)
		return NULL;
	blk->offer.parked = NULL;
	blk->offer.n = 0;
	for (; parked; parked = next) {
		next = parked->next;
		parked->next = first;
		first = parked;
	}
	return first;
}
