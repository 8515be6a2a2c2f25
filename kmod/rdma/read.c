// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks that this node's card reads at a blade, and the table of deeds.  mr.c asks whether to
 * read, main.c passes READ, completions come in softirq.  Does nothing that READ by the blade's
 * program could not do instead.
 */
#include <linux/hash.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "base/stats.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/transport.h"
#include "rdma/conn.h"
#include "rdma/mr.h"
#include "rdma/read.h"

/* --- where blades have blocks -------------------------------------------------------------- */

#define OTHER_WAY	32	/* one of so many misses takes the slower way, to measure it */
#define WEIGHT		8	/* weight of the former mean against 1 of the last sample */

enum { NEVER, FASTER, ALWAYS };

static unsigned int direct = FASTER;
module_param(direct, uint, 0644);
MODULE_PARM_DESC(direct, "read blocks of blades without their program: 0 never, 1 if it is faster (default), 2 always");

void weft_deeds_make(struct weft_card *card)
{
	card->deeds = kvcalloc(1u << WEFT_DEEDS_BITS, sizeof(*card->deeds), GFP_KERNEL);
}

void weft_deeds_drop(struct weft_card *card)
{
	kvfree(card->deeds);
	card->deeds = NULL;
}

static struct weft_deed_note *note_of(struct weft_card *card, u64 line)
{
	return &card->deeds[hash_64(line, WEFT_DEEDS_BITS)];
}

void weft_deed_take(struct weft_card *card, const struct weft_msg *landed,
		    const struct weft_deed *deed)
{
	struct weft_deed_note *note;

	lockdep_assert_held(&card->lock);
	if (!card->deeds)
		return;
	note = note_of(card, landed->line);
	note->line = landed->line;
	note->version = landed->version;
	note->deed = *deed;
	note->home = landed->src;
	note->life = card->conns[landed->src].life;
}

/* The deed of a block at @home; NULL: there is none. */
static const struct weft_deed_note *weft_deed_find(struct weft_card *card, u32 home, u64 line)
{
	const struct weft_conn *conn = &card->conns[home];
	const struct weft_deed_note *note;

	lockdep_assert_held(&card->lock);
	if (!card->deeds || conn->state != WEFT_CONN_UP)
		return NULL;
	note = note_of(card, line);
	return note->line == line && note->home == home && note->life == conn->life ? note : NULL;
}

void weft_deed_forget(struct weft_card *card, u64 line)
{
	lockdep_assert_held(&card->lock);
	if (card->deeds && note_of(card, line)->line == line)
		note_of(card, line)->line = 0;
}

bool weft_deed_wanted(struct weft_card *card, u32 home, u64 line)
{
	struct weft_pace *pace = &card->conns[home].pace;
	unsigned int mode = READ_ONCE(direct);
	bool faster;

	if (mode == NEVER || !weft_deed_find(card, home, line))
		return false;
	if (mode == ALWAYS)
		return true;
	/* a way that was never measured counts as 0, the faster one */
	faster = pace->direct < pace->asked;
	return faster != (++pace->misses % OTHER_WAY == 0);
}

void weft_deed_took(struct weft_card *card, u32 home, bool by_card, u64 ns)
{
	struct weft_pace *pace = &card->conns[home].pace;
	u64 *took = by_card ? &pace->direct : &pace->asked;

	lockdep_assert_held(&card->lock);
	*took = *took ? (*took * WEIGHT - *took + ns) / WEIGHT : ns;
}

/* --- reading ------------------------------------------------------------------------------- */

#define UNREAD	"a block could not be read at it"

/* A block that is being read. */
struct read {
	struct weft_wqe wqe;		/* one work request at a time */
	struct weft_mr *mr; /* the block's memory, with a reference to the posted buffer */
	struct ib_cqe block;		/* completion of the read of the block */
	struct ib_cqe mark;		/* completion of the read of the number */
	struct weft_deed_note note;	/* the deed that is used */
	struct weft_outgoing out;	/* the READ that is sent to the blade if this fails */
	u8 payload[WEFT_LANDING_LEN];	/* payload of @out */
	u64 dma;			/* the device's address of @number */
	/* the number as the card reads it; in a cache line of its own */
	__be64 number ____cacheline_aligned;
	u8 rest[] ____cacheline_aligned; /* ends the cache line of @number */
};

