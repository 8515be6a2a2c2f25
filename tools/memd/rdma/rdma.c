// SPDX-License-Identifier: GPL-2.0-only
/* Connections to our card, see rdma.h. */
#include "rdma/rdma.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/blade.h"
#include "base/log.h"
#include "hello.h"
#include "net/members.h"
#include "net/udp.h"
#include "rdma/buffer.h"
#include "rdma/card.h"
#include "rdma/handle.h"
#include "rdma/memory.h"
#include "rdma/sendq.h"
#include "rdma/write.h"
#include "store/backing.h"

#define LISTEN_MS	5000	/* to the next attempt */
#define LOOK_MS		1000
#define EVENTS_MAX	64	/* of connections, before others have their turn */
#define ACK_TIMEOUT	14	/* 4096 ns << 14 = 67 ms until a card repeats */
#define RNR_RETRIES	6
#define RETRIES		7

#define DEVICES		"/sys/class/infiniband"
#define CM_DEVICE	"/dev/infiniband/rdma_cm"

/* --- memory ----------------------------------------------------------------- */

/* Nobody may write there, not even the card; and others do not read, unless @nodes. */
static void *add_memory(void *arg, void *at, size_t len, bool nodes, struct rdma_keys *keys)
{
	const struct rdma *r = arg;
	struct ibv_mr *mr = ibv_reg_mr(r->pd, at, len, nodes ? IBV_ACCESS_REMOTE_READ : 0);

	if (mr)
		*keys = (struct rdma_keys){ .own = mr->lkey, .nodes = nodes ? mr->rkey : 0 };
	return mr;
}

/* If it fails the card is gone, and so is what it had. */
static void del_memory(void *arg, void *registered)
{
	(void)arg;
	(void)ibv_dereg_mr(registered);
}

static const struct rdma_memory_ops memory_ops = { .add = add_memory, .del = del_memory };

/* --- connections ------------------------------------------------------------ */

/* The caller is alone. */
static void destroy(struct memd *m, struct rdma_conn *c)
{
	struct rdma *r = m->b->rdma;

	if (!c->id)
		return;
	if (c->sq.up)
		(void)rdma_disconnect(c->id); /* the node hears it at once */
	/* then the card reads nothing for it any more, */
	rdma_destroy_qp(c->id);
	(void)rdma_destroy_id(c->id);
	c->id = NULL;
	/* and writes nothing */
	rdma_buffers_drop(&c->buffers);
	pthread_mutex_lock(&r->lock);
	rdma_drop_writes(r, (u8)(c - r->conn));
	pthread_mutex_unlock(&r->lock);
	memset(&c->sq, 0, sizeof(c->sq));
}

static void destroy_broken(struct memd *m, struct rdma_conn *c)
{
	count(m, RDMA_BROKEN);
	log_note("connection for RDMA to node %u is broken", (u32)(c - m->b->rdma->conn));
	destroy(m, c);
}

/* Return: NULL if whoever says that may connect; else why not. */
static const char *check(struct memd *m, const void *said, size_t len, u32 addr, u8 *node)
{
	struct weft_hello hello;

	if (weft_hello_unpack(&hello, said, len, &m->b->key))
		return "it speaks another version, or has another key";
	if (hello.rack != m->b->opt.rack)
		return "it is of another rack";
	if (hello.to != m->b->opt.id)
		return "it means another blade";
	if (m->b->key.set && !weft_stamp_fresh(memd_time(m), hello.stamp))
		return "what it says is old";
	if (!weft_node_bit(hello.from) || !members_sender(m, hello.from, addr))
		return "that is not a node with this address";
	*node = hello.from;
	return NULL;
}

static int make_queue(struct rdma *r, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = r->cq, .recv_cq = r->cq, .srq = r->srq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = RDMA_DEPTH + RDMA_BUFFERS, .max_send_sge = r->sges },
	};

	return rdma_create_qp(id, r->pd, &attr);
}

