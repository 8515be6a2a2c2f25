// SPDX-License-Identifier: GPL-2.0-only
/* Calls that come in, see calls.h. */
#include "front/calls.h"

#include <stdlib.h>

#include "base/blade.h"
#include "base/callno.h"
#include "base/clock.h"
#include "base/count.h"
#include "catalog/blades.h"
#include "catalog/catalog.h"
#include "catalog/fence.h"
#include "catalog/follow.h"
#include "catalog/join.h"
#include "catalog/move.h"
#include "catalog/sync.h"
#include "catalog/takeover.h"
#include "front/stats.h"
#include "lines/rehome.h"
#include "lines/renew.h"
#include "lines/sweep.h"
#include "net/members.h"
#include "net/send.h"

/* Calls whose repetition would not give the same reply. */
static bool has_effect(u16 op)
{
	switch (op) {
	case WEFT_CALL_CREATE:
	case WEFT_CALL_SETATTR:
	case WEFT_CALL_UNLINK:
	case WEFT_CALL_OPEN:
	case WEFT_CALL_CLOSE:
	case WEFT_CALL_REGION:
	case WEFT_CALL_FORGET:
	case WEFT_CALL_MEMBERS:
	case WEFT_CALL_FENCE_NODE: /* or the repetition of one that was carried out finds nobody */
	case WEFT_CALL_SYNC: /* or each repetition would wait for a sync of its own */
		return true;
	default:
		return false;
	}
}

/* Calls that who is no member may make; membership is theirs to look at. */
static bool is_open(u16 op)
{
	return op == WEFT_CALL_JOIN || op == WEFT_CALL_LEAVE ||
	       op == WEFT_CALL_PEERS || op == WEFT_CALL_STATS ||
	       op == WEFT_CALL_STATFS;
}

static bool is_for_followers(u16 op)
{
	return op == WEFT_CALL_REGION || op == WEFT_CALL_FORGET ||
	       op == WEFT_CALL_MEMBERS || op == WEFT_CALL_FENCE || op == WEFT_CALL_REHOME;
}

/* --- replies ---------------------------------------------------------------- */

static void send_reply(struct memd *m, const struct request *q, const u8 *payload,
		       u32 len, u8 flags)
{
	struct weft_msg msg = {
		.type = WEFT_MSG_REPLY,
		.flags = flags,
		.txn = q->txn,
		.nonce = q->nonce,
		.len = len,
		.payload = payload,
	};

	send_message(m, &msg, q->from);
}

static bool is_list(u16 op)
{
	return op == WEFT_CALL_READDIR || op == WEFT_CALL_STATS || op == WEFT_CALL_LOST;
}

static void reply(struct memd *m, struct request *q, struct kept_reply *keep)
{
	u8 payload[WEFT_CALL_LEN_MAX];
	u8 flags = is_list(q->reply.op) && q->reply.cookie ? WEFT_F_MORE : 0;
	u32 len = weft_call_pack(&q->reply, payload);

	if (q->reply.err)
		count(m, CALL_REFUSED);
	if (keep) {
		keep->pending = false;
		keep->payload = malloc(len);
		keep->len = keep->payload ? len : 0;
		if (keep->payload)
			memcpy(keep->payload, payload, len);
		else
			keep->txn = 0;
	}
	send_reply(m, q, payload, len, flags);
}

/* --- repetitions ------------------------------------------------------------ */

void calls_forget(struct memd *m, u8 id)
{
	struct caller *c = m->b->callers[id];
	u32 i;

	if (!c)
		return;
	for (i = 0; i < CALLS_KEPT; i++)
		free(c->kept[i].payload);
	memset(c, 0, sizeof(*c));
}

static struct caller *caller_of(struct memd *m, u8 id)
{
	if (!m->b->callers[id])
		m->b->callers[id] = calloc(1, sizeof(*m->b->callers[id]));
	return m->b->callers[id];
}

void calls_begin(struct memd *m, u8 id, u32 txn)
{
	struct caller *c;

	calls_forget(m, id);
	c = caller_of(m, id);
	if (!c)
		return;
	callno_begin(&c->numbers, txn & WEFT_TXN_SEQ_MASK, m->timers.now);
}

