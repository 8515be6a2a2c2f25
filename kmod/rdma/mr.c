// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions: from a posted buffer's making until its key is dead and the buffer closed.
 * Called by main.c (transport), inbox.c and read.c; completions come in softirq.  Tells the
 * layers above without card->lock.
 */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/skbuff.h>

#include "net/node.h"
#include "net/recv.h"
#include "net/transport.h"
#include "rdma/fault.h"
#include "rdma/mr.h"
#include "rdma/read.h"
#include "rdma/regqp.h"

#define KEY_BITS	8	/* of a key that count; the others are the device's */

static struct weft_mr *mr_of(struct weft_posted *posted)
{
	return container_of(posted, struct weft_mr, posted);
}

/* Unmap the pages from the device. */
static void unmap(struct weft_mr *mr)
{
	struct weft_contents *contents = mr->posted.contents;

	if (mr->mapped)
		ib_dma_unmap_sg(mr->card->device, mr->sg,
				contents->size >> PAGE_SHIFT, DMA_FROM_DEVICE);
	mr->mapped = false;
}

/* The key is dead.  With the lock; the caller then calls tell_closed() without. */
static void set_closed(struct weft_mr *mr)
{
	lockdep_assert_held(&mr->card->lock);
	unmap(mr);
	mr->state = WEFT_MR_CLOSED;
}

/* Tell the block that the buffer is closed, after what came by it was handed in. */
static void tell_closed(struct weft_mr *mr)
{
	struct weft_posted *posted = &mr->posted;

	local_bh_disable();
	posted->node->above->closed(posted->node, posted);
	local_bh_enable();
	weft_posted_put(posted);
}

/* With the lock: leave the MR to the mender. */
static void set_bad(struct weft_mr *mr)
{
	lockdep_assert_held(&mr->card->lock);
	mr->state = WEFT_MR_BAD;
	weft_card_wake(mr->card);
}

/* With the lock. */
static void begin_closing(struct weft_mr *mr)
{
	lockdep_assert_held(&mr->card->lock);
	if (weft_regqp_revoke(mr, &mr->inv))
		mr->state = WEFT_MR_CLOSING;
	else
		set_bad(mr);
}

static void posted_close(struct weft_posted *posted)
{
	struct weft_mr *mr = mr_of(posted);
	bool closed = false;

	spin_lock_bh(&mr->card->lock);
	switch (mr->state) {
	case WEFT_MR_MADE:
		set_closed(mr);
		closed = true;
		break;
	case WEFT_MR_OPENING:
		mr->unwanted = true;
		break;
	case WEFT_MR_OPEN:
		begin_closing(mr);
		break;
	default:
		/* it is closed, or will be */
		break;
	}
	spin_unlock_bh(&mr->card->lock);
	if (closed)
		tell_closed(mr);
}

/* --- opening ------------------------------------------------------------------------- */

static bool map(struct weft_mr *mr)
{
	u32 n = weft_card_list(mr->sg, mr->posted.contents);
	int mapped = ib_dma_map_sg(mr->card->device, mr->sg, n, DMA_FROM_DEVICE);

	if (!mapped)
		return false;
	mr->mapped = true;
	if (ib_map_mr_sg(mr->ib, mr->sg, mapped, NULL, PAGE_SIZE) != mapped) {
		unmap(mr);
		return false;
	}
	mr->ib->iova = mr->posted.landing.addr;
	return true;
}

/*
 * Begin to register the pages.  With the lock.  Return: false: no member will be able to write
 * there.
 */
static bool start(struct weft_mr *mr, const struct weft_outgoing *out)
{
	lockdep_assert_held(&mr->card->lock);
	if (!mr->card->up || !mr->ib || mr->state != WEFT_MR_MADE ||
	    weft_fault_open() || !map(mr))
		return false;
	if (!weft_regqp_register(mr)) {
		unmap(mr);
		return false;
	}
	mr->out = *out;
	mr->out.posted = NULL;
	memcpy(mr->payload, out->msg.payload, sizeof(mr->payload));
	mr->out.msg.payload = mr->payload;
	mr->state = WEFT_MR_OPENING;
	return true;
}

