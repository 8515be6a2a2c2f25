// SPDX-License-Identifier: GPL-2.0-only
/* A new life of the directory, see renew.h. */
#include "renew.h"

#include <sys/random.h>

#include "catalog.h"
#include "log.h"
#include "memd.h"

#define FIRST_MS	20	/* until RENEW is repeated, doubled each time */
#define LAST_MS		500
#define LATE_MS		2000	/* ... to who is not waited for */

u32 renew_nodes(const struct memd *m)
{
	return m->members.mask & ~m->renew.late;
}

static void send(struct memd *m, u32 id)
{
	struct renew *rn = &m->renew;
	struct weft_call call = {
		.op = WEFT_CALL_RENEW,
		.node = id,
		.life = rn->life,
		.valid = rn->late & weft_node_bit(id) ? WEFT_RENEW_LATE : 0,
	};
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL,
		.txn = rn->txn[id],
		.len = weft_call_pack(&call, payload),
		.payload = payload,
	};

	memd_send_to(m, &msg, id);
}

static void send_to_all(struct memd *m)
{
	u32 nodes = m->renew.waiting | m->renew.late, id;

	for (id = WEFT_NODE_MIN; nodes; id++, nodes >>= 1)
		if (nodes & 1)
			send(m, id);
}

static void give_numbers(struct memd *m, u32 nodes)
{
	u32 id;

	for (id = WEFT_NODE_MIN; nodes; id++, nodes >>= 1)
		if (nodes & 1)
			m->renew.txn[id] = weft_txn(m->opt.id, memd_seq(m));
}

static u64 elapsed(const struct memd *m)
{
	return m->timers.now - m->renew.began;
}

/* All have answered, or are not waited for any more. */
static void check_end(struct memd *m)
{
	struct renew *rn = &m->renew;

	if (!rn->active || !rn->asking || rn->waiting)
		return;
	if (elapsed(m) < RENEW_LEAST_MS) {
		timer_set(&m->timers, &rn->timer, RENEW_LEAST_MS - elapsed(m));
		return;
	}
	rn->active = false;
	if (!rn->late)
		timer_stop(&rn->timer);
	log_say("all lines are at home after %llu ms: nodes are served",
		(unsigned long long)elapsed(m));
	if (memd_is_first(m))
		catalog_settle(m);
}

static void answered(struct memd *m, u32 id)
{
	struct renew *rn = &m->renew;
	u32 bit = weft_node_bit(id);

	rn->waiting &= ~bit;
	rn->late &= ~bit;
	check_end(m);
}

/* Others go on without those that are silent. */
static void give_up(struct memd *m)
{
	struct renew *rn = &m->renew;
	u32 id;

	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		if (rn->waiting & weft_node_bit(id))
			log_warn("node %u (%s) does not give its blocks back: what it has modified is lost, and it is let in again when it has dropped all",
				 id, log_addr(m->members.by_id[id].addr));
	/* another call: what was asked before is not to be answered any more */
	give_numbers(m, rn->waiting);
	rn->late |= rn->waiting;
	rn->waiting = 0;
}

static void on_timer(struct memd *m, struct timer *t)
{
	struct renew *rn = &m->renew;

	if (rn->active && !rn->asking) {
		/* first it must be known whether there is a switch */
		if (!members_settled(&m->members) || !lines_mark(m)) {
			timer_set(&m->timers, t, FIRST_MS);
			return;
		}
		rn->asking = true;
		rn->began = m->timers.now;
	}
	if (rn->waiting && elapsed(m) >= RENEW_LIMIT_MS)
		give_up(m);
	rn->delay = rn->delay * 2 < LAST_MS ? rn->delay * 2 : LAST_MS;
	if (rn->waiting || rn->late)
		timer_set(&m->timers, t, rn->waiting ? rn->delay : LATE_MS);
	send_to_all(m);
	check_end(m);
}

void renew_init(struct memd *m)
{
	m->renew.timer.fn = on_timer;
}

void renew_begin(struct memd *m, const char *why)
{
	struct renew *rn = &m->renew;
	u32 life;

	if (getrandom(&life, sizeof(life), GRND_NONBLOCK) < 0)
		life = memd_seq(m) * 2654435761u;
	rn->life = life ? life : 1;
	lines_renew(m, rn->life & ~(u32)WEFT_GRANT_OWNED);
	rn->waiting = m->members.mask;
	rn->late = 0;
	rn->active = true;
	rn->asking = false;
	rn->began = m->timers.now;
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

	if (!bit || !((m->renew.waiting | m->renew.late) & bit) ||
	    msg->txn != m->renew.txn[msg->src] ||
	    weft_call_unpack(&reply, msg->payload, msg->len))
		return false;
	if (!reply.err)
		answered(m, msg->src);
	return true;
}

void renew_gone(struct memd *m, u32 id)
{
	answered(m, id);
}

u16 renew_claim(struct memd *m, const struct request *q)
{
	const struct weft_call *c = &q->call;
	const u8 *p = c->list;

	if (!(m->renew.waiting & weft_node_bit(q->src)) ||
	    c->life != m->renew.life)
		return ESTALE;
	if (c->list_len % WEFT_CLAIM_LEN)
		return EINVAL;
	for (; p < c->list + c->list_len; p += WEFT_CLAIM_LEN)
		lines_claim(m, q->src, get_unaligned_be64(p),
			    get_unaligned_be32(p + 8), p[12]);
	return 0;
}