/* Post an RDMA read.  With the lock.  Return: false: nothing was posted. */
static bool post_read(struct read *read, const struct weft_landing *from, struct ib_sge *to,
		      struct ib_cqe *cqe)
{
	struct weft_conn *conn = read->wqe.conn;
	struct ib_rdma_wr wr = {
		.wr = { .wr_cqe = cqe, .opcode = IB_WR_RDMA_READ,
			.send_flags = IB_SEND_SIGNALED, .sg_list = to, .num_sge = 1 },
		.remote_addr = from->addr, .rkey = from->key,
	};

	lockdep_assert_held(&conn->card->lock);
	if (!ib_post_send(conn->id->qp, &wr.wr, NULL))
		return true;
	weft_conn_break(conn, UNREAD);
	return false;
}

static bool post_block(struct read *read)
{
	struct ib_sge to = {
		.addr = read->mr->posted.landing.addr,
		.length = read->mr->posted.contents->size, .lkey = read->mr->ib->lkey,
	};

	return post_read(read, &read->note.deed.block, &to, &read->block);
}

static bool post_number(struct read *read)
{
	struct ib_sge to = {
		.addr = read->dma, .length = sizeof(read->number),
		.lkey = read->wqe.conn->card->pd->local_dma_lkey,
	};

	return post_read(read, &read->note.deed.mark, &to, &read->mark);
}

/* --- the end of one --------------------------------------------------------------------- */

/* Free a read whose work request has ended. */
static void free_read(struct read *read)
{
	struct weft_card *card = read->wqe.conn->card;

	ib_dma_unmap_single(card->device, read->dma, sizeof(read->number), DMA_FROM_DEVICE);
	weft_posted_put(&read->mr->posted);
	kfree(read);
}

/* Send READ to the blade's program after all.  @landing: the landing is still open. */
static void ask_program(struct read *read, bool landing)
{
	if (!landing) {
		read->out.msg.payload = NULL;
		read->out.msg.len = 0;
	}
	weft_transport_send(read->wqe.conn->card->node, &read->out);
}

/* Close the buffer, and have the blade's program bring the block. */
static void fail_read(struct read *read)
{
	struct weft_posted *posted = &read->mr->posted;

	local_bh_disable();
	rcu_read_lock();
	posted->ops->close(posted);
	ask_program(read, false);
	rcu_read_unlock();
	local_bh_enable();
	free_read(read);
}

static void drop_read(struct weft_wqe *wqe)
{
	fail_read(container_of(wqe, struct read, wqe));
}

/* With the lock: a read has failed. */
static void cannot_read(struct read *read, enum ib_wc_status status)
{
	/* the blade has taken back all keys that it gave: none of its deeds is valid */
	if (status == IB_WC_REM_ACCESS_ERR)
		read->wqe.conn->life++;
	weft_conn_break(read->wqe.conn, UNREAD);
}

/*
 * Make LANDED as the home would send it: the node is in the copyset, so nothing newer has got
 * home.
 */
static void set_landed(const struct read *read, struct weft_msg *landed)
{
	const struct weft_msg *msg = &read->out.msg;

	*landed = (struct weft_msg){
		.type = WEFT_MSG_LANDED,
		.flags = (msg->flags & (WEFT_F_BUSY | WEFT_F_EXCL)) | WEFT_F_SWITCH,
		.txn = msg->txn, .line = msg->line, .src = read->note.home,
		.status = msg->status, .copyset = msg->copyset, .grant = msg->grant,
		.version = read->note.version, .size = read->mr->posted.contents->size,
		.rack = read->wqe.conn->card->node->rack,
	};
}

static void have_read(struct read *read)
{
	struct weft_counters *counters = &read->wqe.conn->card->node->counters;
	struct weft_msg landed;

	weft_stat_inc(counters, WEFT_STAT_BLOCKS_READ);
	set_landed(read, &landed);
	weft_mr_read(read->mr, &landed);
	free_read(read);
}