static void send_without(struct weft_node *node, const struct weft_outgoing *from)
{
	struct weft_outgoing out = *from;

	out.posted = NULL;
	/* no buffer: the card cannot read the block */
	out.msg.flags &= (u8)~WEFT_F_DIRECT;
	out.msg.payload = NULL;
	out.msg.len = 0;
	weft_transport_send(node, &out);
}

static bool posted_open(struct weft_posted *posted, const struct weft_outgoing *out)
{
	struct weft_mr *mr = mr_of(posted);
	bool started;

	spin_lock_bh(&mr->card->lock);
	started = out->msg.len == WEFT_LANDING_LEN && start(mr, out);
	spin_unlock_bh(&mr->card->lock);
	if (!started) {
		/*
		 * the block must hear that it is closed: else it would wait for the buffer, and
		 * the device may go before the answer comes
		 */
		posted_close(posted);
		send_without(posted->node, out);
	}
	return true;
}

static void registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct weft_mr *mr = container_of(wc->wr_cqe, struct weft_mr, reg);
	struct weft_card *card = mr->card;
	bool good = wc->status == IB_WC_SUCCESS;
	struct weft_outgoing out;
	bool wanted;

	/* the transport's reference is dropped when the buffer is closed */
	weft_posted_get(&mr->posted);
	spin_lock_bh(&card->lock);
	out = mr->out;
	wanted = !mr->unwanted;
	if (!good) {
		card->regqp.broken = true;
		set_bad(mr);
	} else if (wanted) {
		mr->state = WEFT_MR_OPEN;
	} else {
		begin_closing(mr);
	}
	spin_unlock_bh(&card->lock);
	if (wanted && good)
		weft_transport_send(mr->posted.node, &out);
	else if (wanted)
		send_without(mr->posted.node, &out);
	weft_posted_put(&mr->posted);
}

/* --- closing -------------------------------------------------------------------------- */

/* Hand in LANDED for a block that this node's card has read. */
static void hand_in(struct weft_mr *mr)
{
	rcu_read_lock();
	weft_recv_own(mr->posted.node, &mr->landed, &mr->posted);
	rcu_read_unlock();
}

static void taken_back(struct ib_cq *cq, struct ib_wc *wc)
{
	struct weft_mr *mr = container_of(wc->wr_cqe, struct weft_mr, inv);
	struct weft_card *card = mr->card;
	bool good = wc->status == IB_WC_SUCCESS, read;

	spin_lock_bh(&card->lock);
	read = mr->read;
	if (good) {
		set_closed(mr);
	} else {
		/*
		 * a message may have invalidated the key before: some devices take that for an
		 * error
		 */
		card->regqp.broken = true;
		set_bad(mr);
	}
	spin_unlock_bh(&card->lock);
	if (!good)
		return;
	if (read)
		hand_in(mr);
	tell_closed(mr);
}

/* With the lock. */
static struct weft_mr *find(struct weft_card *card, u32 key)
{
	struct weft_mr *mr;

	hash_for_each_possible(card->keys, mr, by_key, key >> KEY_BITS) {
		if (mr->ib->rkey == key)
			return mr;
	}
	return NULL;
}

/*
 * With the lock: measure how long the miss took; @direct: this node's card has read the block.
 */
static void note_time(struct weft_mr *mr, bool direct)
{
	weft_deed_took(mr->card, mr->home, direct, ktime_get_ns() - mr->made);
}

/* With the lock: LANDED has come; take its deed if it brings one. */
static void note_landed(struct weft_mr *mr, const struct sk_buff *skb)
{
	struct weft_deed deed;
	struct weft_msg landed;

	note_time(mr, mr->tried);
	if (skb && weft_deed_of(mr->card->node, skb, &landed, &deed) &&
	    landed.src == mr->home && landed.line == mr->line)
		weft_deed_take(mr->card, &landed, &deed);
}

