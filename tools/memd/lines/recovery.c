// SPDX-License-Identifier: GPL-2.0-only
/* A new life of the directory, see recovery.h. */
#include "lines/recovery.h"

#include <sys/random.h>

#include "base/blade.h"
#include "base/log.h"
#include "lines/grace.h"
#include "lines/lines.h"
#include "lines/looks.h"
#include "lines/p4.h"
#include "lines/rehome.h"
#include "net/members.h"
#include "net/reply.h"
#include "net/send.h"

#define FIRST_MS	20	/* until RENEW is repeated, doubled each time */
#define LAST_MS		500
#define LATE_MS		2000	/* ... to who is not waited for */
#define TELL_MS		10000	/* until it is logged again who is waited for */

static void send(struct memd *m, u32 id)
{
	struct grace *g = m->b->grace;
	struct weft_call call = {
		.op = WEFT_CALL_RENEW,
		.node = id,
		.life = g->life,
		.valid = (g->late & weft_node_bit(id) ? WEFT_RENEW_LATE : 0) |
			 (g->crashed & weft_node_bit(id) ? WEFT_RENEW_CRASHED : 0),
	};

	send_call_to(m, &call, g->txn[id], id);
}

static void send_to(struct memd *m, u32 nodes)
{
	u32 id;

	for_each_node(nodes, id)
		send(m, id);
}

static void give_numbers(struct memd *m, u32 nodes)
{
	u32 id;

	for_each_node(nodes, id)
		m->b->grace->txn[id] = weft_txn(m->b->opt.id, memd_seq(m));
}

static u64 elapsed(const struct memd *m)
{
	return m->timers.now - m->b->grace->began;
}

/* All have answered, or are not waited for any more. */
static void check_end(struct memd *m)
{
	struct grace *g = m->b->grace;
	u64 old = m->timers.now - g->since;

	if (!g->active || !g->asking || g->waiting)
		return;
	/* messages of the former life were sent before this one began: let them arrive */
	if (old < RECOVERY_LEAST_MS) {
		timer_set(&m->timers, &g->timer, RECOVERY_LEAST_MS - old);
		return;
	}
	g->active = false;
	if (!g->late)
		timer_stop(&g->timer);
	log_say("all lines are at home after %llu ms, %llu ms after this life began: nodes are served",
		(unsigned long long)elapsed(m), (unsigned long long)old);
	/* The same call again: who has done it hears that what it asks for is answered now. */
	send_to(m, g->done);
	g->ops->over(m);
}

static void answered(struct memd *m, u32 id)
{
	struct grace *g = m->b->grace;
	u32 bit = weft_node_bit(id);
	bool late = g->late & bit;

	g->done |= g->waiting & bit;
	g->waiting &= ~bit;
	g->late &= ~bit;
	g->crashed &= ~bit;
	check_end(m);
	if (late)
		g->ops->late(m);
}

u64 recovery_bound(const struct memd *m)
{
	/* a node has no more of us than we have memory */
	return RECOVERY_BASE_MS + m->b->opt.memory / RECOVERY_SPEED;
}

/* As long as this blade keeps nothing, time is not the nodes'. */
static void stand_still(struct memd *m)
{
	struct grace *g = m->b->grace;

	if (g->refused && m->timers.now < g->refused + RECOVERY_REFUSED_MS)
		g->stood += m->timers.now - g->looked;
	g->looked = m->timers.now;
}

static void leave_out(struct memd *m, u32 id, bool moves)
{
	struct grace *g = m->b->grace;
	unsigned long long s = elapsed(m) / 1000;

	if (moves)
		log_say("node %u (%s) has not come to an end of giving its blocks back in %llu s: the %llu that came count, what else it has modified is lost, and it is let in again when it has dropped all",
			id, log_addr(m->b->members->by_id[id].addr), s,
			(unsigned long long)g->stored[id]);
	else
		log_say("node %u (%s) does not give its blocks back: of what it has modified the %llu blocks that came count, the rest is lost, and it is let in again when it has dropped all",
			id, log_addr(m->b->members->by_id[id].addr),
			(unsigned long long)g->stored[id]);
	/* another call: what was asked before is not to be answered any more */
	g->txn[id] = weft_txn(m->b->opt.id, memd_seq(m));
	g->late |= weft_node_bit(id);
	g->waiting &= ~weft_node_bit(id);
}

/* Others go on without those that make no progress, or come to no end. */
static void give_up(struct memd *m)
{
	struct grace *g = m->b->grace;
	bool over = elapsed(m) - g->stood >= recovery_bound(m);
	u32 id;

	for_each_node(g->waiting, id) {
		/* another thread may be a moment ahead of us */
		bool moves = m->timers.now < g->moved[id] + RECOVERY_LIMIT_MS;

		if (over || !moves)
			leave_out(m, id, moves);
	}
}

