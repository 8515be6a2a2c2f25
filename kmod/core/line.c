// SPDX-License-Identifier: GPL-2.0-only
/* A line: permission, messages, its transaction, migratory or not; see line.h. */
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
	return l->op == WEFT_OP_NONE && l->held == WEFT_HELD_NONE && !l->revoking;
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
		weft_line_unlend(l); /* the new owner sees to what is lent */
	out->effects |= WEFT_DO_WAKE;
	weft_line_settle(l, out);
}

bool weft_line_returning(const struct weft_line *l)
{
	return l->state == WEFT_I && l->op == WEFT_OP_CLEAN;
}

/* --- the outstanding transaction ------------------------------------------------------- */

void weft_transaction_finish(struct weft_line *l, struct weft_out *out)
{
	l->op = WEFT_OP_NONE;
	l->expecting = false;
	if (l->landing)
		out->effects |= WEFT_DO_CLOSE;
	l->nacks = 0;
	l->tries = 0;
	out->effects |= WEFT_DO_WAKE;
	weft_line_settle(l, out);
}

void weft_transaction_request(struct weft_line *l, struct weft_out *out)
{
	struct weft_msg *m;

	if (l->op == WEFT_OP_GETM) {
		m = weft_line_send(l, out, 0, WEFT_MSG_GETM, l->txn);
		if (l->state == WEFT_S && !l->revoking)
			m->flags = WEFT_F_HAVE;
	} else {
		weft_line_send(l, out, 0, WEFT_MSG_GETS, l->txn);
	}
	out->effects |= WEFT_DO_TIMER;
}

void weft_transaction_begin(struct weft_line *l, u8 op, u32 fresh)
{
	l->op = op;
	l->txn = weft_txn(l->self, fresh);
	l->granted = false;
	l->quiesced = false;
	l->busy = false;
	l->no_data = false;
	l->refused = false;
	l->poisoned = false;
	l->expecting = false;
	l->overdue = false;
	l->written = false;
	l->wb_wanted = false;
	l->uncommitted = false;
	l->downgraded = false;
	l->need_known = false;
	l->fetching = false;
	l->calling = false;
	l->dunned = false;
	l->adopted = false;
	l->lost = false;
	l->chase_home = false;
	l->acked = 0;
	l->loans = 0;
	l->returned = 0;
	l->provider_nonce = 0;
	l->provider_id = 0;
	l->in_frags = 0;
	l->in_whole = false;
	l->landed = l->landing; /* a landing that is closing: no other one before that */
	l->in_version = 0;
	l->wb_version = 0;
	l->tries = 0;
}

bool weft_line_unexpect(struct weft_line *l, struct weft_out *out)
{
	weft_out_init(out);
	if (!l->expecting || l->need_known)
		return false;
	weft_transaction_finish(l, out);
	return true;
}

void weft_transaction_take(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	weft_transaction_begin(l, WEFT_OP_TAKE, fresh);
	weft_line_send(l, out, 0, WEFT_MSG_PUT, l->txn);
	out->effects |= WEFT_DO_TIMER;
}

void weft_transaction_send_commit(struct weft_line *l, struct weft_out *out)
{
	struct weft_msg *m = weft_line_send(l, out, 0, WEFT_MSG_COMMIT, l->txn);

	m->status = (u8)l->new_status;
	m->copyset = l->new_copyset;
	m->grant = l->grant;
	if (l->provider_nonce) {
		m->provider = weft_node_bit(l->provider_id);
		m->nonce = l->provider_nonce;
	}
	out->effects |= WEFT_DO_TIMER;
}

void weft_transaction_commit(struct weft_line *l, u32 status, u32 copyset, struct weft_out *out)
{
	l->op = WEFT_OP_COMMIT;
	l->tries = 0;
	l->new_status = status;
	l->new_copyset = copyset;
	if (status == WEFT_M)
		l->owned = l->grant | WEFT_GRANT_OWNED;
	weft_transaction_send_commit(l, out);
}

void weft_transaction_abort(struct weft_line *l, u32 txn, u32 grant, struct weft_out *out)
{
	weft_line_send(l, out, 0, WEFT_MSG_ABORT, txn)->grant = grant;
}

void weft_transaction_chase(struct weft_line *l, const struct weft_msg *msg, u8 n,
			    struct weft_out *out)
{
	u32 member = weft_txn_member(msg->holder);
	struct weft_msg *m;

	if (member == l->self) {
		weft_transaction_abort(l, msg->holder, msg->grant, out);
	} else if (weft_chase_is_due(n)) {
		/* in turns: the home answers for a member that has left the rack */
		m = weft_line_send(l, out, l->chase_home ? 0 : (u8)member,
				   WEFT_MSG_CHASE, msg->txn);
		m->holder = msg->holder;
		m->grant = msg->grant;
		l->chase_home = !l->chase_home;
	}
}

/* --- migratory lines --------------------------------------------------------------------- */

static u32 needed(const struct weft_migratory *m)
{
	return WEFT_MIGRATORY_FIRST + m->needed;
}

u8 weft_migratory_ask(const struct weft_migratory *m)
{
	return m->seen >= needed(m) ? WEFT_M : WEFT_S;
}

void weft_migratory_came(struct weft_migratory *m, enum weft_came how)
{
	/* an upgrade belongs to the visit that the read began */
	if (how == WEFT_CAME_UPGRADE) {
		m->wrote = true;
		return;
	}
	m->read = how == WEFT_CAME_READ || how == WEFT_CAME_GUESSED;
	m->guessed = how == WEFT_CAME_GUESSED;
	m->wrote = false;
}

static void guessed_wrong(struct weft_migratory *m)
{
	m->seen /= 2;
	if (m->seen >= needed(m))
		return;
	m->needed = 2 * needed(m) > WEFT_MIGRATORY_MOST ?
		    WEFT_MIGRATORY_MOST - WEFT_MIGRATORY_FIRST :
		    (u8)(2 * needed(m) - WEFT_MIGRATORY_FIRST);
}

bool weft_migratory_ends(struct weft_migratory *m, bool taken)
{
	bool right = !m->guessed || m->wrote;

	if (!right)
		guessed_wrong(m);
	else if (m->read && taken && !m->wrote)
		m->seen /= 2;
	else if (m->read && taken && m->seen < WEFT_MIGRATORY_MOST)
		m->seen++;
	if (m->guessed && m->wrote && m->needed)
		m->needed--;
	m->read = m->wrote = m->guessed = false;
	return right;
}
