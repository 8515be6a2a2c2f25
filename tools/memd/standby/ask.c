// SPDX-License-Identifier: GPL-2.0-only
/* Questions to the witness, see ask.h. */
#include "standby/ask.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"

#define AGAIN_MS	200	/* between attempts to connect */
#define PATIENCE_MS	2000	/* for an answer, or a HELLO: then it is a new connection */

void ask_init(struct ask *a, const struct options *o, const struct weft_key *key, u8 role)
{
	memset(a, 0, sizeof(*a));
	stream_init(&a->s, key);
	a->from = o->address;
	a->to = o->witness;
	a->port = o->pair_port;
	a->hello = (struct hello){
		.rack = o->rack, .blade = o->id, .role = role, .lease = o->lease,
	};
}

void ask_close(struct ask *a)
{
	stream_close(&a->s);
	a->op = 0;
}

bool ask_ready(struct ask *a)
{
	u64 now = boot_ms();

	if (!a->to)
		return false;
	if (a->s.fd >= 0 && (stream_push(&a->s) ||
			     ((a->op || !a->s.greeted) && boot_since(a->sent) > PATIENCE_MS)))
		ask_close(a);
	if (a->s.fd < 0 && (!a->tried || boot_since(a->tried) >= AGAIN_MS)) {
		a->tried = a->sent = now;
		if (stream_call(&a->s, a->from, a->to, a->port, &a->hello) ||
		    stream_push(&a->s))
			ask_close(a);
	}
	return a->s.fd >= 0 && a->s.greeted && !a->op;
}

void ask_send(struct ask *a, u8 op, u32 view, u32 lease)
{
	u8 q[Q_LEN] = { 0 };

	a->op = op;
	a->sent = boot_ms();
	q[Q_OP] = op;
	put_unaligned_be32(view, q + Q_VIEW);
	put_unaligned_be32(lease, q + Q_LEASE);
	put_unaligned_be64(a->sent, q + Q_STAMP);
	if (stream_put(&a->s, STREAM_ASK, q, sizeof(q), NULL, 0) || stream_push(&a->s))
		ask_close(a);
}

static bool take_answer(const struct ask *a, const struct record *r, struct told *t)
{
	const u8 *b = r->body;

	if (r->type != STREAM_ANSWER || r->len != A_LEN || b[A_OP] != a->op ||
	    get_unaligned_be64(b + A_STAMP) != a->sent)
		return false;
	*t = (struct told){
		.err = get_unaligned_be16(b + A_ERR),
		.op = b[A_OP],
		.view = get_unaligned_be32(b + A_VIEW),
		.owner = get_unaligned_be32(b + A_OWNER),
		.complete = b[A_FLAGS] & 1,
		.silent = get_unaligned_be32(b + A_SILENT),
		.asked = a->sent,
	};
	return true;
}

bool ask_answer(struct ask *a, struct told *t)
{
	struct record r;
	int more = 1, ended;

	if (a->s.fd < 0)
		return false;
	ended = stream_pull(&a->s);
	while ((more = stream_next(&a->s, &r)) > 0) {
		if (r.type == STREAM_HELLO) {
			if (a->s.peer.role == STREAM_WITNESS)
				continue;
		} else if (a->op && take_answer(a, &r, t)) {
			a->op = 0;
			return true;
		}
		more = -1;
		break;
	}
	if (more < 0 && errno == EKEYREJECTED)
		log_warn("the witness %s does not have this rack's key", log_addr(a->to));
	if (more < 0 || ended)
		ask_close(a);
	return false;
}
