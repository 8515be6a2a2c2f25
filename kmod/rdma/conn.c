// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections to other members, and the work requests that are outstanding on them.  The mender
 * makes and destroys them; write.c and read.c post on them with the lock; events of the
 * connection manager are noted.  Nothing here waits for a peer.
 */
#include <linux/in.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "net/node.h"
#include "net/transport.h"
#include "rdma/conn.h"
#include "rdma/wbuf.h"

void weft_wqe_begin(struct weft_wqe *wqe)
{
	lockdep_assert_held(&wqe->conn->card->lock);
	wqe->since = jiffies;
	list_add_tail(&wqe->list, &wqe->conn->wqes);
	wqe->conn->busy += wqe->work;
	wqe->conn->card->busy += wqe->work;
}

void weft_wqe_end(struct weft_wqe *wqe)
{
	lockdep_assert_held(&wqe->conn->card->lock);
	list_del(&wqe->list);
	wqe->conn->busy -= wqe->work;
	wqe->conn->card->busy -= wqe->work;
}

/* Has the oldest work request been outstanding for longer than WEFT_STUCK_MS? */
static bool weft_wqes_stuck(struct weft_conn *conn)
{
	const struct weft_wqe *wqe;

	lockdep_assert_held(&conn->card->lock);
	wqe = list_first_entry_or_null(&conn->wqes, struct weft_wqe, list);
	return wqe && time_after(jiffies, wqe->since + msecs_to_jiffies(WEFT_STUCK_MS));
}

/*
 * Drop work requests that the card never completed, as a part of them was not posted.  The queue
 * pair is gone.  The mender.
 */
static void weft_wqes_drop(struct weft_conn *conn)
{
	struct weft_card *card = conn->card;
	struct weft_wqe *wqe;

	for (;;) {
		spin_lock_bh(&card->lock);
		wqe = list_first_entry_or_null(&conn->wqes, struct weft_wqe, list);
		if (wqe)
			weft_wqe_end(wqe);
		spin_unlock_bh(&card->lock);
		if (!wqe)
			return;
		wqe->drop(wqe);
	}
}

/* --- connections --------------------------------------------------------------------------- */

#define RESOLVE_MS	2000
#define CONNECT_MS	5000
#define AGAIN_MS	100	/* after the first failure, then doubled */
#define AGAIN_MAX_MS	20000
#define ACK_TIMEOUT	14	/* 4096 ns << 14 = 67 ms until a card retransmits */
#define RETRIES		7
#define RNR_RETRIES	6
#define READS		16	/* RDMA reads outstanding at a time */

#define NO_WAY		"the device finds no way to it"
#define NO_QUEUE	"the device makes no connection"
#define NO_MEMORY	"there is no memory for a connection"

/* compared with by its address, too */
static const char no_answer[] = "it does not answer: it may have no RDMA";

/* A connection request. */
struct caller {
	struct list_head list;		/* in card->callers */
	struct rdma_cm_id *id;		/* of the connection manager */
	u8 said[WEFT_HELLO_LEN];	/* private data */
	u8 len;				/* bytes of @said */
};

/* With the lock. */
static void set_state(struct weft_conn *conn, enum weft_conn_state state)
{
	lockdep_assert_held(&conn->card->lock);
	conn->card->n_up += (state == WEFT_CONN_UP) - (conn->state == WEFT_CONN_UP);
	if (state == WEFT_CONN_UP)
		conn->why = NULL;
	conn->state = state;
	conn->since = jiffies;
}

void weft_conn_break(struct weft_conn *conn, const char *why)
{
	lockdep_assert_held(&conn->card->lock);
	if (conn->state == WEFT_CONN_NONE || conn->state == WEFT_CONN_BROKEN)
		return;
	set_state(conn, WEFT_CONN_BROKEN);
	conn->why = why;
	weft_card_wake(conn->card);
}

void weft_conn_moved(struct weft_conn *conn)
{
	struct weft_card *card = conn->card;

	spin_lock_bh(&card->lock);
	if (conn->addr != weft_peer_addr(&card->node->peers, conn->peer))
		weft_conn_break(conn, "the member is at another address now");
	conn->failures = 0;
	spin_unlock_bh(&card->lock);
}

const char *weft_conn_why(const struct weft_conn *conn)
{
	lockdep_assert_held(&conn->card->lock);
	if (conn->state == WEFT_CONN_UP)
		return NULL;
	if (conn->why)
		return conn->why;
	return conn->state == WEFT_CONN_NONE ? "there was nothing for it yet" :
					       "the connection is being made";
}

