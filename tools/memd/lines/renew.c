// SPDX-License-Identifier: GPL-2.0-only
/* A new life of the directory, see renew.h. */
#include "lines/renew.h"

#include <sys/random.h>

#include "base/blade.h"
#include "base/count.h"
#include "base/log.h"
#include "base/timer.h"
#include "catalog/allow.h"
#include "catalog/catalog.h"
#include "catalog/takeover.h"
#include "front/calls.h"
#include "lines/lines.h"
#include "lines/looks.h"
#include "lines/p4.h"
#include "lines/rehome.h"
#include "net/members.h"
#include "net/send.h"

#define FIRST_MS	20	/* until RENEW is repeated, doubled each time */
#define LAST_MS		500
#define LATE_MS		2000	/* ... to who is not waited for */
#define TELL_MS		10000	/* until it is logged again who is waited for */

u32 renew_nodes(const struct memd *m)
{
	return m->b->members->mask & ~m->b->renew->late;
}

static void send(struct memd *m, u32 id)
{
	struct renew *rn = m->b->renew;
	struct weft_call call = {
		.op = WEFT_CALL_RENEW,
		.node = id,
		.life = rn->life,
		.valid = (rn->late & weft_node_bit(id) ? WEFT_RENEW_LATE : 0) |
			 (rn->crashed & weft_node_bit(id) ? WEFT_RENEW_CRASHED : 0),
	};
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL,
		.txn = rn->txn[id],
		.len = weft_call_pack(&call, payload),
		.payload = payload,
	};

	send_to_member(m, &msg, id);
}

static void send_to(struct memd *m, u32 nodes)
{
	u32 id;

	for (id = WEFT_NODE_MIN; nodes; id++, nodes >>= 1)
		if (nodes & 1)
			send(m, id);
}

static void give_numbers(struct memd *m, u32 nodes)
{
	u32 id;

	for (id = WEFT_NODE_MIN; nodes; id++, nodes >>= 1)
		if (nodes & 1)
			m->b->renew->txn[id] = weft_txn(m->b->opt.id, memd_seq(m));
}

static u64 elapsed(const struct memd *m)
{
	return m->timers.now - m->b->renew->began;
}

/* All have answered, or are not waited for any more. */
static void check_end(struct memd *m)
{
	struct renew *rn = m->b->renew;
	u64 old = m->timers.now - rn->since;

	if (!rn->active || !rn->asking || rn->waiting)
		return;
	/* what the former life has sent it had sent before this one began */
	if (old < RENEW_LEAST_MS) {
		timer_set(&m->timers, &rn->timer, RENEW_LEAST_MS - old);
		return;
	}
	rn->active = false;
	if (!rn->late)
		timer_stop(&rn->timer);
	log_say("all lines are at home after %llu ms, %llu ms after this life began: nodes are served",
		(unsigned long long)elapsed(m), (unsigned long long)old);
	/* The same call again: who has done it hears that what it asks for is answered now. */
	send_to(m, rn->done);
	takeover_settled(m);
	if (memd_is_first(m)) {
		catalog_settle(m);
		allow_tell_all(m);
	}
}

static void answered(struct memd *m, u32 id)
{
	struct renew *rn = m->b->renew;
	u32 bit = weft_node_bit(id);
	bool late = rn->late & bit;

	rn->done |= rn->waiting & bit;
	rn->waiting &= ~bit;
	rn->late &= ~bit;
	rn->crashed &= ~bit;
	check_end(m);
	/* others have been told that it may have everything open */
	if (late && memd_is_first(m))
		allow_tell_all(m);
}

u64 renew_bound(const struct memd *m)
{
	/* a node has no more of us than we have memory */
	return RENEW_BASE_MS + m->b->opt.memory / RENEW_SPEED;
}

static void moved(struct memd *m, u32 id)
{
	if (m->b->renew->waiting & weft_node_bit(id))
		m->b->renew->moved[id] = m->timers.now;
}

void renew_stored(struct memd *m, u32 id)
{
	/* else nobody asks for it, and several threads would write it */
	if (!m->b->renew->active)
		return;
	moved(m, id);
	m->b->renew->stored[id]++;
}

void renew_refused(struct memd *m, u32 id)
{
	if (!m->b->renew->active)
		return;
	moved(m, id);
	m->b->renew->refused = m->timers.now;
}

/* As long as this blade keeps nothing, time is not the nodes'. */
static void stand_still(struct memd *m)
{
	struct renew *rn = m->b->renew;

	if (rn->refused && m->timers.now < rn->refused + RENEW_REFUSED_MS)
		rn->stood += m->timers.now - rn->looked;
	rn->looked = m->timers.now;
}

static void leave_out(struct memd *m, u32 id, bool moves)
{
	struct renew *rn = m->b->renew;
	unsigned long long s = elapsed(m) / 1000;

	if (moves)
		log_say("node %u (%s) has not come to an end of giving its blocks back in %llu s: the %llu that came count, what else it has modified is lost, and it is let in again when it has dropped all",
			id, log_addr(m->b->members->by_id[id].addr), s,
			(unsigned long long)rn->stored[id]);
	else
		log_say("node %u (%s) does not give its blocks back: of what it has modified the %llu blocks that came count, the rest is lost, and it is let in again when it has dropped all",
			id, log_addr(m->b->members->by_id[id].addr),
			(unsigned long long)rn->stored[id]);
	/* another call: what was asked before is not to be answered any more */
	rn->txn[id] = weft_txn(m->b->opt.id, memd_seq(m));
	rn->late |= weft_node_bit(id);
	rn->waiting &= ~weft_node_bit(id);
}

