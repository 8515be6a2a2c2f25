// SPDX-License-Identifier: GPL-2.0-only
/* Landing strips, see strip.h. */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/skbuff.h>

#include "net/contents.h"
#include "net/node.h"
#include "net/recv.h"
#include "net/transport.h"
#include "rdma/fault.h"
#include "rdma/loop.h"
#include "rdma/read.h"
#include "rdma/strip.h"

#define KEY_BITS	8	/* of a key that count; the rest is the device's */

static struct weft_strip *strip_of(struct weft_pad *pad)
{
	return container_of(pad, struct weft_strip, pad);
}

/* Its pages are seen by the processor again, and not by the device. */
static void unmap(struct weft_strip *strip)
{
	struct weft_contents *contents = strip->pad.contents;

	if (strip->mapped)
		ib_dma_unmap_sg(strip->card->device, strip->sg,
				contents->size >> PAGE_SHIFT, DMA_FROM_DEVICE);
	strip->mapped = false;
}

/* With the lock.  The caller has weft_strip_closed() called without. */
static void set_closed(struct weft_strip *strip)
{
	lockdep_assert_held(&strip->card->lock);
	unmap(strip);
	strip->state = WEFT_STRIP_CLOSED;
}

/* What came by it was handed in. */
static void tell_closed(struct weft_strip *strip)
{
	struct weft_pad *pad = &strip->pad;

	local_bh_disable();
	pad->node->above->closed(pad->node, pad);
	local_bh_enable();
	weft_pad_put(pad);
}

/* With the lock: the mender knows what to do. */
static void set_bad(struct weft_strip *strip)
{
	lockdep_assert_held(&strip->card->lock);
	strip->state = WEFT_STRIP_BAD;
	weft_card_wake(strip->card);
}

/* --- opening ------------------------------------------------------------------------- */

static bool map(struct weft_strip *strip)
{
	const struct weft_contents *contents = strip->pad.contents;
	u32 i, n = contents->size >> PAGE_SHIFT;
	int mapped;

	sg_init_table(strip->sg, n);
	for (i = 0; i < n; i++)
		sg_set_page(&strip->sg[i], contents->pages[i], PAGE_SIZE, 0);
	mapped = ib_dma_map_sg(strip->card->device, strip->sg, n, DMA_FROM_DEVICE);
	if (!mapped)
		return false;
	strip->mapped = true;
	if (ib_map_mr_sg(strip->mr, strip->sg, mapped, NULL, PAGE_SIZE) != mapped) {
		unmap(strip);
		return false;
	}
	strip->mr->iova = strip->pad.landing.addr;
	return true;
}

/* With the lock.  Return: false: nobody will be able to write there. */
static bool start(struct weft_strip *strip, const struct weft_outgoing *out)
{
	lockdep_assert_held(&strip->card->lock);
	if (!strip->card->up || !strip->mr || strip->state != WEFT_STRIP_MADE ||
	    weft_fault_open() || !map(strip))
		return false;
	if (!weft_loop_register(strip)) {
		unmap(strip);
		return false;
	}
	strip->out = *out;
	strip->out.pad = NULL;
	memcpy(strip->payload, out->msg.payload, sizeof(strip->payload));
	strip->out.msg.payload = strip->payload;
	strip->state = WEFT_STRIP_OPENING;
	return true;
}

static void pad_close(struct weft_pad *pad);

static void send_without(struct weft_node *node, const struct weft_outgoing *from)
{
	struct weft_outgoing out = *from;

	out.pad = NULL;
	/* there is nowhere to read it into */
	out.msg.flags &= (u8)~WEFT_F_DIRECT;
	out.msg.payload = NULL;
	out.msg.len = 0;
	weft_transport_send(node, &out);
}

