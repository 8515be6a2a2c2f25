// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks that this node's card writes: into landings of nodes that miss them, and into
 * write-back buffers of blades.  Called by main.c for each message with a block; completions
 * come in softirq.  Holds the block's pages until the card has done with them; sends nothing by
 * UDP.
 */
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "base/stats.h"
#include "net/node.h"
#include "net/outbox.h"
#include "rdma/conn.h"
#include "rdma/read.h"
#include "rdma/wbuf.h"
#include "rdma/write.h"

#define BROKEN	"a block could not be written to it"

/* Work requests for a block. */
struct requests {
	struct ib_sge sge[WEFT_MR_PAGES];	/* entries for the pages */
	struct ib_rdma_wr write[WEFT_MR_PAGES];	/* RDMA writes, as few as the card allows */
	struct ib_sge message;			/* entry for the message LANDED */
	struct ib_send_wr landed;		/* sends the message */
};

/* A block that is being written. */
struct write {
	struct weft_wqe wqe;		/* the work requests */
	struct ib_cqe done;		/* completion of LANDED, and so of all of it */
	struct ib_cqe part;		/* failure of a part */
	struct ib_cqe all;		/* completion of all parts, for a write-back buffer */
	int room; /* number of the write-back buffer; -1: another node's landing */
	u32 generation;			/* of @contents when the message was put down */
	struct weft_contents *contents;	/* the block, with a reference */
	struct sk_buff *landed;		/* the message LANDED */
	u64 landed_dma;			/* the device's address of it, while @n_sg */
	u32 n_sg;			/* mapped pages; 0: none, and no @landed_dma */
	struct scatterlist sg[WEFT_MR_PAGES]; /* the pages */
	struct requests requests;	/* not on the stack, as they are too large */
};

/* Free a write whose work requests have ended. */
static void free_write(struct write *w)
{
	struct ib_device *device = w->wqe.conn->card->device;

	if (w->n_sg) {
		ib_dma_unmap_sg(device, w->sg, w->n_sg, DMA_TO_DEVICE);
		ib_dma_unmap_single(device, w->landed_dma, w->landed->len, DMA_TO_DEVICE);
	}
	kfree_skb(w->landed);
	w->contents->put(w->contents);
	kfree(w);
}

static void drop_write(struct weft_wqe *wqe)
{
	free_write(container_of(wqe, struct write, wqe));
}

static void part_is_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct write *w = container_of(wc->wr_cqe, struct write, part);
	struct weft_card *card = w->wqe.conn->card;

	if (wc->status == IB_WC_SUCCESS)
		return;
	spin_lock_bh(&card->lock);
	weft_conn_break(w->wqe.conn, BROKEN);
	spin_unlock_bh(&card->lock);
}

static void is_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct write *w = container_of(wc->wr_cqe, struct write, done);
	struct weft_card *card = w->wqe.conn->card;

	spin_lock_bh(&card->lock);
	weft_wqe_end(&w->wqe);
	if (wc->status == IB_WC_SUCCESS)
		w->wqe.conn->failures = 0;
	else
		weft_conn_break(w->wqe.conn, BROKEN);
	spin_unlock_bh(&card->lock);
	if (wc->status == IB_WC_SUCCESS)
		weft_stat_inc(&card->node->counters, WEFT_STAT_BLOCKS_LANDED_OUT);
	free_write(w);
}

/*
 * All of the block is in the write-back buffer: send LANDED.  With the lock.  Return: false: the
 * block has changed meanwhile, LANDED is not sent.
 */
static bool tell_home(struct write *w)
{
	struct weft_conn *conn = w->wqe.conn;

	if (!weft_contents_are(w->contents, w->generation)) {
		weft_wbuf_free(conn, w->room);
		weft_wqe_end(&w->wqe);
		return false;
	}
	weft_wbuf_give(conn, w->room);
	if (ib_post_send(conn->id->qp, &w->requests.landed, NULL))
		weft_conn_break(conn, BROKEN);
	return true;
}