static int accept_it(struct memd *m, struct rdma_cm_id *id, u8 node,
		     const struct rdma_buffers *buffers)
{
	struct weft_hello hello = {
		.from = m->b->opt.id, .to = node, .rack = m->b->opt.rack,
		.stamp = memd_time(m),
	};
	struct rdma_conn_param param = {
		.private_data_len = WEFT_HELLO_LEN, .flow_control = 1,
		.retry_count = RETRIES, .rnr_retry_count = RNR_RETRIES,
		/* reads at a time: as many as the node asks for and the card can */
		.responder_resources = m->b->opt.deeds ? RDMA_MAX_RESP_RES : 0,
	};
	u8 said[WEFT_HELLO_LEN], timeout = ACK_TIMEOUT;

	hello.n_rooms = rdma_buffers_say(buffers, &hello.rooms);
	weft_hello_pack(&hello, said, &m->b->key);
	param.private_data = said;
	/* if it cannot be set a lost card is noticed later */
	(void)rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			      sizeof(timeout));
	return rdma_accept(id, &param);
}

/* Of a connection, after it was acknowledged. */
struct event {
	enum rdma_cm_event_type what;	/* RDMA_CM_EVENT_* */
	struct rdma_cm_id *id;		/* of it */
	u8 said[256];			/* private data */
	size_t len;			/* bytes of @said */
};

static void on_request(struct memd *m, const struct event *e)
{
	struct rdma *r = m->b->rdma;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)rdma_get_peer_addr(e->id);
	u32 addr = sin->sin_family == AF_INET ? ntohl(sin->sin_addr.s_addr) : 0;
	struct rdma_buffers buffers = { 0 };
	const char *why;
	u8 node = 0;

	why = e->id->verbs == r->pd->context ? check(m, e->said, e->len, addr, &node) :
	      "it came to another card";
	if (!why) {
		/* the node's former connection may be dead without our knowing */
		destroy(m, &r->conn[node]);
		if (make_queue(r, e->id))
			why = strerror(errno);
		else
			rdma_buffers_make(r, &buffers);
	}
	if (why) {
		(void)rdma_reject(e->id, NULL, 0);
	} else if (accept_it(m, e->id, node, &buffers)) {
		why = strerror(errno);
		rdma_destroy_qp(e->id);
		rdma_buffers_drop(&buffers);
	}
	if (why) {
		count(m, RDMA_REFUSED);
		log_note("connection for RDMA from %s is refused: %s", log_addr(addr), why);
		(void)rdma_destroy_id(e->id);
		return;
	}
	if (!buffers.mr)
		log_note("node %u writes home by UDP: no memory can be registered for it (see ulimit -l)",
			 node);
	r->conn[node].id = e->id;
	r->conn[node].sq.addr = addr;
	r->conn[node].buffers = buffers;
	e->id->context = &r->conn[node];
}

static bool is_conn(const struct rdma *r, const struct event *e)
{
	const struct rdma_conn *c = e->id->context;

	return e->id != r->listener && c && c->id == e->id;
}

/* --- the card --------------------------------------------------------------- */

static int watch(struct rdma *r, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ||
	       epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &e) ? -1 : 0;
}

/*
 * The library keeps a device open, and the kernel waits for that with the end of some
 * (rxe): the descriptors are of something else from here on, which the library closes
 * whenever it likes.
 */
static void let_go_of_device(const struct ibv_context *verbs)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	(void)dup3(null, verbs->async_fd, O_CLOEXEC);
	(void)dup3(null, verbs->cmd_fd, O_CLOEXEC);
	close(null);
}

#define DROP(what, how)	do { if (what) (void)how(what); (what) = NULL; } while (0)

/* Everything of it that there is; @gone: it is not there any more.  The caller is alone. */
static void close_card(struct memd *m, bool gone)
{
	struct rdma *r = m->b->rdma;
	u32 i;

	for (i = WEFT_NODE_MIN; i <= WEFT_NODE_MAX; i++)
		destroy(m, &r->conn[i]);
	if (r->pd) {
		/* it may stay open, for the library */
		(void)epoll_ctl(r->epoll_fd, EPOLL_CTL_DEL, r->pd->context->async_fd, NULL);
		rdma_memory_drop(&r->memory);
		rdma_handles_close(r);
	}
	DROP(r->srq, ibv_destroy_srq);
	DROP(r->cq, ibv_destroy_cq);
	DROP(r->channel, ibv_destroy_comp_channel);
	DROP(r->own_mr, ibv_dereg_mr);
	DROP(r->pd, ibv_dealloc_pd);
	if (r->listener && r->listener->verbs && gone)
		let_go_of_device(r->listener->verbs);
	DROP(r->listener, rdma_destroy_id);
	DROP(r->events, rdma_destroy_event_channel);
	r->mend = false;
	r->more = false;
}

