// SPDX-License-Identifier: GPL-2.0-only
/* Connections to other members, see link.h. */
#include <linux/in.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "net/node.h"
#include "net/transport.h"
#include "rdma/link.h"
#include "rdma/room.h"

/* --- what is under way by a connection ----------------------------------------------------- */

void weft_job_begin(struct weft_job *job)
{
	lockdep_assert_held(&job->link->card->lock);
	job->since = jiffies;
	list_add_tail(&job->list, &job->link->jobs);
	job->link->busy += job->work;
	job->link->card->busy += job->work;
}

void weft_job_end(struct weft_job *job)
{
	lockdep_assert_held(&job->link->card->lock);
	list_del(&job->list);
	job->link->busy -= job->work;
	job->link->card->busy -= job->work;
}

/* Does the card take longer than WEFT_STUCK_MS for one of them?  With the lock. */
static bool weft_jobs_stuck(struct weft_link *link)
{
	const struct weft_job *job;

	lockdep_assert_held(&link->card->lock);
	/* the oldest is the first */
	job = list_first_entry_or_null(&link->jobs, struct weft_job, list);
	return job && time_after(jiffies, job->since + msecs_to_jiffies(WEFT_STUCK_MS));
}

/* What the card was not given in full, as its queue was broken.  The queue is gone.  The mender. */
static void weft_jobs_drop(struct weft_link *link)
{
	struct weft_card *card = link->card;
	struct weft_job *job;

	for (;;) {
		spin_lock_bh(&card->lock);
		job = list_first_entry_or_null(&link->jobs, struct weft_job, list);
		if (job)
			weft_job_end(job);
		spin_unlock_bh(&card->lock);
		if (!job)
			return;
		job->drop(job);
	}
}

/* --- connections --------------------------------------------------------------------------- */

#define RESOLVE_MS	2000
#define CONNECT_MS	5000
#define AGAIN_MS	100	/* after a failure, at first */
#define AGAIN_MAX_MS	20000
#define ACK_TIMEOUT	14	/* 4096 ns << 14 = 67 ms until a card repeats */
#define RETRIES		7
#define RNR_RETRIES	6
#define READS		16	/* that a card does at a time */

#define NO_WAY		"the device finds no way to it"
#define NO_QUEUE	"the device makes no connection"
#define NO_MEMORY	"there is no memory for a connection"

/* Also compared with. */
static const char no_answer[] = "it does not answer: it may have no RDMA";

/**
 * struct caller - who wants a connection
 * @list: in card->callers
 * @id: of it
 * @said: who it is
 * @len: bytes of it
 */
struct caller {
	struct list_head list;
	struct rdma_cm_id *id;
	u8 said[WEFT_HELLO_LEN];
	u8 len;
};

static bool has_passed(unsigned long since, unsigned int ms)
{
	return time_after(jiffies, since + msecs_to_jiffies(ms));
}

/* With the lock. */
static void set_state(struct weft_link *link, enum weft_link_state state)
{
	lockdep_assert_held(&link->card->lock);
	link->card->n_up += (state == WEFT_LINK_UP) - (link->state == WEFT_LINK_UP);
	if (state == WEFT_LINK_UP)
		link->why = NULL;
	link->state = state;
	link->since = jiffies;
}

void weft_link_break(struct weft_link *link, const char *why)
{
	lockdep_assert_held(&link->card->lock);
	if (link->state == WEFT_LINK_NONE || link->state == WEFT_LINK_BROKEN)
		return;
	set_state(link, WEFT_LINK_BROKEN);
	link->why = why;
	weft_card_wake(link->card);
}

void weft_link_moved(struct weft_link *link)
{
	struct weft_card *card = link->card;

	spin_lock_bh(&card->lock);
	if (link->addr != weft_peer_addr(&card->node->peers, link->peer))
		weft_link_break(link, "the member is at another address now");
	link->failures = 0;
	spin_unlock_bh(&card->lock);
}

const char *weft_link_why(const struct weft_link *link)
{
	lockdep_assert_held(&link->card->lock);
	if (link->state == WEFT_LINK_UP)
		return NULL;
	if (link->why)
		return link->why;
	return link->state == WEFT_LINK_NONE ? "there was nothing for it yet" :
					       "the connection is being made";
}

/* --- what goes by it -------------------------------------------------------------------- */

