// SPDX-License-Identifier: GPL-2.0-only
/* Calls and replies, see reply.h. */
#include "net/reply.h"

#include "base/blade.h"
#include "net/send.h"
#include "wire.h"

bool reply_is_kept(u16 op)
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
	case WEFT_CALL_FENCE_NODE: /* a repetition would not find the node, which is gone */
	case WEFT_CALL_SYNC: /* each repetition would wait for a sync of its own */
		return true;
	default:
		return false;
	}
}

/* --- replies ---------------------------------------------------------------- */

static void send(struct memd *m, const struct request *q, const u8 *payload,
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
	send(m, q, payload, len, flags);
}

void reply_once(struct memd *m, struct request *q)
{
	reply(m, q, NULL);
}

void reply_again(struct memd *m, const struct request *q, const struct kept_reply *k)
{
	send(m, q, k->payload, k->len, 0);
}

/* --- repetitions ------------------------------------------------------------ */

void reply_forget(struct memd *m, u8 id)
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

void reply_begin(struct memd *m, u8 id, u32 txn)
{
	struct caller *c;

	reply_forget(m, id);
	c = caller_of(m, id);
	if (!c)
		return;
	callno_begin(&c->numbers, txn & WEFT_TXN_SEQ_MASK, m->timers.now);
}

void reply_note(struct memd *m, u8 id, u32 txn)
{
	struct caller *c = caller_of(m, id);

	if (c)
		callno_note(&c->numbers, txn & WEFT_TXN_SEQ_MASK, m->timers.now);
}

bool reply_is_old(struct memd *m, const struct request *q)
{
	const struct caller *c = m->b->callers[q->src];

	return m->b->key.set && memd_is_first(m) && c &&
	       callno_old(&c->numbers, q->txn & WEFT_TXN_SEQ_MASK);
}

struct kept_reply *reply_find(struct memd *m, u8 src, u32 txn)
{
	struct caller *c = m->b->callers[src];
	u32 i;

	for (i = 0; c && i < CALLS_KEPT; i++)
		if (c->kept[i].txn == txn)
			return &c->kept[i];
	return NULL;
}

struct kept_reply *reply_keep(struct memd *m, u8 src, u32 txn, u32 hash)
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

void reply_finish(struct memd *m, struct request *q)
{
	struct kept_reply *k = NULL;

	if (reply_is_kept(q->call.op))
		k = reply_find(m, q->src, q->txn);
	reply(m, q, k && k->pending ? k : NULL);
}