/* Return: NULL; else what cannot be had. */
static const char *prepare(struct rdma *r)
{
	struct ibv_context *verbs = r->listener->verbs;
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = RDMA_RECEIVES, .max_sge = 1 } };
	struct ibv_device_attr attr;
	int buffer = WEFT_NODE_MAX * (RDMA_DEPTH + RDMA_BUFFERS + 1) + RDMA_RECEIVES;
	u32 i;

	if (ibv_query_device(verbs, &attr))
		return "the RDMA device does not say what it can";
	if (!(attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS))
		return "the RDMA device cannot take back keys from afar";
	if (attr.max_cqe < buffer)
		return "the RDMA device has too short queues";
	r->sges = attr.max_sge < (int)RDMA_SGES ? (u32)attr.max_sge : RDMA_SGES;
	r->pd = ibv_alloc_pd(verbs);
	if (!r->pd)
		return "no protection domain";
	r->own_mr = ibv_reg_mr(r->pd, r->own, sizeof(*r->own), IBV_ACCESS_LOCAL_WRITE);
	if (!r->own_mr)
		return "no memory can be registered (see ulimit -l)";
	rdma_handles_open(r);
	r->channel = ibv_create_comp_channel(verbs);
	if (!r->channel)
		return "no completion channel";
	r->cq = ibv_create_cq(verbs, buffer, NULL, r->channel, 0);
	if (!r->cq)
		return "no completion queue";
	r->srq = ibv_create_srq(r->pd, &srq);
	if (!r->srq)
		return "no receive queue";
	for (i = 0; i < RDMA_RECEIVES; i++)
		if (rdma_receive_into(r, i))
			return "the receive queue takes nothing";
	if (ibv_req_notify_cq(r->cq, 0) || watch(r, r->channel->fd) ||
	    watch(r, verbs->async_fd))
		return "its events cannot be waited for";
	return NULL;
}

/* Before the libraries are asked, which say such things on stderr. */
static const char *no_device(void)
{
	DIR *dir = opendir(DEVICES);
	const struct dirent *e;
	bool any = false;

	while (dir && (e = readdir(dir)))
		any |= e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	if (!any)
		return "this machine has no RDMA device";
	if (access(CM_DEVICE, R_OK | W_OK))
		return errno == ENOENT ? "there is no " CM_DEVICE " (modprobe rdma_ucm)" :
					 CM_DEVICE " may not be used";
	return NULL;
}

static const char *try_to_listen(struct memd *m)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET, .sin_port = htons(m->udp->port),
		.sin_addr.s_addr = htonl(m->udp->addr),
	};
	struct rdma *r = m->b->rdma;
	const char *why = no_device();

	if (why)
		return why;
	r->events = rdma_create_event_channel();
	if (!r->events)
		return "there is no channel for connections";
	if (watch(r, r->events->fd) ||
	    rdma_create_id(r->events, &r->listener, NULL, RDMA_PS_TCP))
		return "there is no channel for connections";
	if (rdma_bind_addr(r->listener, (struct sockaddr *)&sin)) {
		if (errno == ENODEV)
			return "no RDMA device has the blade's address";
		return errno == EADDRINUSE ? "its port is in use" : strerror(errno);
	}
	if (!r->listener->verbs)
		return "no RDMA device has the blade's address";
	why = prepare(r);
	if (!why && rdma_listen(r->listener, WEFT_NODE_MAX))
		why = strerror(errno);
	return why;
}

/* The caller is alone. */
static void listen_if_possible(struct memd *m)
{
	struct rdma *r = m->b->rdma;
	const char *why = try_to_listen(m);

	if (!why) {
		r->why[0] = 0;
		log_say("RDMA: nodes can connect to %s at %s",
			ibv_get_device_name(r->pd->context->device), log_addr(m->udp->addr));
		return;
	}
	close_card(m, false);
	if (strcmp(r->why, why)) {
		snprintf(r->why, sizeof(r->why), "%s", why);
		log_note("no RDMA: %s", r->why);
	}
}