static void note_number(struct memd *m, u8 id, u32 txn)
{
	struct caller *c = caller_of(m, id);

	if (c)
		callno_note(&c->numbers, txn & WEFT_TXN_SEQ_MASK, m->timers.now);
}

/*
 * A call whose reply we would have kept, if it were not so old that it may have been
 * carried out before: somebody has recorded and repeated it, or it was slow, and its
 * sender hears that it has to ask anew.  Only calls to the catalog; what the first blade
 * tells the others has numbers of its own.
 */
static bool is_old(struct memd *m, const struct request *q)
{
	const struct caller *c = m->b->callers[q->src];

	return m->b->key.set && memd_is_first(m) && c &&
	       callno_old(&c->numbers, q->txn & WEFT_TXN_SEQ_MASK);
}

static struct kept_reply *find_kept(struct memd *m, u8 src, u32 txn)
{
	struct caller *c = m->b->callers[src];
	u32 i;

	for (i = 0; c && i < CALLS_KEPT; i++)
		if (c->kept[i].txn == txn)
			return &c->kept[i];
	return NULL;
}

/* A place for the reply, in that of the oldest.  NULL: too much is under way. */
static struct kept_reply *new_kept(struct memd *m, u8 src, u32 txn, u32 hash)
{
	struct caller *c = caller_of(m, src);
	struct kept_reply *k;
	u32 i;

	for (i = 0; c && i < CALLS_KEPT; i++) {
		k = &c->kept[c->next++ % CALLS_KEPT];
		if (k->pending)
			continue;
		if (k->txn)
			callno_forget(&c->numbers, k->txn & WEFT_TXN_SEQ_MASK);
		free(k->payload);
		*k = (struct kept_reply){
			.txn = txn,
			.hash = hash,
			.pending = true,
		};
		return k;
	}
	return NULL;
}

void calls_finish(struct memd *m, struct request *q)
{
	struct kept_reply *k = NULL;

	if (has_effect(q->call.op))
		k = find_kept(m, q->src, q->txn);
	reply(m, q, k && k->pending ? k : NULL);
}

/* --- a call ----------------------------------------------------------------- */

static enum answer serve(struct memd *m, struct request *q)
{
	switch (q->call.op) {
	case WEFT_CALL_STATS:
		stats_list(m, &q->reply, q->call.cookie);
		return ANSWER;
	case WEFT_CALL_REGION:
	case WEFT_CALL_FORGET:
	case WEFT_CALL_MEMBERS:
		return follow_call(m, q);
	case WEFT_CALL_FENCE:
		return fence_call(m, q);
	case WEFT_CALL_TWIN:
		return takeover_call(m, q);
	case WEFT_CALL_LOST:
		return sweep_call(m, q);
	case WEFT_CALL_SYNC:
		return sync_call(m, q);
	case WEFT_CALL_REHOME:
		return rehome_call(m, q);
	case WEFT_CALL_CLAIM:
		q->reply.err = q->call.region ? move_claim(m, q) : renew_claim(m, q);
		return ANSWER;
	default:
		break;
	}
	if (!memd_is_first(m)) {
		q->reply.err = EREMOTE;	/* the first blade has the catalog */
		return ANSWER;
	}
	switch (q->call.op) {
	case WEFT_CALL_JOIN:
		return join_call(m, q);
	case WEFT_CALL_LEAVE:
		return join_leave(m, q);
	case WEFT_CALL_PEERS:
		return join_peers(m, q);
	case WEFT_CALL_FENCE_NODE:
		return fence_call(m, q);
	case WEFT_CALL_SPREAD:
		return move_call(m, q);
	case WEFT_CALL_BLADE:
		return blades_call(m, q);
	default:
		return catalog_call(m, q);
	}
}

