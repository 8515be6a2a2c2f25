// SPDX-License-Identifier: GPL-2.0-only
/* Calls that come in, see calls.h. */
#include "calls.h"

#include <stdlib.h>

#include "catalog.h"
#include "job.h"
#include "log.h"
#include "memd.h"

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
	       op == WEFT_CALL_MEMBERS;
}

/* --- replies ---------------------------------------------------------------- */

static void send_reply(struct memd *m, u32 txn, u32 to, const u8 *payload,
		       u32 len, u8 flags)
{
	struct weft_msg msg = {
		.type = WEFT_MSG_REPLY,
		.flags = flags,
		.txn = txn,
		.len = len,
		.payload = payload,
	};

	memd_send(m, &msg, to);
}

static bool is_list(u16 op)
{
	return op == WEFT_CALL_READDIR || op == WEFT_CALL_STATS;
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
	send_reply(m, q->txn, q->from, payload, len, flags);
}

/* --- repetitions ------------------------------------------------------------ */

void calls_forget(struct memd *m, u8 id)
{
	struct caller *c = m->callers[id];
	u32 i;

	if (!c)
		return;
	for (i = 0; i < CALLS_KEPT; i++)
		free(c->kept[i].payload);
	memset(c, 0, sizeof(*c));
}

static struct kept_reply *find_kept(struct memd *m, u8 src, u32 txn)
{
	struct caller *c = m->callers[src];
	u32 i;

	for (i = 0; c && i < CALLS_KEPT; i++)
		if (c->kept[i].txn == txn)
			return &c->kept[i];
	return NULL;
}

/* A place for the reply, in that of the oldest.  NULL: too much is under way. */
static struct kept_reply *new_kept(struct memd *m, u8 src, u32 txn, u32 hash)
{
	struct caller *c = m->callers[src];
	struct kept_reply *k;
	u32 i;

	if (!c)
		c = m->callers[src] = calloc(1, sizeof(*c));
	for (i = 0; c && i < CALLS_KEPT; i++) {
		k = &c->kept[c->next++ % CALLS_KEPT];
		if (k->pending)
			continue;
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
	case WEFT_CALL_CLAIM:
		q->reply.err = renew_claim(m, q);
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
		return catalog_join(m, q);
	case WEFT_CALL_LEAVE:
		return catalog_leave(m, q);
	case WEFT_CALL_PEERS:
		return catalog_peers(m, q);
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

	if (is_for_followers(q->call.op))
		return member && q->src == WEFT_BLADE_MIN && !memd_is_first(m);
	if (q->call.op == WEFT_CALL_RECALLED || q->call.op == WEFT_CALL_RENEW ||
	    q->src == m->opt.id)
		return false;
	if (weft_is_blade(q->src) &&
	    (q->from != m->members.by_id[q->src].addr || !is_open(q->call.op)))
		return false;
	if (!member && !is_open(q->call.op))
		q->reply.err = ENOTCONN;
	return true;
}

static void first_time(struct memd *m, struct request *q, u32 hash)
{
	struct kept_reply *k = NULL;
	enum answer a;

	if (has_effect(q->call.op)) {
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

void calls_receive(struct memd *m, const struct weft_msg *msg, u32 from)
{
	u32 hash = weft_wire_psum(msg->payload, msg->len);
	struct kept_reply *k;
	struct request q;

	memset(&q, 0, sizeof(q));
	q.src = msg->src;
	q.from = from;
	q.txn = msg->txn;
	q.nonce = msg->nonce;
	if (weft_txn_member(msg->txn) != msg->src || !msg->payload ||
	    weft_call_unpack(&q.call, msg->payload, msg->len)) {
		count(m, BAD);
		return;
	}
	q.reply.op = q.call.op;
	if (!allowed(m, &q)) {
		count(m, STRANGER);
		return;
	}
	count(m, CALL);
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
		send_reply(m, q.txn, from, k->payload, k->len, 0);
}
