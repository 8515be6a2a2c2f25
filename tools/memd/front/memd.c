// SPDX-License-Identifier: GPL-2.0-only
/* The memory blade as a whole, see memd.h. */
#include "front/memd.h"

#include <sys/random.h>
#include <time.h>

#include "base/log.h"
#include "catalog/fence.h"
#include "catalog/follow.h"
#include "catalog/journal.h"
#include "catalog/layer.h"
#include "catalog/move.h"
#include "catalog/takeover.h"
#include "front/calls.h"
#include "front/gate.h"
#include "lines/blocks.h"
#include "lines/grace.h"
#include "lines/layer.h"
#include "lines/lines.h"
#include "lines/p4.h"
#include "lines/recovery.h"
#include "lines/region.h"
#include "lines/rehome.h"
#include "net/deferred.h"
#include "net/held.h"
#include "net/layer.h"
#include "net/members.h"
#include "net/push.h"
#include "net/udp.h"
#include "rdma/rdma.h"
#include "standby/mirror.h"
#include "store/frames.h"
#include "store/layer.h"

/*
 * Nothing may be taken for something of an earlier life: transactions begin anywhere.
 */
static void begin_anywhere(struct memd *m)
{
	u32 random[2] = { (u32)time(NULL), (u32)time(NULL) << 12 };

	if (getrandom(random, sizeof(random), GRND_NONBLOCK) < 0)
		log_say("no random numbers: %s", strerror(errno));
	m->b->life = random[0] ? random[0] : 1;
	m->seq = random[1];
}

/* The other threads. */
static int add_threads(struct memd *first, char *err)
{
	struct blade *b = first->b;
	struct memd *m;
	u32 i;

	pthread_mutex_init(&b->turns.lock, NULL);
	pthread_mutex_init(&b->moment.lock, NULL);
	b->thread[0] = first;
	turn_init(first);
	if (b->threads == 1)
		return 0;
	b->moment.now = first->timers.now;
	b->moment.clock = first->timers.clock;
	timers_share(&first->timers, &b->moment);
	for (i = 1; i < b->threads; i++) {
		m = aligned_alloc(_Alignof(struct memd), sizeof(*m));
		if (!m)
			return fail(err, "not enough memory for %u threads", b->threads);
		memset(m, 0, sizeof(*m));
		b->thread[i] = m;
		m->b = b;
		m->nth = i;
		m->seq = first->seq + i;
		turn_init(m);
		timers_share(&m->timers, &b->moment);
	}
	return 0;
}

static int front_make(struct memd *m)
{
	u32 i;

	for (i = 0; i < m->b->threads; i++)
		if (!blade_make(m->b->thread[i]->gate))
			return -1;
	return 0;
}

static void front_free(struct memd *m)
{
	u32 i;

	for (i = 0; i < m->b->threads; i++)
		free(m->b->thread[i]->gate);
}

int memd_init(struct memd *m, const struct options *o, const struct weft_key *key,
	      char *err)
{
	memset(m, 0, sizeof(*m));
	m->b = aligned_alloc(_Alignof(struct blade), sizeof(*m->b));
	if (!m->b)
		return fail(err, "not enough memory");
	memset(m->b, 0, sizeof(*m->b));
	m->b->threads = o->threads > 1 ? o->threads : 1;
	m->b->opt = *o;
	m->b->until = BLADE_FOR_EVER;
	if (key)
		m->b->key = *key;
	timers_init(&m->timers);
	begin_anywhere(m);
	if (add_threads(m, err))
		return -1;
	m->b->started = m->timers.now;
	if (memd_is_first(m))
		clock_set(&m->b->clock, (struct weft_stamp){ .epoch = m->b->life },
			  m->b->started);
	if (store_make(m) || net_make(m) || lines_make(m) || catalog_make(m) || front_make(m))
		return fail(err, "not enough memory");
	return store_open(m, err) || catalog_open(m, err) ? -1 : 0;
}

void memd_start(struct memd *m)
{
	if (m->udp->fragment && !frames_keep_hashes(m->b->frames, m->udp->fragment))
		log_say("no memory to keep hashes of what is sent: they are made each time");
	members_start(m);
	p4_start(m);
	takeover_start(m);
	if (!memd_is_first(m)) {
		follow_start(m);
		return;
	}
	m->b->ready = true;
	rehome_restart(m);
	fence_start(m);
	if (m->b->regions->n || m->b->members->mask)
		grace_begin(m, "a new life");
	else
		takeover_settled(m);
}

/* End all deferred calls: what they wait for does not come any more. */
static void end_deferred(struct memd *m)
{
	u32 i, round;
	u8 id;

	/* the end of a deferred call may begin calls, but not for ever */
	for (round = 0; round < 3; round++) {
		for (id = 1; id <= WEFT_BLADE_MAX; id++)
			push_drop(m, id, EHOSTDOWN);
		commit_exit(m, &m->b->journal->commit);
		commit_exit(m, m->b->sync);
		held_drop(m);
	}
	p4_stop(m);
	for (i = 0; i < m->b->regions->n; i++) {
		struct deferred *dc = m->b->regions->by_id[i]->trim.dc;

		m->b->regions->by_id[i]->trim.dc = NULL;
		deferred_release(m, dc, 0);
		dc = m->b->regions->by_id[i]->withdraw.dc;
		m->b->regions->by_id[i]->withdraw.dc = NULL;
		deferred_release(m, dc, ESHUTDOWN);
	}
	for (id = 1; id <= WEFT_BLADE_MAX; id++)
		push_drop(m, id, EHOSTDOWN);
}