bool weft_conn_ready(struct weft_conn *conn, u32 work)
{
	struct weft_card *card = conn->card;

	lockdep_assert_held(&card->lock);
	if (!card->up)
		return false;
	if (conn->state == WEFT_CONN_UP)
		return conn->addr == weft_peer_addr(&card->node->peers, conn->peer) &&
		       conn->busy + work <= WEFT_CONN_WORK &&
		       card->busy + work <= WEFT_CARD_WORK;
	if (conn->state == WEFT_CONN_NONE && !conn->wanted) {
		conn->wanted = true;
		weft_card_wake(card);
	}
	return false;
}

/* --- events ------------------------------------------------------------------------------ */

static struct weft_conn *conn_of(struct weft_card *card, const struct rdma_cm_id *id)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(card->conns); i++) {
		if (card->conns[i].id == id)
			return &card->conns[i];
	}
	return NULL;
}

/*
 * Note a connection request for the mender.  Return: 0; an error, by which the connection
 * manager refuses it.
 */
static int note_caller(struct weft_card *card, struct rdma_cm_id *id,
		       const struct rdma_conn_param *param)
{
	struct caller *caller = kzalloc(sizeof(*caller), GFP_KERNEL);
	bool taken;

	if (!caller)
		return -ENOMEM;
	caller->id = id;
	if (param->private_data) {
		caller->len = min_t(u8, param->private_data_len, WEFT_HELLO_LEN);
		memcpy(caller->said, param->private_data, caller->len);
	}
	spin_lock_bh(&card->lock);
	taken = card->up && card->n_callers < WEFT_CALLERS_MAX;
	if (taken) {
		list_add_tail(&caller->list, &card->callers);
		card->n_callers++;
		weft_card_wake(card);
	}
	spin_unlock_bh(&card->lock);
	if (!taken)
		kfree(caller);
	return taken ? 0 : -EBUSY;
}

/* With the lock. */
static void note(struct weft_conn *conn, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;
	enum weft_conn_state at;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		at = WEFT_CONN_ADDRESS;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		at = WEFT_CONN_ROUTE;
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		at = conn->state;
		if (at == WEFT_CONN_CALLING && param->private_data) {
			conn->said_len = min_t(u8, param->private_data_len, WEFT_HELLO_LEN);
			memcpy(conn->said, param->private_data, conn->said_len);
		}
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return;
	case RDMA_CM_EVENT_REJECTED:
		weft_conn_break(conn, "it refuses to be connected to");
		return;
	case RDMA_CM_EVENT_DISCONNECTED:
		weft_conn_break(conn, "it has ended the connection");
		return;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		weft_conn_break(conn, NO_WAY);
		return;
	default:
		weft_conn_break(conn, no_answer);
		return;
	}
	if (conn->state != at)
		return;
	conn->heard = true;
	weft_card_wake(conn->card);
}

int weft_conn_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct weft_card *card = id->context;
	struct weft_conn *conn;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return note_caller(card, id, &event->param.conn);
	spin_lock_bh(&card->lock);
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		/* the device goes when the mender has destroyed all that is made of it */
		card->gone = true;
		weft_card_wake(card);
	}
	conn = conn_of(card, id);
	if (conn)
		note(conn, event);
	spin_unlock_bh(&card->lock);
	return 0;
}

/* --- the end of one ----------------------------------------------------------------------- */

static void destroy_id(struct rdma_cm_id *id)
{
	if (id->qp) {
		(void)rdma_disconnect(id);
		/* returns when all outstanding work requests have completed */
		ib_drain_sq(id->qp);
		rdma_destroy_qp(id);
	}
	rdma_destroy_id(id);
}

static unsigned int pause_ms(const struct weft_conn *conn)
{
	return min_t(u32, AGAIN_MS << min_t(u32, conn->failures, 10), AGAIN_MAX_MS);
}

/*
 * End a connection.  @why: it has failed, and is tried again after a pause; NULL: it has not
 * failed.  A member that does not answer is tried again even if nothing is to be sent: else
 * netlink would report it for as long as the rack is idle.
 */
static void end(struct weft_conn *conn, const char *why)
{
	struct weft_card *card = conn->card;
	struct rdma_cm_id *id;

	spin_lock_bh(&card->lock);
	id = conn->id;
	conn->id = NULL;
	set_state(conn, WEFT_CONN_NONE);
	conn->heard = false;
	conn->wanted = why == no_answer;
	conn->said_len = 0;
	conn->landings.used = 0;
	weft_wbufs_end(conn);
	if (why) {
		conn->why = why;
		conn->next_try = jiffies + msecs_to_jiffies(pause_ms(conn));
		conn->failures++;
	}
	spin_unlock_bh(&card->lock);
	if (id)
		destroy_id(id);
	weft_wqes_drop(conn);
}

/* --- steps ---------------------------------------------------------------------------------- */

