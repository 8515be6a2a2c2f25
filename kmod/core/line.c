// SPDX-License-Identifier: GPL-2.0-only
/* One line at one node, see line.h. */
#include "line.h"

void weft_line_init(struct weft_line *l, u64 key, u8 self)
{
	memset(l, 0, sizeof(*l));
	l->key = key;
	l->self = self;
}

u8 weft_line_perm_yet(const struct weft_line *l)
{
	if (l->op == WEFT_OP_PUT)
		return WEFT_I;
	return l->state == WEFT_M && l->lent ? WEFT_S : l->state;
}

u8 weft_line_perm(const struct weft_line *l)
{
	u8 perm = weft_line_perm_yet(l);

	if (l->revoking == 2)
		return WEFT_I;
	return l->revoking == 1 && perm == WEFT_M ? WEFT_S : perm;
}

bool weft_line_idle(const struct weft_line *l)
{
	return l->op == WEFT_OP_NONE && l->held == WEFT_HELD_NONE &&
	       !l->revoking;
}

struct weft_msg *weft_line_send(struct weft_line *l, struct weft_out *out,
				u8 to, u8 type, u32 txn)
{
	struct weft_send *s = &out->send[out->n++];

	memset(s, 0, sizeof(*s));
	s->to = to;
	s->msg.type = type;
	s->msg.src = l->self;
	s->msg.txn = txn;
	s->msg.line = l->key;
	return &s->msg;
}

void weft_line_send_data(struct weft_line *l, struct weft_out *out, u8 to,
			 u8 type, u32 txn, u32 nonce)
{
	struct weft_msg *m = weft_line_send(l, out, to, type, txn);

	m->version = l->version;
	m->nonce = nonce;
	out->send[out->n - 1].with_data = true;
}

void weft_line_settle(struct weft_line *l, struct weft_out *out)
{
	if (l->state == WEFT_I && weft_line_idle(l))
		out->effects |= WEFT_DO_FREE;
	else if (!weft_line_idle(l))
		out->effects |= WEFT_DO_TIMER;
}

void weft_line_release(struct weft_line *l, struct weft_out *out)
{
	l->held = WEFT_HELD_NONE;
	if (l->state != WEFT_M)
		l->lent = l->back = 0; /* who took the line took that over */
	out->effects |= WEFT_DO_WAKE;
	weft_line_settle(l, out);
}

bool weft_line_returning(const struct weft_line *l)
{
	return l->state == WEFT_I && l->op == WEFT_OP_CLEAN;
}