bool weft_link_ready(struct weft_link *link, u32 work)
{
	struct weft_card *card = link->card;

	lockdep_assert_held(&card->lock);
	if (!card->up)
		return false;
	if (link->state == WEFT_LINK_UP)
		return link->addr == weft_peer_addr(&card->node->peers, link->peer) &&
		       link->busy + work <= WEFT_LINK_WORK &&
		       card->busy + work <= WEFT_CARD_WORK;
	if (link->state == WEFT_LINK_NONE && !link->wanted) {
		link->wanted = true;
		weft_card_wake(card);
	}
	return false;
}

bool weft_link_used(const struct weft_link *link, const struct weft_landing *landing)
{
	u32 n = min_t(u32, link->used, WEFT_LINK_RECENT), i;

	for (i = 0; i < n; i++) {
		if (link->recent[i].key == landing->key &&
		    link->recent[i].addr == landing->addr)
			return true;
	}
	return false;
}

void weft_link_use(struct weft_link *link, const struct weft_landing *landing)
{
	link->recent[link->used % WEFT_LINK_RECENT] = *landing;
	/* never small again: else what is remembered would be forgotten */
	if (++link->used == 2 * WEFT_LINK_RECENT)
		link->used = WEFT_LINK_RECENT;
}

/* --- events ------------------------------------------------------------------------------ */

static struct weft_link *link_of(struct weft_card *card, const struct rdma_cm_id *id)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(card->links); i++) {
		if (card->links[i].id == id)
			return &card->links[i];
	}
	return NULL;
}

/* Return: an error, and the connection manager refuses it. */
static int note_caller(struct weft_card *card, struct rdma_cm_id *id,
		       const struct rdma_conn_param *conn)
{
	struct caller *caller = kzalloc(sizeof(*caller), GFP_KERNEL);
	bool taken;

	if (!caller)
		return -ENOMEM;
	caller->id = id;
	if (conn->private_data) {
		caller->len = min_t(u8, conn->private_data_len, WEFT_HELLO_LEN);
		memcpy(caller->said, conn->private_data, caller->len);
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
static void note(struct weft_link *link, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	enum weft_link_state at;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		at = WEFT_LINK_ADDRESS;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		at = WEFT_LINK_ROUTE;
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		at = link->state;
		if (at == WEFT_LINK_CALLING && conn->private_data) {
			link->said_len = min_t(u8, conn->private_data_len, WEFT_HELLO_LEN);
			memcpy(link->said, conn->private_data, link->said_len);
		}
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return;
	case RDMA_CM_EVENT_REJECTED:
		weft_link_break(link, "it refuses to be connected to");
		return;
	case RDMA_CM_EVENT_DISCONNECTED:
		weft_link_break(link, "it has ended the connection");
		return;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		weft_link_break(link, NO_WAY);
		return;
	default:
		weft_link_break(link, no_answer);
		return;
	}
	if (link->state != at)
		return;
	link->heard = true;
	weft_card_wake(link->card);
}

int weft_link_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct weft_card *card = id->context;
	struct weft_link *link;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return note_caller(card, id, &event->param.conn);
	spin_lock_bh(&card->lock);
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		/* it goes when the mender has destroyed all that there is of it */
		card->gone = true;
		weft_card_wake(card);
	}
	link = link_of(card, id);
	if (link)
		note(link, event);
	spin_unlock_bh(&card->lock);
	return 0;
}

/* --- the end of one ----------------------------------------------------------------------- */

static void destroy_id(struct rdma_cm_id *id)
{
	if (id->qp) {
		(void)rdma_disconnect(id);
		/* what was under way is told before this returns */
		ib_drain_sq(id->qp);
		rdma_destroy_qp(id);
	}
	rdma_destroy_id(id);
}

static unsigned int pause_ms(const struct weft_link *link)
{
	return min_t(u32, AGAIN_MS << min_t(u32, link->failures, 10), AGAIN_MAX_MS);
}

/*
 * @why: it has failed, and is tried again, but not too soon; NULL: it has not.  A member that
 * does not answer is tried again even if nothing is sent: else the administrator would be told
 * of that for as long as the rack rests.
 */