static int make_queue(struct weft_card *card, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.send_cq = card->cq, .recv_cq = card->cq, .srq = card->srq,
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_REQ_WR,
		/* and one work request to drain the queue */
		.cap = { .max_send_wr = WEFT_CONN_WORK + 1, .max_send_sge = card->sges },
	};

	if (id->device != card->device)
		return -EXDEV;
	return rdma_create_qp(id, card->pd, &attr);
}

static void set_parameters(struct weft_card *card, u8 peer, struct rdma_cm_id *id,
			   u8 *said, struct rdma_conn_param *param)
{
	weft_private_say(card->node, peer, said);
	*param = (struct rdma_conn_param){
		.private_data = said, .private_data_len = WEFT_HELLO_LEN, .flow_control = 1,
		.retry_count = RETRIES, .rnr_retry_count = RNR_RETRIES,
		/* no member reads at a node */
		.initiator_depth = weft_is_blade(peer) ?
			min(READS, card->device->attrs.max_qp_init_rd_atom) : 0,
	};
	/* without it a lost peer is noticed later */
	(void)rdma_set_ack_timeout(id, ACK_TIMEOUT);
}

static struct sockaddr_in address(__be32 addr, u16 port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = addr,
	};
}

static void begin(struct weft_conn *conn)
{
	struct weft_card *card = conn->card;
	__be32 addr = weft_peer_addr(&card->node->peers, conn->peer);
	struct sockaddr_in own = address(card->addr, 0);
	struct sockaddr_in other = address(addr, WEFT_WIRE_UDP_PORT);
	struct rdma_cm_id *id;

	if (!addr) {
		end(conn, "its address is not known");
		return;
	}
	id = rdma_create_id(card->net, weft_conn_event, card, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id)) {
		end(conn, NO_MEMORY);
		return;
	}
	spin_lock_bh(&card->lock);
	conn->id = id;
	conn->addr = addr;
	set_state(conn, WEFT_CONN_ADDRESS);
	spin_unlock_bh(&card->lock);
	if (rdma_resolve_addr(id, (struct sockaddr *)&own, (struct sockaddr *)&other,
			      RESOLVE_MS))
		end(conn, NO_WAY);
}

static void call(struct weft_conn *conn)
{
	struct weft_card *card = conn->card;
	struct rdma_conn_param param;
	u8 said[WEFT_HELLO_LEN];

	set_parameters(card, conn->peer, conn->id, said, &param);
	if (make_queue(card, conn->id) || rdma_connect(conn->id, &param))
		end(conn, NO_QUEUE);
}

static void answered(struct weft_conn *conn)
{
	struct weft_card *card = conn->card;
	struct weft_hello hello;
	const char *why;

	why = weft_private_check(card->node, conn->said, conn->said_len, conn->addr, conn->peer,
				 &hello);
	if (why) {
		pr_info_ratelimited("weft_rdma: member %u is not spoken to: %s\n", conn->peer,
				    why);
		end(conn, why);
		return;
	}
	spin_lock_bh(&card->lock);
	if (conn->state == WEFT_CONN_CALLING) {
		set_state(conn, WEFT_CONN_UP);
		weft_wbufs_begin(conn, &hello);
	}
	spin_unlock_bh(&card->lock);
}

/* An event has come for @state: take the next step. */
static void step(struct weft_conn *conn, enum weft_conn_state state)
{
	struct weft_card *card = conn->card;

	switch (state) {
	case WEFT_CONN_ADDRESS:
	case WEFT_CONN_ROUTE:
		spin_lock_bh(&card->lock);
		if (conn->state == state)
			set_state(conn, state + 1);
		spin_unlock_bh(&card->lock);
		if (state == WEFT_CONN_ROUTE)
			call(conn);
		else if (rdma_resolve_route(conn->id, RESOLVE_MS))
			end(conn, NO_WAY);
		break;
	case WEFT_CONN_CALLING:
		answered(conn);
		break;
	case WEFT_CONN_ACCEPTED:
		spin_lock_bh(&card->lock);
		if (conn->state == state)
			set_state(conn, WEFT_CONN_UP);
		spin_unlock_bh(&card->lock);
		break;
	default:
		break;
	}
}

static void mend_one(struct weft_conn *conn)
{
	struct weft_card *card = conn->card;
	enum weft_conn_state state;
	bool heard, wanted, late, moved;

	spin_lock_bh(&card->lock);
	if (conn->state == WEFT_CONN_UP && weft_wqes_stuck(conn))
		weft_conn_break(conn, "it takes too long for what is sent to it, or read there");
	state = conn->state;
	heard = conn->heard;
	conn->heard = false;
	wanted = conn->wanted && time_after_eq(jiffies, conn->next_try);
	late = state != WEFT_CONN_NONE && state != WEFT_CONN_UP &&
	       time_after(jiffies, conn->since + msecs_to_jiffies(CONNECT_MS));
	moved = state != WEFT_CONN_NONE &&
		conn->addr != weft_peer_addr(&card->node->peers, conn->peer);
	spin_unlock_bh(&card->lock);
	if (state == WEFT_CONN_BROKEN)
		end(conn, conn->why);
	else if (late || moved)
		end(conn, no_answer);
	else if (state == WEFT_CONN_NONE && wanted)
		begin(conn);
	else if (heard)
		step(conn, state);
}