struct weft_mr *weft_mr_open(struct weft_card *card, const struct weft_landing *landing)
{
	struct weft_mr *mr;

	lockdep_assert_held(&card->lock);
	mr = find(card, landing->key);
	return mr && mr->state == WEFT_MR_OPEN ? mr : NULL;
}

void weft_mr_read(struct weft_mr *mr, const struct weft_msg *landed)
{
	struct weft_card *card = mr->card;

	spin_lock_bh(&card->lock);
	/* otherwise it is being closed, and the block comes another way */
	if (mr->state == WEFT_MR_OPEN) {
		note_time(mr, true);
		mr->landed = *landed;
		mr->read = true;
		begin_closing(mr);
	}
	spin_unlock_bh(&card->lock);
}

void weft_mr_landed(struct weft_card *card, u32 key, struct sk_buff *skb, __be32 from)
{
	struct weft_mr *mr;

	spin_lock_bh(&card->lock);
	mr = find(card, key);
	/* otherwise it is being closed, and the message is void */
	if (mr && mr->state == WEFT_MR_OPEN)
		set_closed(mr);
	else
		mr = NULL;
	if (mr)
		note_landed(mr, skb);
	spin_unlock_bh(&card->lock);
	if (!mr)
		return;
	rcu_read_lock();
	if (skb)
		weft_recv(card->node, skb, from, &mr->posted);
	rcu_read_unlock();
	tell_closed(mr);
}

/* --- making --------------------------------------------------------------------------- */

/* With the lock. */
static void put_away(struct weft_mr *mr)
{
	struct weft_card *card = mr->card;

	mr->state = WEFT_MR_IDLE;
	if (mr->ib) {
		list_add(&mr->list, &card->mrs_free);
		return;
	}
	list_add(&mr->list, &card->mrs_bare);
	if (card->up)
		weft_card_wake(card);
}

static void posted_free(struct weft_posted *posted)
{
	struct weft_mr *mr = mr_of(posted);
	struct weft_card *card = mr->card;

	spin_lock_bh(&card->lock);
	put_away(mr);
	WRITE_ONCE(card->n_out, card->n_out - 1);
	if (!card->n_out)
		wake_up(&card->unused);
	spin_unlock_bh(&card->lock);
}

static const struct weft_posted_ops posted_ops = {
	.open = posted_open,
	.close = posted_close,
	.free = posted_free,
};

/* With the lock: give the MR its next key, and an address that no landing has had. */
static void name(struct weft_mr *mr)
{
	struct weft_card *card = mr->card;

	do {
		ib_update_fast_reg_key(mr->ib, (u8)(mr->ib->rkey + 1));
	} while (!mr->ib->rkey);
	mr->posted.landing.key = mr->ib->rkey;
	mr->posted.landing.addr = card->addr_next;
	card->addr_next += WEFT_MR_PAGES * PAGE_SIZE;
}

struct weft_posted *weft_mr_make(struct weft_card *card, u32 home, u64 line,
				 struct weft_contents *contents)
{
	struct weft_conn *conn = &card->conns[home];
	struct weft_mr *mr = NULL;

	if (contents->size > WEFT_MR_PAGES * PAGE_SIZE)
		return NULL;
	spin_lock_bh(&card->lock);
	if (card->up && conn->state == WEFT_CONN_NONE && !conn->wanted) {
		conn->wanted = true;
		weft_card_wake(card);
	}
	/* without a connection no member can write there */
	if (card->up && card->n_up)
		mr = list_first_entry_or_null(&card->mrs_free, struct weft_mr, list);
	if (mr) {
		list_del(&mr->list);
		mr->state = WEFT_MR_MADE;
		mr->unwanted = false;
		mr->read = false;
		mr->tried = false;
		mr->home = (u8)home;
		mr->line = line;
		mr->made = ktime_get_ns();
		weft_posted_init(&mr->posted, card->node, &posted_ops, contents);
		mr->posted.direct = weft_deed_wanted(card, home, line);
		name(mr);
		card->n_out++;
	}
	spin_unlock_bh(&card->lock);
	return mr ? &mr->posted : NULL;
}