static void end(struct weft_link *link, const char *why)
{
	struct weft_card *card = link->card;
	struct rdma_cm_id *id;

	spin_lock_bh(&card->lock);
	id = link->id;
	link->id = NULL;
	set_state(link, WEFT_LINK_NONE);
	link->heard = false;
	link->wanted = why == no_answer;
	link->said_len = 0;
	link->used = 0;
	weft_rooms_end(link);
	if (why) {
		link->why = why;
		link->next_try = jiffies + msecs_to_jiffies(pause_ms(link));
		link->failures++;
	}
	spin_unlock_bh(&card->lock);
	if (id)
		destroy_id(id);
	weft_jobs_drop(link);
}

/* --- steps ---------------------------------------------------------------------------------- */

static int make_queue(struct weft_card *card, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.send_cq = card->cq, .recv_cq = card->cq, .srq = card->srq,
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_REQ_WR,
		/* and one request to drain it */
		.cap = { .max_send_wr = WEFT_LINK_WORK + 1, .max_send_sge = card->sges },
	};

	if (id->device != card->device)
		return -EXDEV;
	return rdma_create_qp(id, card->pd, &attr);
}

static void set_parameters(struct weft_card *card, u8 peer, struct rdma_cm_id *id,
			   u8 *said, struct rdma_conn_param *param)
{
	weft_greet_say(card->node, peer, said);
	*param = (struct rdma_conn_param){
		.private_data = said, .private_data_len = WEFT_HELLO_LEN, .flow_control = 1,
		.retry_count = RETRIES, .rnr_retry_count = RNR_RETRIES,
		/* nobody reads at a node */
		.initiator_depth = weft_is_blade(peer) ?
			min(READS, card->device->attrs.max_qp_init_rd_atom) : 0,
	};
	/* if it cannot be set a lost card is noticed later */
	(void)rdma_set_ack_timeout(id, ACK_TIMEOUT);
}

static struct sockaddr_in address(__be32 addr, u16 port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = addr,
	};
}

static void begin(struct weft_link *link)
{
	struct weft_card *card = link->card;
	__be32 addr = weft_peer_addr(&card->node->peers, link->peer);
	struct sockaddr_in own = address(card->addr, 0);
	struct sockaddr_in other = address(addr, WEFT_WIRE_UDP_PORT);
	struct rdma_cm_id *id;

	if (!addr) {
		end(link, "its address is not known");
		return;
	}
	id = rdma_create_id(card->net, weft_link_event, card, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id)) {
		end(link, NO_MEMORY);
		return;
	}
	spin_lock_bh(&card->lock);
	link->id = id;
	link->addr = addr;
	set_state(link, WEFT_LINK_ADDRESS);
	spin_unlock_bh(&card->lock);
	if (rdma_resolve_addr(id, (struct sockaddr *)&own, (struct sockaddr *)&other,
			      RESOLVE_MS))
		end(link, NO_WAY);
}

static void call(struct weft_link *link)
{
	struct weft_card *card = link->card;
	struct rdma_conn_param param;
	u8 said[WEFT_HELLO_LEN];

	set_parameters(card, link->peer, link->id, said, &param);
	if (make_queue(card, link->id) || rdma_connect(link->id, &param))
		end(link, NO_QUEUE);
}

static void answered(struct weft_link *link)
{
	struct weft_card *card = link->card;
	struct weft_hello hello;
	const char *why;

	why = weft_greet_check(card->node, link->said, link->said_len, link->addr, link->peer,
			       &hello);
	if (why) {
		pr_info_ratelimited("weft_rdma: member %u is not spoken to: %s\n", link->peer,
				    why);
		end(link, why);
		return;
	}
	spin_lock_bh(&card->lock);
	if (link->state == WEFT_LINK_CALLING) {
		set_state(link, WEFT_LINK_UP);
		weft_rooms_begin(link, &hello);
	}
	spin_unlock_bh(&card->lock);
}

/* An event has come.  @state is that of then. */
static void step(struct weft_link *link, enum weft_link_state state)
{
	struct weft_card *card = link->card;

	switch (state) {
	case WEFT_LINK_ADDRESS:
	case WEFT_LINK_ROUTE:
		spin_lock_bh(&card->lock);
		if (link->state == state)
			set_state(link, state + 1);
		spin_unlock_bh(&card->lock);
		if (state == WEFT_LINK_ROUTE)
			call(link);
		else if (rdma_resolve_route(link->id, RESOLVE_MS))
			end(link, NO_WAY);
		break;
	case WEFT_LINK_CALLING:
		answered(link);
		break;
	case WEFT_LINK_ACCEPTED:
		spin_lock_bh(&card->lock);
		if (link->state == state)
			set_state(link, WEFT_LINK_UP);
		spin_unlock_bh(&card->lock);
		break;
	default:
		break;
	}
}