void memd_exit(struct memd *m)
{
	struct blade *b = m->b;

	rdma_stop(m);
	end_deferred(m);
	lines_free(m);
	front_free(m);
	catalog_free(m);
	mirror_stop(m);
	store_free(m);
	net_free(m);
	while (b->threads > 1)
		free(b->thread[--b->threads]);
	free(b);
	m->b = NULL;
}

/* --- in --------------------------------------------------------------------- */

/* Answers of the switch, and to what we asked of it. */
static void from_switch(struct memd *m, const struct weft_msg *msg, u32 from)
{
	/* which came from the group, so that it has no other address */
	if (from != weft_switch_addr(m->udp->addr)) {
		count(m, WRONG_ADDRESS);
		return;
	}
	if (msg->src != m->b->opt.id || weft_txn_member(msg->txn) != m->b->opt.id) {
		count(m, UNEXPECTED);
		return;
	}
	if (msg->type == WEFT_MSG_MEMBERS_ACK)
		p4_ack(m, msg);
	else
		lines_answer(m, msg);
}

/* Messages that only members may send. */
static void from_member(struct memd *m, const struct weft_msg *msg, u32 from)
{
	if (!members_sender(m, msg->src, from) &&
	    !(msg->type == WEFT_MSG_REPLY && follow_moved(m, msg, from))) {
		members_refused(m, msg->src, from);
		return;
	}
	switch (msg->type) {
	case WEFT_MSG_READ:
		if (grace_is_over(m))
			blocks_read(m, msg);
		break;
	case WEFT_MSG_WB:
		/* at the beginning of a life nodes give back by WB, too */
		if (m->b->ready && !(m->b->grace->late & weft_node_bit(msg->src)))
			blocks_write(m, msg);
		break;
	case WEFT_MSG_CHASE:
		if (grace_is_over(m))
			lines_chase(m, msg);
		break;
	default: /* WEFT_MSG_REPLY */
		if (!follow_reply(m, msg) && !recovery_reply(m, msg) && !fence_reply(m, msg) &&
		    !takeover_reply(m, msg) && !move_reply(m, msg))
			push_reply(m, msg);
		break;
	}
}

u64 memd_far(struct memd *m, const void *buf, size_t len)
{
	struct weft_msg msg;
	u32 psum;

	if (weft_wire_unpack_header(&msg, buf, len, &psum) ||
	    (msg.type != WEFT_MSG_GETS && msg.type != WEFT_MSG_GETM &&
	     msg.type != WEFT_MSG_READ))
		return 0;
	blocks_far(m, msg.line);
	return msg.line;
}

void memd_near(struct memd *m, u64 line)
{
	blocks_near(m, line);
}

/* Those that are about a line. */
static bool has_line(u8 type)
{
	return type < WEFT_MSG_CALL && type != WEFT_MSG_MEMBERS_ACK;
}

/* LANDED from a node: a write-back whose bytes its card has written there (landing.h). */
static void find_bytes(struct memd *m, struct weft_msg *msg, const u8 *bytes)
{
	msg->type = WEFT_MSG_WB;
	msg->offset = 0;
	msg->len = msg->size;
	msg->payload = bytes;
	count(m, RDMA_HOME);
	m->stats.count[STAT_RDMA_HOME_BYTES] += msg->size;
}

/* @bytes: of LANDED; NULL: it did not come by a card. */
static void handle(struct memd *m, const void *buf, size_t len, u32 from, u16 port,
		   const u8 *bytes)
{
	struct weft_msg msg;

	if (!gate_take(m, &msg, buf, len, from, port))
		return;
	if (msg.type < MEMD_TYPES)
		m->stats.in[msg.type]++;
	if (bytes && weft_node_bit(msg.src))
		find_bytes(m, &msg, bytes);
	if (has_line(msg.type) && lines_concern_all(m, &msg))
		turn_alone(m);
	if (log_verbose)
		log_note("from %s: %s line %llx txn %08x", log_addr(from),
			 weft_msg_name(msg.type), (unsigned long long)msg.line,
			 msg.txn);
	if (has_line(msg.type) && (lines_over(m, &msg, from) || rehome_takes(m, &msg, from)))
		return;
	switch (msg.type) {
	case WEFT_MSG_GETS:
	case WEFT_MSG_GETM:
	case WEFT_MSG_PUT:
	case WEFT_MSG_COMMIT:
	case WEFT_MSG_ABORT:
	case WEFT_MSG_QUERY:
	case WEFT_MSG_ACQUIRE:
	case WEFT_MSG_HAND:
	case WEFT_MSG_PASS:
		if (grace_is_over(m))
			lines_request(m, &msg, from);
		break;
	case WEFT_MSG_READ:
	case WEFT_MSG_WB:
	case WEFT_MSG_CHASE:
	case WEFT_MSG_REPLY:
		from_member(m, &msg, from);
		break;
	case WEFT_MSG_ADD_ACK:
	case WEFT_MSG_REMOVE_ACK:
	case WEFT_MSG_DROP_ACK:
	case WEFT_MSG_NACK:
	case WEFT_MSG_MEMBERS_ACK:
		from_switch(m, &msg, from);
		break;
	case WEFT_MSG_CALL:
		calls_receive(m, &msg, from);
		break;
	default:
		count(m, UNEXPECTED);
		break;
	}
}

void memd_receive(struct memd *m, const void *buf, size_t len, u32 from, u16 port)
{
	handle(m, buf, len, from, port, NULL);
	turn_together(m);
}

void memd_receive_home(struct memd *m, const void *buf, size_t len, u32 from, const u8 *bytes)
{
	handle(m, buf, len, from, m->udp->port, bytes);
	turn_together(m);
}