static bool pad_open(struct weft_pad *pad, const struct weft_outgoing *out)
{
	struct weft_strip *strip = strip_of(pad);
	bool started;

	spin_lock_bh(&strip->card->lock);
	started = out->msg.len == WEFT_LANDING_LEN && start(strip, out);
	spin_unlock_bh(&strip->card->lock);
	if (!started) {
		/* else it would be open for the block, and the device may go before an answer comes */
		pad_close(pad);
		send_without(pad->node, out);
	}
	return true;
}

/* With the lock. */
static void begin_closing(struct weft_strip *strip)
{
	lockdep_assert_held(&strip->card->lock);
	if (weft_loop_take_back(strip))
		strip->state = WEFT_STRIP_CLOSING;
	else
		set_bad(strip);
}

static void registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct weft_strip *strip = container_of(wc->wr_cqe, struct weft_strip, reg);
	struct weft_card *card = strip->card;
	bool good = wc->status == IB_WC_SUCCESS;
	struct weft_outgoing out;
	bool wanted;

	/* the transport's reference goes as soon as it is closed */
	weft_pad_get(&strip->pad);
	spin_lock_bh(&card->lock);
	out = strip->out;
	wanted = !strip->unwanted;
	if (!good) {
		card->loop.broken = true;
		set_bad(strip);
	} else if (wanted) {
		strip->state = WEFT_STRIP_OPEN;
	} else {
		begin_closing(strip);
	}
	spin_unlock_bh(&card->lock);
	if (wanted && good)
		weft_transport_send(strip->pad.node, &out);
	else if (wanted)
		send_without(strip->pad.node, &out);
	weft_pad_put(&strip->pad);
}

/* --- closing -------------------------------------------------------------------------- */

/* What this node's card has read. */
static void hand_in(struct weft_strip *strip)
{
	rcu_read_lock();
	weft_recv_own(strip->pad.node, &strip->landed, &strip->pad);
	rcu_read_unlock();
}

static void taken_back(struct ib_cq *cq, struct ib_wc *wc)
{
	struct weft_strip *strip = container_of(wc->wr_cqe, struct weft_strip, inv);
	struct weft_card *card = strip->card;
	bool good = wc->status == IB_WC_SUCCESS, read;

	spin_lock_bh(&card->lock);
	read = strip->read;
	if (good) {
		set_closed(strip);
	} else {
		/* it may be that a message has taken it back before: some devices mind */
		card->loop.broken = true;
		set_bad(strip);
	}
	spin_unlock_bh(&card->lock);
	if (!good)
		return;
	if (read)
		hand_in(strip);
	tell_closed(strip);
}

static void pad_close(struct weft_pad *pad)
{
	struct weft_strip *strip = strip_of(pad);
	bool closed = false;

	spin_lock_bh(&strip->card->lock);
	switch (strip->state) {
	case WEFT_STRIP_MADE:
		set_closed(strip);
		closed = true;
		break;
	case WEFT_STRIP_OPENING:
		strip->unwanted = true;
		break;
	case WEFT_STRIP_OPEN:
		begin_closing(strip);
		break;
	default:
		/* somebody does that */
		break;
	}
	spin_unlock_bh(&strip->card->lock);
	if (closed)
		tell_closed(strip);
}

/* With the lock. */
static struct weft_strip *find(struct weft_card *card, u32 key)
{
	struct weft_strip *strip;

	hash_for_each_possible(card->keys, strip, by_key, key >> KEY_BITS) {
		if (strip->mr->rkey == key)
			return strip;
	}
	return NULL;
}

/* With the lock: the block has come, @direct: as this node's card has read it. */
static void note_time(struct weft_strip *strip, bool direct)
{
	weft_deed_took(strip->card, strip->home, direct, ktime_get_ns() - strip->made);
}

/* With the lock: somebody says that a block has come, and its home where it has it. */
static void note_landed(struct weft_strip *strip, const struct sk_buff *skb)
{
	struct weft_deed deed;
	struct weft_msg landed;

	note_time(strip, strip->tried);
	if (skb && weft_deed_of(strip->card->node, skb, &landed, &deed) &&
	    landed.src == strip->home && landed.line == strip->line)
		weft_deed_take(strip->card, &landed, &deed);
}