static void card_is_gone(struct memd *m)
{
	log_say("RDMA: the device is gone, data goes by UDP");
	close_card(m, true);
}

/* --- what is to be looked at ------------------------------------------------ */

static bool is_stuck(const struct rdma *r, u8 node, u64 now)
{
	u32 i;

	for (i = 0; i < RDMA_WRITES; i++)
		if (r->writes.of[i].node == node &&
		    now - r->writes.of[i].since > RDMA_STUCK_MS)
			return true;
	return false;
}

static void on_look(struct memd *m, struct timer *t)
{
	struct rdma *r = m->b->rdma;
	u8 i;

	if (!r->events)
		listen_if_possible(m);
	for (i = WEFT_NODE_MIN; i <= WEFT_NODE_MAX; i++)
		if (r->conn[i].id && is_stuck(r, i, m->timers.now))
			destroy_broken(m, &r->conn[i]);
	timer_set(&m->timers, t, r->events ? LOOK_MS : LISTEN_MS);
}

/* Return: false: there is none. */
static bool next_event(struct rdma *r, struct event *e)
{
	struct rdma_cm_event *got;

	if (!r->events || rdma_get_cm_event(r->events, &got))
		return false;
	e->what = got->event;
	e->id = got->id;
	e->len = 0;
	if (e->what == RDMA_CM_EVENT_CONNECT_REQUEST && got->param.conn.private_data) {
		e->len = got->param.conn.private_data_len;
		memcpy(e->said, got->param.conn.private_data, e->len);
	}
	/* before anything is destroyed, which waits for that */
	(void)rdma_ack_cm_event(got);
	return true;
}

static void on_event(struct memd *m, const struct event *e)
{
	struct rdma *r = m->b->rdma;
	struct rdma_conn *c = e->id->context;

	if (e->what == RDMA_CM_EVENT_CONNECT_REQUEST) {
		on_request(m, e);
	} else if (e->what == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		card_is_gone(m);
	} else if (is_conn(r, e)) {
		if (e->what == RDMA_CM_EVENT_ESTABLISHED) {
			c->sq.up = true;
			count(m, RDMA_CONNECTED);
			log_note("node %u has connected for RDMA", (u32)(c - r->conn));
		} else if (e->what == RDMA_CM_EVENT_DISCONNECTED && !c->sq.broken) {
			destroy(m, c);
		} else if (e->what != RDMA_CM_EVENT_TIMEWAIT_EXIT) {
			destroy_broken(m, c);
		}
	}
}

/* Of the card itself.  What is about a queue shows in what the queue says. */
static void card_events(struct memd *m)
{
	struct rdma *r = m->b->rdma;
	struct ibv_async_event e;
	bool gone = false;
	u32 i;

	for (i = 0; i < EVENTS_MAX && r->pd && !ibv_get_async_event(r->pd->context, &e); i++) {
		gone |= e.event_type == IBV_EVENT_DEVICE_FATAL ||
			e.event_type == IBV_EVENT_CQ_ERR || e.event_type == IBV_EVENT_SRQ_ERR;
		ibv_ack_async_event(&e);
	}
	if (!gone)
		return;
	turn_alone(m);
	card_is_gone(m);
}

void rdma_work(struct memd *m)
{
	struct rdma *r = m->b->rdma;
	struct event e;
	u32 i;

	/* take the messages that a connection sent before it ended */
	rdma_completions(m);
	for (i = 0; i < EVENTS_MAX && next_event(r, &e); i++) {
		turn_alone(m);
		on_event(m, &e);
	}
	card_events(m);
	turn_together(m);
}

void rdma_life_over(struct memd *m, u32 nodes)
{
	struct rdma *r = m->b->rdma;
	u32 i;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	for (i = WEFT_NODE_MIN; i <= WEFT_NODE_MAX; i++)
		if (nodes & weft_node_bit(i) && r->conn[i].id) {
			r->conn[i].sq.over = true;
			__atomic_store_n(&r->mend, true, __ATOMIC_RELEASE);
		}
	pthread_mutex_unlock(&r->lock);
}