static void all_is_there(struct ib_cq *cq, struct ib_wc *wc)
{
	struct write *w = container_of(wc->wr_cqe, struct write, all);
	struct weft_card *card = w->wqe.conn->card;
	bool told = true;

	spin_lock_bh(&card->lock);
	if (wc->status != IB_WC_SUCCESS)
		weft_conn_break(w->wqe.conn, BROKEN);
	else if (w->wqe.conn->state == WEFT_CONN_UP)
		told = tell_home(w);
	/* otherwise it ends with the connection */
	spin_unlock_bh(&card->lock);
	if (told)
		return;
	weft_stat_inc(&card->node->counters, WEFT_STAT_MSG_OUTDATED);
	free_write(w);
}

/* --- making one ---------------------------------------------------------------------- */

/* Encode LANDED; @room NULL: not for a home.  NULL: no memory. */
static struct sk_buff *encode(struct weft_node *node, const struct weft_outgoing *out,
			      const struct weft_landing *room)
{
	struct sk_buff_head queue;

	__skb_queue_head_init(&queue);
	weft_encode_landed(node, out, room, &queue);
	return __skb_dequeue(&queue);
}

static bool map_pages(struct write *w)
{
	struct ib_device *device = w->wqe.conn->card->device;
	u32 n = weft_card_list(w->sg, w->contents);

	if (!ib_dma_map_sg(device, w->sg, n, DMA_TO_DEVICE))
		return false;
	w->landed_dma = ib_dma_map_single(device, w->landed->data, w->landed->len,
					  DMA_TO_DEVICE);
	if (ib_dma_mapping_error(device, w->landed_dma)) {
		ib_dma_unmap_sg(device, w->sg, n, DMA_TO_DEVICE);
		return false;
	}
	w->n_sg = n;
	return true;
}

static struct write *make(struct weft_conn *conn, const struct weft_outgoing *out, int room,
			  const struct weft_landing *landing)
{
	struct write *w = kzalloc(sizeof(*w), GFP_ATOMIC);

	if (!w)
		return NULL;
	w->wqe.conn = conn;
	w->wqe.drop = drop_write;
	w->done.done = is_done;
	w->part.done = part_is_done;
	w->all.done = all_is_there;
	w->room = room;
	w->generation = out->generation;
	w->landed = encode(conn->card->node, out, room < 0 ? NULL : landing);
	w->contents = out->contents;
	w->contents->get(w->contents);
	if (w->landed && map_pages(w))
		return w;
	free_write(w);
	return NULL;
}

/* Make the RDMA writes of the pages, and count them in @w->wqe.work.  Return: the last one. */
static struct ib_rdma_wr *ask_for_pages(struct write *w, const struct weft_landing *landing)
{
	struct requests *r = &w->requests;
	struct weft_card *card = w->wqe.conn->card;
	u32 lkey = card->pd->local_dma_lkey, at = 0, left = w->contents->size, n = 0;
	struct scatterlist *sg = w->sg;
	struct ib_rdma_wr *write = NULL;

	/* a mapping may join pages into fewer pieces */
	for (; left; sg = sg_next(sg), n++) {
		if (n % card->sges == 0) {
			write = &r->write[w->wqe.work++];
			*write = (struct ib_rdma_wr){
				.wr = { .wr_cqe = &w->part, .opcode = IB_WR_RDMA_WRITE,
					.sg_list = &r->sge[n], .next = &write[1].wr },
				.remote_addr = landing->addr + at, .rkey = landing->key,
			};
		}
		r->sge[n] = (struct ib_sge){
			.addr = sg_dma_address(sg), .length = sg_dma_len(sg), .lkey = lkey,
		};
		write->wr.num_sge++;
		at += sg_dma_len(sg);
		left -= sg_dma_len(sg);
	}
	return write;
}

/*
 * Make all work requests; @w->wqe.work counts them.  Return: the first that is to be posted now.
 */
static struct ib_send_wr *ask_for(struct write *w, const struct weft_landing *landing)
{
	struct ib_rdma_wr *last = ask_for_pages(w, landing);
	struct requests *r = &w->requests;