struct weft_strip *weft_strip_open(struct weft_card *card, const struct weft_landing *landing)
{
	struct weft_strip *strip;

	lockdep_assert_held(&card->lock);
	strip = find(card, landing->key);
	return strip && strip->state == WEFT_STRIP_OPEN ? strip : NULL;
}

void weft_strip_read(struct weft_strip *strip, const struct weft_msg *landed)
{
	struct weft_card *card = strip->card;

	spin_lock_bh(&card->lock);
	/* else it is being closed already: then the block comes another way */
	if (strip->state == WEFT_STRIP_OPEN) {
		note_time(strip, true);
		strip->landed = *landed;
		strip->read = true;
		begin_closing(strip);
	}
	spin_unlock_bh(&card->lock);
}

void weft_strip_landed(struct weft_card *card, u32 key, struct sk_buff *skb, __be32 from)
{
	struct weft_strip *strip;

	spin_lock_bh(&card->lock);
	strip = find(card, key);
	/* else it is being closed already: so is what has come */
	if (strip && strip->state == WEFT_STRIP_OPEN)
		set_closed(strip);
	else
		strip = NULL;
	if (strip)
		note_landed(strip, skb);
	spin_unlock_bh(&card->lock);
	if (!strip)
		return;
	rcu_read_lock();
	if (skb)
		weft_recv(card->node, skb, from, &strip->pad);
	rcu_read_unlock();
	tell_closed(strip);
}

/* --- making --------------------------------------------------------------------------- */

/* With the lock. */
static void put_away(struct weft_strip *strip)
{
	struct weft_card *card = strip->card;

	strip->state = WEFT_STRIP_IDLE;
	if (strip->mr) {
		list_add(&strip->list, &card->strips_free);
		return;
	}
	list_add(&strip->list, &card->strips_bare);
	if (card->up)
		weft_card_wake(card);
}

static void pad_free(struct weft_pad *pad)
{
	struct weft_strip *strip = strip_of(pad);
	struct weft_card *card = strip->card;

	spin_lock_bh(&card->lock);
	put_away(strip);
	if (!--card->n_out)
		wake_up(&card->unused);
	spin_unlock_bh(&card->lock);
}

static const struct weft_pad_ops pad_ops = {
	.open = pad_open,
	.close = pad_close,
	.free = pad_free,
};

/* With the lock: the next key, and an address that no landing has had. */
static void name(struct weft_strip *strip)
{
	struct weft_card *card = strip->card;

	do {
		ib_update_fast_reg_key(strip->mr, (u8)(strip->mr->rkey + 1));
	} while (!strip->mr->rkey);
	strip->pad.landing.key = strip->mr->rkey;
	strip->pad.landing.addr = card->addr_next;
	card->addr_next += WEFT_STRIP_PAGES * PAGE_SIZE;
}

struct weft_pad *weft_strip_make(struct weft_card *card, u32 home, u64 line,
				 struct weft_contents *contents)
{
	struct weft_link *link = &card->links[home];
	struct weft_strip *strip = NULL;

	if (contents->size > WEFT_STRIP_PAGES * PAGE_SIZE)
		return NULL;
	spin_lock_bh(&card->lock);
	if (card->up && link->state == WEFT_LINK_NONE && !link->wanted) {
		link->wanted = true;
		weft_card_wake(card);
	}
	/* without a connection nobody can write there */
	if (card->up && card->n_up)
		strip = list_first_entry_or_null(&card->strips_free, struct weft_strip, list);
	if (strip) {
		list_del(&strip->list);
		strip->state = WEFT_STRIP_MADE;
		strip->unwanted = false;
		strip->read = false;
		strip->tried = false;
		strip->home = (u8)home;
		strip->line = line;
		strip->made = ktime_get_ns();
		weft_pad_init(&strip->pad, card->node, &pad_ops, contents);
		strip->pad.direct = weft_deed_wanted(card, home, line);
		name(strip);
		card->n_out++;
	}
	spin_unlock_bh(&card->lock);
	return strip ? &strip->pad : NULL;
}