bool rdma_handles_over(struct memd *m)
{
	const struct rdma *r = m->b->rdma;

	if (!r || !r->memory.nodes || rdma_handles_allowed(m))
		return true;
	/* the first thread ends the remote handles, and may be asleep */
	if (m->nth)
		turn_wake(m->b->thread[0]);
	return false;
}

static bool handles_change(const struct memd *m)
{
	return m->b->rdma->memory.nodes != rdma_handles_allowed(m);
}

/* The caller is alone. */
static void change_handles(struct memd *m)
{
	struct rdma *r = m->b->rdma;
	u32 i;

	if (!handles_change(m))
		return;
	if (rdma_handles_allowed(m)) {
		r->memory.nodes = true;
		return;
	}
	log_note("a region is for some nodes only: none reads blocks by itself any more");
	/* reads in flight end with their connections; nodes connect anew */
	for (i = WEFT_NODE_MIN; i <= WEFT_NODE_MAX; i++)
		destroy(m, &r->conn[i]);
	rdma_handles_end(r);
	rdma_memory_drop(&r->memory);
	r->memory.nodes = false;
}

bool rdma_mend(struct memd *m)
{
	struct rdma *r = m->b->rdma;
	u32 i;

	if (!r)
		return false;
	if (r->more)
		rdma_completions(m);
	if (!__atomic_load_n(&r->mend, __ATOMIC_ACQUIRE) && !handles_change(m))
		return r->more;
	turn_alone(m);
	r->mend = false;
	for (i = WEFT_NODE_MIN; i <= WEFT_NODE_MAX; i++)
		if (r->conn[i].sq.over)
			destroy(m, &r->conn[i]);
		else if (r->conn[i].sq.broken)
			destroy_broken(m, &r->conn[i]);
	change_handles(m);
	turn_together(m);
	return r->more;
}

/* --- start and stop --------------------------------------------------------- */

int rdma_fd(const struct memd *m)
{
	return m->b->rdma ? m->b->rdma->epoll_fd : -1;
}

static void free_rdma(struct rdma *r)
{
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	free(r->own);
	free(r);
}

static struct rdma *new_rdma(void)
{
	struct rdma *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r->own = aligned_alloc(_Alignof(struct rdma_own), sizeof(*r->own));
	if (r->epoll_fd >= 0 && r->own)
		return r;
	free_rdma(r);
	return NULL;
}

void rdma_start(struct memd *m, const struct rdma_ops *ops)
{
	struct rdma *r;

	if (!m->b->opt.rdma)
		return;
	if (m->b->backing->fd >= 0) {
		log_note("no RDMA: blocks are in a file");
		return;
	}
	r = new_rdma();
	if (!r || !rdma_memory_init(&r->memory, m->b->frames, &memory_ops, r)) {
		log_say("no RDMA: not enough memory");
		if (r)
			free_rdma(r);
		return;
	}
	memset(r->own, 0, sizeof(*r->own));
	pthread_mutex_init(&r->lock, NULL);
	rdma_writes_init(&r->writes);
	rdma_handles_init(&r->handles, m->b->opt.deeds);
	r->ops = ops;
	r->look.fn = on_look;
	m->b->rdma = r;
	listen_if_possible(m);
	timer_set(&m->timers, &r->look, r->events ? LOOK_MS : LISTEN_MS);
}

void rdma_stop(struct memd *m)
{
	struct rdma *r = m->b->rdma;

	if (!r)
		return;
	timer_stop(&r->look);
	close_card(m, false);
	rdma_memory_exit(&r->memory);
	m->b->rdma = NULL;
	free_rdma(r);
}

void rdma_state(const struct memd *m, struct rdma_state *s)
{
	const struct rdma *r = m->b->rdma;
	u32 i;

	memset(s, 0, sizeof(*s));
	if (!r)
		return;
	s->listening = r->listener;
	s->bytes = r->memory.bytes + (r->handles.mr ? r->handles.mr->length : 0);
	s->in_flight = RDMA_WRITES - r->writes.n_free;
	for (i = WEFT_NODE_MIN; i <= WEFT_NODE_MAX; i++) {
		s->connections += r->conn[i].sq.up;
		if (r->conn[i].buffers.mr)
			s->bytes += RDMA_BUFFERS * WEFT_ROOM_SIZE;
	}
}