/* --- registrations -------------------------------------------------------------------- */

void weft_mr_init(struct weft_card *card)
{
	struct weft_mr *mr;
	u32 i;

	INIT_LIST_HEAD(&card->mrs_free);
	INIT_LIST_HEAD(&card->mrs_bare);
	hash_init(card->keys);
	card->addr_next = (u64)get_random_u32() << 32;
	for (i = 0; i < WEFT_MRS; i++) {
		mr = &card->mrs[i];
		mr->card = card;
		mr->reg.done = registered;
		mr->inv.done = taken_back;
		list_add(&mr->list, &card->mrs_bare);
	}
}

void weft_mr_equip(struct weft_card *card)
{
	struct weft_mr *mr;
	struct ib_mr *ib;

	for (;;) {
		if (list_empty_careful(&card->mrs_bare))
			return;
		ib = ib_alloc_mr(card->pd, IB_MR_TYPE_MEM_REG, WEFT_MR_PAGES);
		if (IS_ERR(ib))
			return;
		spin_lock_bh(&card->lock);
		mr = list_first_entry_or_null(&card->mrs_bare, struct weft_mr, list);
		if (mr) {
			mr->ib = ib;
			hash_add(card->keys, &mr->by_key, ib->rkey >> KEY_BITS);
			list_move(&mr->list, &card->mrs_free);
		}
		spin_unlock_bh(&card->lock);
		if (!mr) {
			ib_dereg_mr(ib);
			return;
		}
	}
}

/*
 * Deregister an MR and close its posted buffer, whatever its state: the queue pair that was to
 * open or close it is gone, and a block whose home is silent would wait for the buffer without
 * end.
 */
static void deregister(struct weft_mr *mr)
{
	struct weft_card *card = mr->card;
	struct ib_mr *ib;
	bool closes;

	spin_lock_bh(&card->lock);
	ib = mr->ib;
	if (ib)
		hash_del(&mr->by_key);
	mr->ib = NULL;
	closes = mr->state != WEFT_MR_IDLE && mr->state != WEFT_MR_CLOSED;
	/* nobody else may close it by an MR that is not there */
	if (closes)
		mr->state = WEFT_MR_BAD;
	else if (mr->state == WEFT_MR_IDLE)
		list_move(&mr->list, &card->mrs_bare);
	spin_unlock_bh(&card->lock);
	if (closes)
		weft_fault_hold();
	/* a driver that fails here has lost the device, which writes nothing any more */
	if (ib)
		WARN_ON_ONCE(ib_dereg_mr(ib));
	if (!closes)
		return;
	spin_lock_bh(&card->lock);
	set_closed(mr);
	spin_unlock_bh(&card->lock);
	tell_closed(mr);
}

void weft_mr_mend(struct weft_card *card)
{
	u32 i;

	for (i = 0; i < WEFT_MRS; i++) {
		/* only the mender changes the state BAD */
		if (READ_ONCE(card->mrs[i].state) == WEFT_MR_BAD)
			deregister(&card->mrs[i]);
	}
}

bool weft_mr_stuck(struct weft_card *card)
{
	const struct weft_mr *mr;
	u32 i;

	lockdep_assert_held(&card->lock);
	for (i = 0; i < WEFT_MRS; i++) {
		mr = &card->mrs[i];
		if ((mr->state == WEFT_MR_OPENING ||
		     mr->state == WEFT_MR_CLOSING) &&
		    time_after(jiffies, mr->since + msecs_to_jiffies(WEFT_STUCK_MS)))
			return true;
	}
	return false;
}

void weft_mr_unmake_all(struct weft_card *card)
{
	u32 i;

	for (i = 0; i < WEFT_MRS; i++)
		deregister(&card->mrs[i]);
}