	r->message = (struct ib_sge){
		.addr = w->landed_dma, .length = w->landed->len,
		.lkey = w->wqe.conn->card->pd->local_dma_lkey,
	};
	r->landed = (struct ib_send_wr){
		.wr_cqe = &w->done, .opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED, .sg_list = &r->message, .num_sge = 1,
	};
	if (w->room < 0) {
		r->landed.opcode = IB_WR_SEND_WITH_INV;
		r->landed.ex.invalidate_rkey = landing->key;
		last->wr.next = &r->landed;
	} else {
		last->wr.next = NULL;
		last->wr.wr_cqe = &w->all;
		last->wr.send_flags = IB_SEND_SIGNALED;
	}
	w->wqe.work++;
	return &r->write[0].wr;
}

/* --- sending -------------------------------------------------------------------------- */

/* Work requests that a block takes, at most.  With the lock; 0 without a device. */
static u32 work(const struct weft_card *card, const struct weft_contents *contents)
{
	return card->up ? DIV_ROUND_UP(contents->size >> PAGE_SHIFT, card->sges) + 1 : 0;
}

/* Post a block's writes.  With the lock.  Return: false: the block goes another way. */
static bool post(struct weft_conn *conn, const struct weft_outgoing *out, int room,
		 const struct weft_landing *landing)
{
	struct ib_send_wr *first;
	const struct ib_send_wr *bad;
	struct write *w;

	lockdep_assert_held(&conn->card->lock);
	w = make(conn, out, room, landing);
	if (!w)
		return false;
	first = ask_for(w, landing);
	weft_wqe_begin(&w->wqe);
	bad = first;
	if (ib_post_send(conn->id->qp, first, &bad)) {
		/* a part may have been posted: w is freed when the connection ends */
		weft_conn_break(conn, BROKEN);
		if (bad == first)
			return false;
	}
	return true;
}

/*
 * Write a block into another node's landing.  With the lock.  Return: false: it goes another
 * way.
 */
static bool post_landing(struct weft_conn *conn, const struct weft_outgoing *out)
{
	const struct weft_landing *to = &out->landing;

	if (weft_recent_has(&conn->landings, to->key, to->addr) || !post(conn, out, -1, to))
		return false;
	weft_recent_add(&conn->landings, to->key, to->addr);
	return true;
}

/*
 * Write a block that goes home into a write-back buffer.  With the lock.  Return: false: it goes
 * another way.
 */
static bool post_home(struct weft_conn *conn, const struct weft_outgoing *out)
{
	int room = weft_wbuf_take(conn, &out->msg);
	struct weft_landing landing;

	if (room < 0)
		return false;
	landing = weft_wbuf_landing(conn, room);
	if (post(conn, out, room, &landing))
		return true;
	weft_wbuf_free(conn, room);
	return false;
}

bool weft_write_send(struct weft_card *card, const struct weft_outgoing *out)
{
	struct weft_node *node = card->node;
	const struct weft_contents *contents = out->contents;
	bool home = out->msg.type == WEFT_MSG_WB, sent, outdated = false;
	struct weft_conn *conn;
	u32 len;

	if (!contents || !(home || out->landing.key) || !out->frozen ||
	    contents->size > WEFT_MR_PAGES * PAGE_SIZE)
		return false;
	/* a block is sent to members only */
	conn = &card->conns[out->to];
	spin_lock_bh(&card->lock);
	if (home)
		weft_deed_forget(card, out->msg.line);
	sent = weft_conn_ready(conn, work(card, contents));
	if (sent) {
		outdated = !weft_contents_are(contents, out->generation);
		sent = outdated || (home ? post_home(conn, out) : post_landing(conn, out));
	}
	spin_unlock_bh(&card->lock);
	if (outdated) {
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_OUTDATED);
	} else if (sent) {
		len = WEFT_WIRE_HDR_LEN + weft_wire_trailer(&node->key) +
		      (home ? WEFT_LANDING_LEN : 0);
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_SENT);
		weft_stat_add(&node->counters, WEFT_STAT_MSG_SENT_BYTES, len);
	}
	return sent;
}
