// SPDX-License-Identifier: GPL-2.0-only
/* Calls to others, see push.h. */
#include "net/push.h"

#include "base/blade.h"
#include "base/log.h"
#include "net/deferred.h"
#include "net/members.h"
#include "net/send.h"

#define FIRST_MS	20	/* until a call is repeated, doubled each time */
#define LAST_MS		500
/* A blade may have to take lines back from the switch first, see trim.c. */
#define BLADE_LIMIT_MS	10000
#define NODE_LIMIT_MS	4000

struct push {
	STAILQ_ENTRY(push) next;
	struct deferred *dc;
	u32 txn;
	u32 nonce;
	u32 delay;
	u64 give_up;
	u16 op;
	u32 len;
	u8 payload[];
};

static void send(struct memd *m, u8 to, struct push *p)
{
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL,
		.txn = p->txn,
		.nonce = p->nonce,
		.len = p->len,
		.payload = p->payload,
	};

	send_to_member(m, &msg, to);
	timer_set(&m->timers, &m->b->pushes[to].timer, p->delay);
}

static void begin(struct memd *m, u8 to, struct push *p)
{
	p->give_up = m->timers.now +
		     (weft_is_blade(to) ? BLADE_LIMIT_MS : NODE_LIMIT_MS);
	p->delay = FIRST_MS;
	send(m, to, p);
}

/* The first call to a member is over. */
static void end_first(struct memd *m, u8 to, u16 err)
{
	struct pushes *ps = &m->b->pushes[to];
	struct push *p = STAILQ_FIRST(&ps->queue);
	struct deferred *dc = p->dc;

	STAILQ_REMOVE_HEAD(&ps->queue, next);
	timer_stop(&ps->timer);
	free(p);
	if (err)
		count(m, PUSH_FAILED);
	if (err && !dc && weft_is_blade(to)) {
		/* nobody else would see to it: it joins again, and hears everything */
		m->b->members->blade_lost(m, to, err);
		return;
	}
	if (!STAILQ_EMPTY(&ps->queue))
		begin(m, to, STAILQ_FIRST(&ps->queue));
	deferred_release(m, dc, err);
}

void push_drop(struct memd *m, u8 to, u16 err)
{
	struct pushes *ps = &m->b->pushes[to];
	struct push_queue dropped = STAILQ_HEAD_INITIALIZER(dropped);
	struct push *p;

	/* keep the calls that deferred calls queue when they end */
	STAILQ_CONCAT(&dropped, &ps->queue);
	timer_stop(&ps->timer);
	while ((p = STAILQ_FIRST(&dropped))) {
		struct deferred *dc = p->dc;

		STAILQ_REMOVE_HEAD(&dropped, next);
		free(p);
		count(m, PUSH_FAILED);
		deferred_release(m, dc, err);
	}
}

static void on_timer(struct memd *m, struct timer *t)
{
	u8 to = (u8)(timer_owner(t, struct pushes, timer) - m->b->pushes);
	struct push *p = STAILQ_FIRST(&m->b->pushes[to].queue);
	u64 now = m->timers.now;
	bool silent;

	if (!p)
		return;
	/* a blade that lives calls several times a second */
	silent = weft_is_blade(to) &&
		 now - m->b->members->by_id[to].heard > MEMBER_ALIVE_MS;
	if (now < p->give_up && !silent) {
		p->delay = p->delay * 2 < LAST_MS ? p->delay * 2 : LAST_MS;
		count(m, PUSH_REPEATED);
		send(m, to, p);
	} else if (weft_is_blade(to)) {
		m->b->members->blade_lost(m, to, 0);
	} else {
		log_warn("node %u %s", to, p->op == WEFT_CALL_CHANGED ?
			 "does not answer: it may not know of another policy of a region" :
			 "does not give up its copies of a region that became shorter");
		end_first(m, to, ETIMEDOUT);
	}
}

void push_init(struct memd *m)
{
	u32 id;

	for (id = 0; id <= WEFT_BLADE_MAX; id++) {
		STAILQ_INIT(&m->b->pushes[id].queue);
		m->b->pushes[id].timer.fn = on_timer;
	}
}

void push_call(struct memd *m, u8 to, struct weft_call *call, u32 nonce,
	       struct deferred *dc)
{
	struct pushes *ps = &m->b->pushes[to];
	u8 payload[WEFT_CALL_LEN_MAX];
	struct push *p;
	u32 len;

	if (weft_is_blade(to)) {
		call->life = m->b->members->by_id[to].life;
		call->cookie = ++ps->seq;
	}
	len = weft_call_pack(call, payload);
	p = malloc(sizeof(*p) + len);
	if (!p) {
		log_warn("out of memory for a call to %u", to);
		deferred_hold(dc);
		deferred_release(m, dc, ENOMEM);
		return;
	}
	memcpy(p->payload, payload, len);
	p->op = call->op;
	p->len = len;
	p->dc = dc;
	p->nonce = nonce;
	p->txn = weft_txn(m->b->opt.id, memd_seq(m));
	deferred_hold(dc);
	count(m, PUSH);
	STAILQ_INSERT_TAIL(&ps->queue, p, next);
	if (STAILQ_FIRST(&ps->queue) == p)
		begin(m, to, p);
}

void push_reply(struct memd *m, const struct weft_msg *msg)
{
	struct push *p = STAILQ_FIRST(&m->b->pushes[msg->src].queue);
	struct weft_call reply;

	if (!p || p->txn != msg->txn ||
	    weft_call_unpack(&reply, msg->payload, msg->len)) {
		count(m, UNEXPECTED);
		return;
	}
	end_first(m, msg->src, reply.err);
}