/* Whether a call is to be answered; q->reply.err is set if it is refused. */
static bool allowed(struct memd *m, struct request *q)
{
	/* who joins says nothing about who is in */
	bool member = q->call.op != WEFT_CALL_JOIN &&
		      members_sender(m, q->src, q->from);

	q->member = member;
	if (is_for_followers(q->call.op))
		return member && q->src == WEFT_BLADE_MIN && !memd_is_first(m);
	/* from where the blade is, or where it was not before */
	if (q->call.op == WEFT_CALL_TWIN)
		return weft_is_blade(q->src) && q->src != m->b->opt.id && q->from &&
		       (q->from == m->b->members->by_id[q->src].addr ||
			q->from == m->b->members->by_id[q->src].twin);
	if (q->call.op == WEFT_CALL_RECALLED || q->call.op == WEFT_CALL_RENEW ||
	    q->call.op == WEFT_CALL_CHANGED || q->call.op == WEFT_CALL_MOVE || q->src == m->b->opt.id)
		return false;
	if (weft_is_blade(q->src) &&
	    (q->from != m->b->members->by_id[q->src].addr || !is_open(q->call.op)))
		return false;
	if (!member && !is_open(q->call.op)) {
		/* perhaps it is one: a blade that begins has yet to hear who is */
		if (!m->b->ready)
			return false;
		members_refused(m, q->src, q->from);
		q->reply.err = ENOTCONN;
	}
	return true;
}

static void first_time(struct memd *m, struct request *q, u32 hash)
{
	struct kept_reply *k = NULL;
	enum answer a;

	if (has_effect(q->call.op)) {
		if (is_old(m, q)) {
			count(m, CALL_OLD);
			q->reply.err = WEFT_CALL_WRONG_TIME;
			reply(m, q, NULL);
			return;
		}
		k = new_kept(m, q->src, q->txn, hash);
		if (!k)
			return;
	}
	a = serve(m, q);
	if (a == ANSWER)
		reply(m, q, k);
	else if (a == ANSWER_NOT && k)
		*k = (struct kept_reply){ 0 };
}

/* Return: true if it makes sense. */
static bool read_call(struct request *q, const struct weft_msg *msg, u32 from)
{
	memset(q, 0, sizeof(*q));
	q->src = msg->src;
	q->from = from;
	q->txn = msg->txn;
	q->nonce = msg->nonce;
	if (weft_txn_member(msg->txn) != msg->src || !msg->payload ||
	    weft_call_unpack(&q->call, msg->payload, msg->len))
		return false;
	q->reply.op = q->call.op;
	return true;
}

void calls_stale(struct memd *m, const struct weft_msg *msg, u32 from)
{
	struct request q;

	if (!read_call(&q, msg, from))
		return;
	q.reply.err = WEFT_CALL_WRONG_TIME;
	reply(m, &q, NULL);
}

bool calls_without_time(struct memd *m, const struct weft_msg *msg, u32 from)
{
	struct clock none = m->b->clock;
	struct request q;

	if (!read_call(&q, msg, from) || q.call.op != WEFT_CALL_STATS ||
	    !allowed(m, &q) || q.reply.err)
		return false;
	count(m, CALL);
	serve(m, &q);
	/* the time that the node that asked takes for the right one */
	clock_set(&m->b->clock, msg->stamp, m->timers.now);
	reply(m, &q, NULL);
	m->b->clock = none;
	return true;
}

void calls_wrong_key(struct memd *m, const struct weft_msg *msg, u16 err, u32 from)
{
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg answer = { .type = WEFT_MSG_REPLY, .payload = payload };
	struct request q;

	if (!read_call(&q, msg, from) || q.call.op != WEFT_CALL_JOIN ||
	    !memd_is_first(m))
		return;
	q.reply.err = err;
	answer.txn = q.txn;
	answer.nonce = q.nonce;
	answer.len = weft_call_pack(&q.reply, payload);
	send_plain(m, &answer, from);
}

void calls_receive(struct memd *m, const struct weft_msg *msg, u32 from)
{
	u32 hash = weft_wire_psum(msg->payload, msg->len);
	struct kept_reply *k;
	struct request q;

	if (!read_call(&q, msg, from)) {
		count(m, BAD);
		return;
	}
	if (!allowed(m, &q)) {
		members_refused(m, q.src, from);
		return;
	}
	count(m, CALL);
	/* another one of that id, by mistake, has other numbers */
	if (q.member)
		note_number(m, q.src, q.txn);
	if (q.reply.err) {
		reply(m, &q, NULL);
		return;
	}
	k = has_effect(q.call.op) ? find_kept(m, q.src, q.txn) : NULL;
	if (!k || k->hash != hash) {
		/* another call under an old number: of a life that we missed */
		if (k && !k->pending)
			k->txn = 0;
		first_time(m, &q, hash);
		return;
	}
	count(m, CALL_REPEATED);
	if (!k->pending)
		send_reply(m, &q, k->payload, k->len, 0);
}