/* Others go on without those that make no progress, or come to no end. */
static void give_up(struct memd *m)
{
	struct renew *rn = m->b->renew;
	bool over = elapsed(m) - rn->stood >= renew_bound(m);
	u32 id;

	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++) {
		/* another thread may be a moment ahead of us */
		bool moves = m->timers.now < rn->moved[id] + RENEW_LIMIT_MS;

		if (rn->waiting & weft_node_bit(id) && (over || !moves))
			leave_out(m, id, moves);
	}
}

/* So that who looks at the log knows what everybody waits for. */
static void tell(struct memd *m)
{
	struct renew *rn = m->b->renew;
	u32 id;

	if (m->timers.now - rn->told < TELL_MS)
		return;
	rn->told = m->timers.now;
	if (rn->stood)
		log_say("what nodes give back could not be kept for %llu s, as it cannot be written to the file: they are waited for until there is room on its disk",
			(unsigned long long)rn->stood / 1000);
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		if (rn->waiting & weft_node_bit(id))
			log_say("waiting for node %u (%s): %llu blocks came, the last sign of it %llu s ago",
				id, log_addr(m->b->members->by_id[id].addr),
				(unsigned long long)rn->stored[id],
				(unsigned long long)(m->timers.now - rn->moved[id]) / 1000);
}

/* The same before they are asked: where all slots are taken only that makes room. */
static void tell_of_mark(struct memd *m)
{
	struct renew *rn = m->b->renew;

	if (m->timers.now - rn->told < TELL_MS || looks_has_room(m))
		return;
	rn->told = m->timers.now;
	log_say("no slot of the P4 switch is free for this blade's mark, without which no life of it can begin: that goes on when one is; to restart the switch frees all, and costs nodes time only");
}

static void begin_asking(struct memd *m)
{
	struct renew *rn = m->b->renew;
	u32 id;

	rn->asking = true;
	rn->began = m->timers.now;
	rn->told = m->timers.now;
	rn->looked = m->timers.now;
	rn->refused = 0;
	rn->stood = 0;
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		rn->moved[id] = m->timers.now;
	/* nodes do not listen to an address that they have not been told */
	takeover_tell(m);
}

static void on_timer(struct memd *m, struct timer *t)
{
	struct renew *rn = m->b->renew;

	if (rn->active && !rn->asking) {
		/*
		 * First it must be known whether there is a switch; and where nodes are to give
		 * back to: of a region whose homes change they hear that by MOVE, which needs
		 * nothing of this.
		 */
		if (!p4_settled(m) || !looks_mark(m) || rehome_freezes(m)) {
			tell_of_mark(m);
			timer_set(&m->timers, t, FIRST_MS);
			return;
		}
		begin_asking(m);
	}
	if (rn->asking) {
		stand_still(m);
		give_up(m);
		tell(m);
	}
	rn->delay = rn->delay * 2 < LAST_MS ? rn->delay * 2 : LAST_MS;
	if (rn->waiting || rn->late)
		timer_set(&m->timers, t, rn->waiting ? rn->delay : LATE_MS);
	send_to(m, rn->waiting | rn->late);
	check_end(m);
}

void renew_crashed(struct memd *m)
{
	m->b->renew->crashed = ~0u;
}

void renew_init(struct memd *m)
{
	m->b->renew->timer.fn = on_timer;
}

void renew_begin(struct memd *m, const char *why)
{
	struct renew *rn = m->b->renew;
	u32 life;

	if (getrandom(&life, sizeof(life), GRND_NONBLOCK) < 0)
		life = memd_seq(m) * 2654435761u;
	rn->life = life ? life : 1;
	lines_renew(m, rn->life & ~(u32)WEFT_GRANT_OWNED);
	rn->waiting = m->b->members->mask;
	rn->done = 0;
	rn->late = 0;
	rn->active = true;
	rn->asking = false;
	rn->since = m->timers.now;
	rn->began = m->timers.now;
	rn->told = m->timers.now;
	memset(rn->worked, 0, sizeof(rn->worked));
	memset(rn->stored, 0, sizeof(rn->stored));
	rn->delay = FIRST_MS;
	log_say("%s: asking the nodes to give all blocks back", why);
	count(m, RENEW);
	give_numbers(m, rn->waiting);
	timer_set(&m->timers, &rn->timer, 1);
}

bool renew_reply(struct memd *m, const struct weft_msg *msg)
{
	u32 bit = weft_node_bit(msg->src);
	struct weft_call reply;

	if (!bit || !((m->b->renew->waiting | m->b->renew->late) & bit) ||
	    msg->txn != m->b->renew->txn[msg->src] ||
	    weft_call_unpack(&reply, msg->payload, msg->len))
		return false;
	if (!reply.err) {
		answered(m, msg->src);
	} else if (reply.err == EINPROGRESS && reply.used > m->b->renew->worked[msg->src]) {
		m->b->renew->worked[msg->src] = reply.used;
		moved(m, msg->src);
	}
	return true;
}

void renew_gone(struct memd *m, u32 id)
{
	m->b->renew->waiting &= ~weft_node_bit(id);
	m->b->renew->done &= ~weft_node_bit(id);
	answered(m, id);
}

u16 renew_claim(struct memd *m, const struct request *q)
{
	const struct weft_call *c = &q->call;
	const u8 *p = c->list;

	if (!(m->b->renew->waiting & weft_node_bit(q->src)) ||
	    c->life != m->b->renew->life)
		return ESTALE;
	if (c->list_len % WEFT_CLAIM_LEN)
		return EINVAL;
	moved(m, q->src);
	for (; p < c->list + c->list_len; p += WEFT_CLAIM_LEN)
		lines_claim(m, q->src, get_unaligned_be64(p),
			    get_unaligned_be32(p + 8), p[12]);
	return 0;
}