/* --- registrations -------------------------------------------------------------------- */

void weft_strip_init(struct weft_card *card)
{
	struct weft_strip *strip;
	u32 i;

	INIT_LIST_HEAD(&card->strips_free);
	INIT_LIST_HEAD(&card->strips_bare);
	hash_init(card->keys);
	card->addr_next = (u64)get_random_u32() << 32;
	for (i = 0; i < WEFT_STRIPS; i++) {
		strip = &card->strips[i];
		strip->card = card;
		strip->reg.done = registered;
		strip->inv.done = taken_back;
		list_add(&strip->list, &card->strips_bare);
	}
}

void weft_strip_equip(struct weft_card *card)
{
	struct weft_strip *strip;
	struct ib_mr *mr;

	for (;;) {
		if (list_empty_careful(&card->strips_bare))
			return;
		mr = ib_alloc_mr(card->pd, IB_MR_TYPE_MEM_REG, WEFT_STRIP_PAGES);
		if (IS_ERR(mr))
			return;
		spin_lock_bh(&card->lock);
		strip = list_first_entry_or_null(&card->strips_bare, struct weft_strip, list);
		if (strip) {
			strip->mr = mr;
			hash_add(card->keys, &strip->by_key, mr->rkey >> KEY_BITS);
			list_move(&strip->list, &card->strips_free);
		}
		spin_unlock_bh(&card->lock);
		if (!strip) {
			ib_dereg_mr(mr);
			return;
		}
	}
}

/*
 * Its registration ends, and its pad is closed, whatever became of it: what was to open it is
 * over, and a block whose home is silent would never close it.
 */
static void deregister(struct weft_strip *strip)
{
	struct weft_card *card = strip->card;
	struct ib_mr *mr;
	bool closes;

	spin_lock_bh(&card->lock);
	mr = strip->mr;
	if (mr)
		hash_del(&strip->by_key);
	strip->mr = NULL;
	closes = strip->state != WEFT_STRIP_IDLE && strip->state != WEFT_STRIP_CLOSED;
	/* till it is closed nobody else closes it, by a registration that is not there */
	if (closes)
		strip->state = WEFT_STRIP_BAD;
	else if (strip->state == WEFT_STRIP_IDLE)
		list_move(&strip->list, &card->strips_bare);
	spin_unlock_bh(&card->lock);
	if (closes)
		weft_fault_hold();
	/* drivers that fail here have lost the device: then it writes nothing any more */
	if (mr)
		WARN_ON_ONCE(ib_dereg_mr(mr));
	if (!closes)
		return;
	spin_lock_bh(&card->lock);
	set_closed(strip);
	spin_unlock_bh(&card->lock);
	tell_closed(strip);
}

void weft_strip_mend(struct weft_card *card)
{
	u32 i;

	for (i = 0; i < WEFT_STRIPS; i++) {
		/* only the mender changes that */
		if (READ_ONCE(card->strips[i].state) == WEFT_STRIP_BAD)
			deregister(&card->strips[i]);
	}
}

bool weft_strip_stuck(struct weft_card *card)
{
	const struct weft_strip *strip;
	u32 i;

	lockdep_assert_held(&card->lock);
	for (i = 0; i < WEFT_STRIPS; i++) {
		strip = &card->strips[i];
		if ((strip->state == WEFT_STRIP_OPENING ||
		     strip->state == WEFT_STRIP_CLOSING) &&
		    time_after(jiffies, strip->since + msecs_to_jiffies(WEFT_STUCK_MS)))
			return true;
	}
	return false;
}

void weft_strip_strip(struct weft_card *card)
{
	u32 i;

	for (i = 0; i < WEFT_STRIPS; i++)
		deregister(&card->strips[i]);
}