static void have_number(struct ib_cq *cq, struct ib_wc *wc)
{
	struct read *read = container_of(wc->wr_cqe, struct read, mark);
	struct weft_card *card = read->wqe.conn->card;
	bool read_it = wc->status == IB_WC_SUCCESS, right = false, open;

	if (read_it) {
		ib_dma_sync_single_for_cpu(card->device, read->dma, sizeof(read->number),
					   DMA_FROM_DEVICE);
		right = be64_to_cpu(read->number) == read->note.deed.number;
	}
	spin_lock_bh(&card->lock);
	weft_wqe_end(&read->wqe);
	if (!read_it)
		cannot_read(read, wc->status);
	else
		read->wqe.conn->failures = 0;
	if (!right)
		weft_deed_forget(card, read->note.line);
	open = read->mr->state == WEFT_MR_OPEN;
	spin_unlock_bh(&card->lock);
	if (right) {
		have_read(read);
	} else if (!read_it) {
		fail_read(read);
	} else {
		weft_stat_inc(&card->node->counters, WEFT_STAT_DEEDS_OUTDATED);
		rcu_read_lock();
		ask_program(read, open);
		rcu_read_unlock();
		free_read(read);
	}
}

/* The block has come: read the number.  Not before: see read.h. */
static void have_block(struct ib_cq *cq, struct ib_wc *wc)
{
	struct read *read = container_of(wc->wr_cqe, struct read, block);
	struct weft_card *card = read->wqe.conn->card;
	bool goes_on;

	spin_lock_bh(&card->lock);
	goes_on = wc->status == IB_WC_SUCCESS && read->wqe.conn->state == WEFT_CONN_UP &&
		  post_number(read);
	if (!goes_on) {
		cannot_read(read, wc->status);
		weft_wqe_end(&read->wqe);
	}
	spin_unlock_bh(&card->lock);
	if (!goes_on)
		fail_read(read);
}

/* --- sending ---------------------------------------------------------------------------- */

/* With the lock.  NULL: no memory. */
static struct read *make_read(struct weft_conn *conn, struct weft_mr *mr,
			      const struct weft_deed_note *note, const struct weft_outgoing *out)
{
	struct ib_device *device = conn->card->device;
	struct read *read = kzalloc(sizeof(*read), GFP_ATOMIC);

	if (!read)
		return NULL;
	read->dma = ib_dma_map_single(device, &read->number, sizeof(read->number),
				      DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(device, read->dma)) {
		kfree(read);
		return NULL;
	}
	read->wqe.conn = conn;
	read->wqe.work = 1;
	read->wqe.drop = drop_read;
	read->mr = mr;
	weft_posted_get(&mr->posted);
	read->block.done = have_block;
	read->mark.done = have_number;
	read->note = *note;
	read->out = *out;
	memcpy(read->payload, out->msg.payload, sizeof(read->payload));
	read->out.msg.payload = read->payload;
	return read;
}

/* Begin to read a block.  With the lock.  Return: false: READ goes to the blade. */
static bool begin_read(struct weft_card *card, const struct weft_outgoing *out,
		       const struct weft_landing *landing, struct read **made)
{
	struct weft_conn *conn = &card->conns[out->to];
	struct weft_mr *mr = weft_mr_open(card, landing);
	const struct weft_deed_note *note = weft_deed_find(card, out->to, out->msg.line);

	if (!mr || !mr->posted.direct || !note || !weft_conn_ready(conn, 1))
		return false;
	*made = make_read(conn, mr, note, out);
	if (!*made || !post_block(*made))
		return false;
	mr->tried = true;
	weft_wqe_begin(&(*made)->wqe);
	return true;
}

bool weft_read_send(struct weft_card *card, const struct weft_outgoing *out)
{
	struct weft_landing landing;
	struct read *made = NULL;
	bool begun;

	if (out->msg.type != WEFT_MSG_READ || out->contents || out->msg.flags & WEFT_F_RELAY ||
	    !weft_landing_of(out, &landing))
		return false;
	spin_lock_bh(&card->lock);
	begun = begin_read(card, out, &landing, &made);
	spin_unlock_bh(&card->lock);
	if (made && !begun)
		free_read(made);
	return begun;
}