/* So that who looks at the log knows what everybody waits for. */
static void tell(struct memd *m)
{
	struct grace *g = m->b->grace;
	u32 id;

	if (m->timers.now - g->told < TELL_MS)
		return;
	g->told = m->timers.now;
	if (g->stood)
		log_say("what nodes give back could not be kept for %llu s, as it cannot be written to the file: they are waited for until there is room on its disk",
			(unsigned long long)g->stood / 1000);
	for_each_node(g->waiting, id)
		log_say("waiting for node %u (%s): %llu blocks came, the last sign of it %llu s ago",
			id, log_addr(m->b->members->by_id[id].addr),
			(unsigned long long)g->stored[id],
			(unsigned long long)(m->timers.now - g->moved[id]) / 1000);
}

/* The same before they are asked: where all slots are taken only that makes room. */
static void tell_of_mark(struct memd *m)
{
	struct grace *g = m->b->grace;

	if (m->timers.now - g->told < TELL_MS || looks_has_room(m))
		return;
	g->told = m->timers.now;
	log_say("no slot of the P4 switch is free for this blade's mark, without which no life of it can begin: that goes on when one is; to restart the switch frees all, and costs nodes time only");
}

static void begin_asking(struct memd *m)
{
	struct grace *g = m->b->grace;
	u32 id;

	g->asking = true;
	g->began = m->timers.now;
	g->told = m->timers.now;
	g->looked = m->timers.now;
	g->refused = 0;
	g->stood = 0;
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		g->moved[id] = m->timers.now;
	g->ops->asking(m);
}

static void on_timer(struct memd *m, struct timer *t)
{
	struct grace *g = m->b->grace;

	if (g->active && !g->asking) {
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
	if (g->asking) {
		stand_still(m);
		give_up(m);
		tell(m);
	}
	g->delay = g->delay * 2 < LAST_MS ? g->delay * 2 : LAST_MS;
	if (g->waiting || g->late)
		timer_set(&m->timers, t, g->waiting ? g->delay : LATE_MS);
	send_to(m, g->waiting | g->late);
	check_end(m);
}

void recovery_crashed(struct memd *m)
{
	m->b->grace->crashed = ~0u;
}

static void begin(struct memd *m, const char *why)
{
	struct grace *g = m->b->grace;
	u32 life;

	if (getrandom(&life, sizeof(life), GRND_NONBLOCK) < 0)
		life = memd_seq(m) * 2654435761u;
	g->life = life ? life : 1;
	lines_renew(m, g->life & ~(u32)WEFT_GRANT_OWNED);
	g->waiting = m->b->members->mask;
	g->done = 0;
	g->late = 0;
	g->active = true;
	g->asking = false;
	g->since = m->timers.now;
	g->began = m->timers.now;
	g->told = m->timers.now;
	memset(g->worked, 0, sizeof(g->worked));
	memset(g->stored, 0, sizeof(g->stored));
	g->delay = FIRST_MS;
	log_say("%s: asking the nodes to give all blocks back", why);
	count(m, RENEW);
	give_numbers(m, g->waiting);
	timer_set(&m->timers, &g->timer, 1);
}

void recovery_listen(struct memd *m, const struct recovery_ops *ops)
{
	m->b->grace->ops = ops;
}

void recovery_init(struct memd *m)
{
	m->b->grace->timer.fn = on_timer;
	m->b->grace->begin = begin;
}

bool recovery_reply(struct memd *m, const struct weft_msg *msg)
{
	u32 bit = weft_node_bit(msg->src);
	struct weft_call reply;

	if (!bit || !((m->b->grace->waiting | m->b->grace->late) & bit) ||
	    msg->txn != m->b->grace->txn[msg->src] ||
	    weft_call_unpack(&reply, msg->payload, msg->len))
		return false;
	if (!reply.err) {
		answered(m, msg->src);
	} else if (reply.err == EINPROGRESS && reply.used > m->b->grace->worked[msg->src]) {
		m->b->grace->worked[msg->src] = reply.used;
		grace_moved(m, msg->src);
	}
	return true;
}

void recovery_gone(struct memd *m, u32 id)
{
	m->b->grace->waiting &= ~weft_node_bit(id);
	m->b->grace->done &= ~weft_node_bit(id);
	answered(m, id);
}

u16 recovery_claim(struct memd *m, const struct request *q)
{
	const struct weft_call *c = &q->call;
	const u8 *p = c->list;

	if (!(m->b->grace->waiting & weft_node_bit(q->src)) ||
	    c->life != m->b->grace->life)
		return ESTALE;
	if (c->list_len % WEFT_CLAIM_LEN)
		return EINVAL;
	grace_moved(m, q->src);
	for (; p < c->list + c->list_len; p += WEFT_CLAIM_LEN)
		lines_claim(m, q->src, get_unaligned_be64(p),
			    get_unaligned_be32(p + 8), p[12]);
	return 0;
}