static void mend_one(struct weft_link *link)
{
	struct weft_card *card = link->card;
	enum weft_link_state state;
	bool heard, wanted, late, moved;

	spin_lock_bh(&card->lock);
	if (link->state == WEFT_LINK_UP && weft_jobs_stuck(link))
		weft_link_break(link, "it takes too long for what is sent to it, or read there");
	state = link->state;
	heard = link->heard;
	link->heard = false;
	wanted = link->wanted && time_after_eq(jiffies, link->next_try);
	late = state != WEFT_LINK_NONE && state != WEFT_LINK_UP &&
	       has_passed(link->since, CONNECT_MS);
	moved = state != WEFT_LINK_NONE &&
		link->addr != weft_peer_addr(&card->node->peers, link->peer);
	spin_unlock_bh(&card->lock);
	if (state == WEFT_LINK_BROKEN)
		end(link, link->why);
	else if (late || moved)
		end(link, no_answer);
	else if (state == WEFT_LINK_NONE && wanted)
		begin(link);
	else if (heard)
		step(link, state);
}

/* --- others connect --------------------------------------------------------------------------- */

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

/* Both have asked: one of the two goes on, the same for both. */
static bool ours_goes_on(struct weft_link *link)
{
	enum weft_link_state state = READ_ONCE(link->state);

	return link->card->node->id < link->peer && state >= WEFT_LINK_ADDRESS &&
	       state <= WEFT_LINK_CALLING;
}

/* Return: NULL: it is accepted; else why not. */
static const char *answer(struct weft_card *card, struct caller *caller)
{
	const struct sockaddr_in *sin =
		(const struct sockaddr_in *)&caller->id->route.addr.dst_addr;
	__be32 addr = sin->sin_family == AF_INET ? sin->sin_addr.s_addr : 0;
	struct weft_hello hello;
	struct weft_link *link;
	const char *why;

	why = weft_greet_check(card->node, caller->said, caller->len, addr, 0, &hello);
	if (why)
		return why;
	if (!weft_node_bit(hello.from))
		return "blades are connected to, they do not connect";
	link = &card->links[hello.from];
	if (ours_goes_on(link))
		return "this node connects to it";
	/* the one before may be dead without our knowing */
	end(link, NULL);
	spin_lock_bh(&card->lock);
	link->id = caller->id;
	link->addr = addr;
	set_state(link, WEFT_LINK_ACCEPTED);
	spin_unlock_bh(&card->lock);
	if (accept(card, caller->id, link->peer))
		end(link, NO_QUEUE);
	/* whatever becomes of it, the id is the link's */
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

void weft_link_mend(struct weft_card *card)
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
	for (i = 0; i < ARRAY_SIZE(card->links); i++)
		mend_one(&card->links[i]);
}

void weft_link_end_all(struct weft_card *card)
{
	struct caller *caller;
	u32 i;

	while ((caller = next_caller(card))) {
		refuse(caller);
		kfree(caller);
	}
	for (i = 0; i < ARRAY_SIZE(card->links); i++) {
		end(&card->links[i], NULL);
		card->links[i].failures = 0;
		card->links[i].why = NULL;
	}
}

unsigned long weft_link_next(const struct weft_card *card)
{
	unsigned long next = msecs_to_jiffies(1000);
	const struct weft_link *link;
	u32 i;

	lockdep_assert_held(&card->lock);
	for (i = 0; i < ARRAY_SIZE(card->links); i++) {
		link = &card->links[i];
		if (link->state == WEFT_LINK_NONE && link->wanted)
			next = min(next, time_after(link->next_try, jiffies) ?
				   link->next_try - jiffies : 0);
	}
	return next;
}

void weft_link_init(struct weft_card *card)
{
	struct weft_link *link;
	u32 i;

	INIT_LIST_HEAD(&card->callers);
	for (i = 0; i < ARRAY_SIZE(card->links); i++) {
		link = &card->links[i];
		link->card = card;
		link->peer = (u8)i;
		link->next_try = jiffies;
		INIT_LIST_HEAD(&link->jobs);
	}
}