/*
 * --- others connect ---------------------------------------------------------------------------
 */

static int accept(struct weft_card *card, struct rdma_cm_id *id, u8 peer)
{
	struct rdma_conn_param param;
	u8 said[WEFT_HELLO_LEN];
	int err;

	set_parameters(card, peer, id, said, &param);
	err = make_queue(card, id);
	if (err)
		return err;
	rdma_lock_handler(id);
	err = rdma_accept(id, &param);
	rdma_unlock_handler(id);
	return err;
}

/* Both ends have asked: the connection of the node with the lower number goes on. */
static bool ours_goes_on(struct weft_conn *conn)
{
	enum weft_conn_state state = READ_ONCE(conn->state);

	return conn->card->node->id < conn->peer && state >= WEFT_CONN_ADDRESS &&
	       state <= WEFT_CONN_CALLING;
}

/* Answer a connection request.  Return: NULL: it is accepted; else why not, a sentence. */
static const char *answer(struct weft_card *card, struct caller *caller)
{
	const struct sockaddr_in *sin =
		(const struct sockaddr_in *)&caller->id->route.addr.dst_addr;
	__be32 addr = sin->sin_family == AF_INET ? sin->sin_addr.s_addr : 0;
	struct weft_hello hello;
	struct weft_conn *conn;
	const char *why;

	why = weft_private_check(card->node, caller->said, caller->len, addr, 0, &hello);
	if (why)
		return why;
	if (!weft_node_bit(hello.from))
		return "blades are connected to, they do not connect";
	conn = &card->conns[hello.from];
	if (ours_goes_on(conn))
		return "this node connects to it";
	/* the former connection may be dead without this node's knowing */
	end(conn, NULL);
	spin_lock_bh(&card->lock);
	conn->id = caller->id;
	conn->addr = addr;
	set_state(conn, WEFT_CONN_ACCEPTED);
	spin_unlock_bh(&card->lock);
	if (accept(card, caller->id, conn->peer))
		end(conn, NO_QUEUE);
	/* conn->id owns it now, accepted or not */
	caller->id = NULL;
	return NULL;
}

static struct caller *next_caller(struct weft_card *card)
{
	struct caller *caller;

	spin_lock_bh(&card->lock);
	caller = list_first_entry_or_null(&card->callers, struct caller, list);
	if (caller) {
		list_del(&caller->list);
		card->n_callers--;
	}
	spin_unlock_bh(&card->lock);
	return caller;
}

static void refuse(struct caller *caller)
{
	(void)rdma_reject(caller->id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
	rdma_destroy_id(caller->id);
}

void weft_conn_mend(struct weft_card *card)
{
	struct caller *caller;
	const char *why;
	u32 i;

	while ((caller = next_caller(card))) {
		why = answer(card, caller);
		if (why) {
			pr_info_ratelimited("weft_rdma: a connection is refused: %s\n", why);
			refuse(caller);
		}
		kfree(caller);
	}
	for (i = 0; i < ARRAY_SIZE(card->conns); i++)
		mend_one(&card->conns[i]);
}

void weft_conn_end_all(struct weft_card *card)
{
	struct caller *caller;
	u32 i;

	while ((caller = next_caller(card))) {
		refuse(caller);
		kfree(caller);
	}
	for (i = 0; i < ARRAY_SIZE(card->conns); i++) {
		end(&card->conns[i], NULL);
		card->conns[i].failures = 0;
		card->conns[i].why = NULL;
	}
}

unsigned long weft_conn_next(const struct weft_card *card)
{
	unsigned long next = msecs_to_jiffies(1000);
	const struct weft_conn *conn;
	u32 i;

	lockdep_assert_held(&card->lock);
	for (i = 0; i < ARRAY_SIZE(card->conns); i++) {
		conn = &card->conns[i];
		if (conn->state == WEFT_CONN_NONE && conn->wanted)
			next = min(next, time_after(conn->next_try, jiffies) ?
				   conn->next_try - jiffies : 0);
	}
	return next;
}

void weft_conn_init(struct weft_card *card)
{
	struct weft_conn *conn;
	u32 i;

	INIT_LIST_HEAD(&card->callers);
	for (i = 0; i < ARRAY_SIZE(card->conns); i++) {
		conn = &card->conns[i];
		conn->card = card;
		conn->peer = (u8)i;
		conn->next_try = jiffies;
		INIT_LIST_HEAD(&conn->wqes);
	}
}
