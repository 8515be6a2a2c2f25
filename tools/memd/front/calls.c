// SPDX-License-Identifier: GPL-2.0-only
/* Calls that come in, see calls.h. */
#include "front/calls.h"

#include "base/blade.h"
#include "catalog/admin.h"
#include "catalog/catalog.h"
#include "catalog/fence.h"
#include "catalog/follow.h"
#include "catalog/join.h"
#include "catalog/move.h"
#include "catalog/sync.h"
#include "catalog/takeover.h"
#include "front/stats.h"
#include "lines/recovery.h"
#include "lines/rehome.h"
#include "lines/sweep.h"
#include "net/members.h"
#include "net/reply.h"
#include "net/send.h"

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
		q->reply.err = q->call.region ? move_claim(m, q) : recovery_claim(m, q);
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
		return admin_call(m, q);
	default:
		return catalog_call(m, q);
	}
}

/* Whether a call is to be answered; q->reply.err is set if it is refused. */
static bool allowed(struct memd *m, struct request *q)
{
	/* a JOIN is no sign of life of the member that has this id */
	bool member = q->call.op != WEFT_CALL_JOIN &&
		      members_sender(m, q->src, q->from);

	q->member = member;
	if (is_for_followers(q->call.op))
		return member && q->src == WEFT_BLADE_MIN && !memd_is_first(m);
	/* from where the blade is, or where it was not before */
	if (q->call.op == WEFT_CALL_TWIN)
		return weft_is_blade(q->src) && q->src != m->b->opt.id && q->from &&
		       (q->from == m->b->members->by_id[q->src].addr ||
			q->from == m->b->members->by_id[q->src].standby);
	if (q->call.op == WEFT_CALL_RECALLED || q->call.op == WEFT_CALL_RENEW ||
	    q->call.op == WEFT_CALL_CHANGED || q->call.op == WEFT_CALL_MOVE ||
	    q->src == m->b->opt.id)
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

	if (reply_is_kept(q->call.op)) {
		if (reply_is_old(m, q)) {
			count(m, CALL_OLD);
			q->reply.err = WEFT_CALL_WRONG_TIME;
			reply_once(m, q);
			return;
		}
		k = reply_keep(m, q->src, q->txn, hash);
		if (!k)
			return;
	}
	a = serve(m, q);
	if (a == ANSWER)
		reply_finish(m, q);
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
	reply_once(m, &q);
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
	reply_once(m, &q);
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
		reply_note(m, q.src, q.txn);
	if (q.reply.err) {
		reply_once(m, &q);
		return;
	}
	k = reply_is_kept(q.call.op) ? reply_find(m, q.src, q.txn) : NULL;
	if (!k || k->hash != hash) {
		/* another call under an old number: of a life that we missed */
		if (k && !k->pending)
			k->txn = 0;
		first_time(m, &q, hash);
		return;
	}
	count(m, CALL_REPEATED);
	if (!k->pending)
		reply_again(m, &q, k);
}
