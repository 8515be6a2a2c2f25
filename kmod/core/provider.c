// SPDX-License-Identifier: GPL-2.0-only
/* Orders for this node's copy, loans, retained data; see provider.h. */
#include "provider.h"

/* --- orders ---------------------------------------------------------------- */

static bool is_owner(const struct weft_line *l)
{
	return l->rq.status == WEFT_M && (l->rq.copyset & weft_line_me(l));
}

static struct weft_msg *answer(struct weft_line *l, struct weft_out *out,
			       u8 type, bool with_data)
{
	struct weft_msg *m = weft_line_send(l, out, (u8)weft_txn_member(l->rq.txn),
					    type, l->rq.txn);

	m->flags = l->rq.flags & (WEFT_F_BUSY | WEFT_F_SWITCH | WEFT_F_EXCL);
	m->status = l->rq.status;
	m->copyset = l->rq.copyset;
	m->grant = l->rq.grant;
	m->provider = l->rq.provider;
	m->holder = l->rq.status == WEFT_M ? l->lent & ~l->back : 0;
	m->version = l->version;
	out->send[out->n - 1].with_data = with_data;
	if (with_data)
		out->send[out->n - 1].landing = l->rq.landing;
	return m;
}

/* Retain the data for the transaction in @rq, under a new nonce for a new transaction. */
static void retain(struct weft_line *l, u8 held, u32 fresh)
{
	if (l->held == WEFT_HELD_NONE || l->held_txn != l->rq.txn) {
		l->held_txn = l->rq.txn;
		l->nonce = weft_txn(l->self, fresh);
	}
	l->held = held;
	l->held_grant = l->rq.grant;
}

/*
 * Stop being the owner.  That ends WEFT_OP_CLEAN: the data leaves by another way; and TAKE that the
 * directory has not heard of.  The caller retains the data next.
 */
static void leave_m(struct weft_line *l, u8 state, struct weft_out *out)
{
	weft_line_raise(l);
	l->state = state;
	l->loaned = false;
	if (l->op == WEFT_OP_CLEAN || l->calling) {
		l->calling = false;
		l->op = WEFT_OP_NONE;
		out->effects |= WEFT_DO_WAKE;
	}
}

static void give(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	retain(l, WEFT_HELD_GIVEN, fresh);
	answer(l, out, WEFT_MSG_DATA, true)->nonce = l->nonce;
	out->effects |= WEFT_DO_TIMER;
}

static void give_and_write_back(struct weft_line *l, u8 held, u32 fresh, struct weft_out *out)
{
	retain(l, held, fresh);
	answer(l, out, WEFT_MSG_DATA, true)->nonce = l->nonce;
	weft_line_send_data(l, out, 0, WEFT_MSG_WB, l->rq.txn, 0);
	out->effects |= WEFT_DO_TIMER;
}

/* INV, when no program uses the copy any more. */
static void obey_inv(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	if (l->state == WEFT_M) {
		if (!is_owner(l))
			return; /* out of date, see inv() */
		leave_m(l, WEFT_I, out);
		give(l, fresh, out);
		return;
	}
	if (l->held && is_owner(l)) {
		l->state = WEFT_I;
		give(l, fresh, out);
		return;
	}
	if (l->state == WEFT_S && l->rq.provider == weft_line_me(l))
		answer(l, out, WEFT_MSG_DATA, true);
	else
		answer(l, out, WEFT_MSG_INV_ACK, false);
	l->state = WEFT_I;
	if (l->op == WEFT_OP_GETS)
		l->poisoned = true;
	weft_line_settle(l, out);
}

static void inv(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	/*
	 * From its grant on the directory sends the owner INV as the owner only.  Any other INV is
	 * from before that, and its requester has given up or is done.
	 */
	if (l->state == WEFT_M && !is_owner(l)) {
		/* or of a former owner, see weft_line_return(): what it had lent is not here */
		if (l->rq.status != WEFT_M)
			answer(l, out, WEFT_MSG_INV_ACK, false);
		return;
	}
	if (l->state == WEFT_I || (l->op == WEFT_OP_PUT && l->quiesced)) {
		obey_inv(l, fresh, out);
		return;
	}
	l->revoking = 2;
	out->effects |= WEFT_DO_REVOKE;
}

/* FWD, when no program may write any more: hand out the data and keep a copy to read. */
static void obey_fwd(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	if (l->state != WEFT_M || !is_owner(l))
		return;
	leave_m(l, WEFT_S, out);
	give_and_write_back(l, WEFT_HELD_PINNED, fresh, out);
}

static void relay(struct weft_line *l, struct weft_out *out)
{
	struct weft_msg *m = answer(l, out, WEFT_MSG_READ, false);

	m->flags |= WEFT_F_RELAY;
	out->send[out->n - 1].to = 0;
	out->send[out->n - 1].landing = l->rq.landing;
}

/* No program may write: lend the line to a node that has asked, which commits an unchanged entry. */
static void lend_asked(struct weft_line *l, struct weft_out *out)
{
	weft_line_raise(l);
	l->lent |= weft_node_bit(weft_txn_member(l->rq.txn));
	l->owned = l->rq.grant;
	answer(l, out, WEFT_MSG_DATA, true)->flags |= WEFT_F_LENT;
}

/* Is one more node that asks lent the line?  All that read under a lock are. */
static bool lends_more(const struct weft_line *l)
{
	return (l->lent && l->unasked) || weft_line_count(l->lent) < WEFT_LOANS;
}

/* Lend once to each node: a node that asks again may have given the line back already. */
static bool may_lend(const struct weft_line *l)
{
	u32 bit = weft_node_bit(weft_txn_member(l->rq.txn));

	return l->lent & bit ? l->owned == l->rq.grant : lends_more(l);
}

static void fwd(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	if (l->state == WEFT_M) {
		if (!is_owner(l))
			return;
		if (l->op == WEFT_OP_PUT && l->quiesced) {
			obey_fwd(l, fresh, out);
			return;
		}
		if (l->lent && may_lend(l)) {
			lend_asked(l, out);
			return;
		}
		l->revoking = 1;
		out->effects |= WEFT_DO_PROTECT;
	} else if (is_owner(l) && l->held) {
		give_and_write_back(l, l->held, fresh, out);
	} else if (l->state == WEFT_S) {
		answer(l, out, WEFT_MSG_DATA, true);
	} else {
		relay(l, out);
	}
}

/*
 * Give away what no node has asked for yet, when programs have no access.  The directory sends it
 * on unless another transaction takes the line meanwhile.
 */
static void obey_pass(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	struct weft_msg *m;

	leave_m(l, WEFT_I, out);
	retain(l, WEFT_HELD_GIVEN, fresh);
	weft_line_send_data(l, out, 0, WEFT_MSG_PASS, l->rq.txn, l->nonce);
	m = &out->send[out->n - 1].msg;
	m->grant = l->rq.grant;
	m->holder = l->lent & ~l->back;
	out->effects |= WEFT_DO_TIMER;
}

bool weft_line_pass(struct weft_line *l, u32 txn, struct weft_out *out)
{
	u32 to = weft_txn_member(txn);

	weft_out_init(out);
	if (l->state != WEFT_M || !weft_line_idle(l) || !weft_node_bit(to) || to == l->self)
		return false;
	l->rq.type = WEFT_MSG_PASS;
	l->rq.txn = txn;
	l->rq.grant = l->owned;
	l->revoking = 2;
	out->effects = WEFT_DO_REVOKE;
	return true;
}

/* No program may write: the other node may read, too. */
static void lend_unasked(struct weft_line *l, u32 txn, struct weft_out *out)
{
	weft_line_raise(l);
	l->lent |= weft_node_bit(weft_txn_member(txn));
	l->unasked = true;
	weft_line_send_data(l, out, (u8)weft_txn_member(txn), WEFT_MSG_DATA, txn, 0);
	out->send[out->n - 1].msg.flags = WEFT_F_LENT;
}

bool weft_line_lend(struct weft_line *l, u32 txn, struct weft_out *out)
{
	u32 to = weft_txn_member(txn), bit = weft_node_bit(to);

	weft_out_init(out);
	/* once until this node writes again: a second return could not be told from the first */
	if (l->state != WEFT_M || !weft_line_idle(l) || !bit || to == l->self || l->lent & bit)
		return false;
	if (l->lent) {
		lend_unasked(l, txn, out);
		return true;
	}
	l->lending = txn;
	l->revoking = 1;
	out->effects = WEFT_DO_PROTECT;
	return true;
}

/*
 * The node that the line is lent to unasked may have asked meanwhile, and then has the entry's
 * lock: the answer must say so, as it will not ask again.
 */
static void obey_lend(struct weft_line *l, u32 txn, u8 type, struct weft_out *out)
{
	if (type == WEFT_MSG_FWD && l->rq.txn == txn && is_owner(l))
		lend_asked(l, out);
	else
		lend_unasked(l, txn, out);
}

void weft_provider_returned(struct weft_line *l, const struct weft_msg *msg,
			    struct weft_out *out)
{
	l->back |= l->lent & weft_node_bit(msg->src);
	if (l->lent & ~l->back)
		return;
	weft_line_unlend(l);
	out->effects |= WEFT_DO_WAKE;
}

/* No program reads any more what this node was lent: give it back. */
static void obey_yield(struct weft_line *l, struct weft_out *out)
{
	struct weft_msg *m;

	m = weft_line_send(l, out, (u8)weft_txn_member(l->rq.txn), WEFT_MSG_INV_ACK, l->rq.txn);
	m->version = l->version;
	l->state = WEFT_I;
}

bool weft_line_yield(struct weft_line *l, u32 txn, struct weft_out *out)
{
	u32 to = weft_txn_member(txn);

	weft_out_init(out);
	if (!l->loaned || l->state != WEFT_S || !weft_line_idle(l) ||
	    !weft_node_bit(to) || to == l->self)
		return false;
	l->rq.type = WEFT_MSG_INV_ACK;
	l->rq.txn = txn;
	l->revoking = 2;
	out->effects = WEFT_DO_REVOKE;
	return true;
}

/* Obey the order in @rq, or keep it until the host has revoked. */
static void take_order(struct weft_line *l, u8 type, u32 fresh, struct weft_out *out)
{
	if (type == WEFT_MSG_INV)
		inv(l, fresh, out);
	else
		fwd(l, fresh, out);
	l->rq.type = l->revoking ? type : 0;
}

/*
 * To an owner, of a later reader than that of the order which waits: that one does not have the
 * entry's lock any more.  Who is lent the line meanwhile does not repeat its request.
 */
static bool is_newer(const struct weft_line *l, const struct weft_msg *msg)
{
	return l->state == WEFT_M && l->rq.type == WEFT_MSG_FWD && msg->type == WEFT_MSG_FWD &&
	       (int)(msg->grant - l->rq.grant) > 0;
}

void weft_provider_recv(struct weft_line *l, const struct weft_msg *msg,
			u32 fresh, struct weft_out *out)
{
	/* one order at a time; the requester of another repeats it */
	if (l->revoking && l->rq.type && !is_newer(l, msg))
		return;
	/* the entry's lock is ours: this order is older */
	if (l->op == WEFT_OP_TAKE && l->need_known)
		return;
	l->rq.flags = msg->flags;
	l->rq.status = msg->status;
	l->rq.txn = msg->txn;
	l->rq.copyset = msg->copyset;
	l->rq.grant = msg->grant;
	l->rq.provider = msg->provider;
	weft_landing_unpack(&l->rq.landing, msg);
	if (l->revoking)
		l->rq.type = msg->type; /* obeyed after the revocation under way */
	else
		take_order(l, msg->type, fresh, out);
}

/* Nothing of this node is under way, so it may go on as the owner of what it lends. */
static bool stays_owner(const struct weft_line *l)
{
	return l->state == WEFT_M && l->op == WEFT_OP_NONE && !l->held && is_owner(l) &&
	       may_lend(l);
}

static void obey(struct weft_line *l, u8 type, bool lend, u32 fresh, struct weft_out *out)
{
	if (type == WEFT_MSG_INV)
		obey_inv(l, fresh, out);
	else if (type == WEFT_MSG_FWD && lend && stays_owner(l))
		lend_asked(l, out);
	else if (type == WEFT_MSG_FWD && l->state == WEFT_M)
		obey_fwd(l, fresh, out);
	else if (type == WEFT_MSG_FWD)
		fwd(l, fresh, out);
	else if (type == WEFT_MSG_PASS)
		obey_pass(l, fresh, out);
	else if (type == WEFT_MSG_INV_ACK)
		obey_yield(l, out);
}

void weft_provider_revoked(struct weft_line *l, bool lend, u32 fresh, struct weft_out *out)
{
	u32 lending = l->lending;
	u8 type = l->rq.type;

	l->rq.type = 0;
	l->lending = 0;
	if (!lending) {
		obey(l, type, lend, fresh, out);
		return;
	}
	obey_lend(l, lending, type, out);
	/* an order of another node that came meanwhile may need a further revocation */
	if (type && l->rq.txn != lending)
		take_order(l, type, fresh, out);
}

/* --- retained data --------------------------------------------------------- */

void weft_provider_taken(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out)
{
	if (l->held && msg->nonce == l->nonce)
		weft_line_release(l, out);
}

void weft_provider_info(struct weft_line *l, const struct weft_msg *msg,
			u32 fresh, struct weft_out *out)
{
	if (!l->held || (l->op != WEFT_OP_NONE && !l->expecting) ||
	    l->revoking || msg->nonce != l->nonce)
		return;
	if (msg->status == WEFT_M && (msg->copyset & weft_line_me(l))) {
		/* out of date: since then the node that this one passed it to has asked */
		if ((int)(msg->grant - l->held_grant) < 0)
			return;
		/*
		 * Not taken, or not yet: any node that was given the data may be about to commit,
		 * not only that of @held_txn.  Or a late copy of a request holds the entry's lock,
		 * and no node is refused that would send CHASE.
		 */
		if (msg->holder) {
			weft_transaction_chase(l, msg, 0, out);
			return;
		}
		weft_line_unexpect(l, out);
		/*
		 * If no transaction has taken the entry's lock since this node became the owner, a
		 * late PASS of its own may yet take it, and its data must not be old then: take
		 * the lock first.
		 */
		if (msg->grant == l->owned) {
			weft_transaction_take(l, fresh, out);
			return;
		}
		l->state = WEFT_M;
		l->owned = msg->grant;
	}
	weft_line_release(l, out);
}

void weft_provider_timeout(struct weft_line *l, struct weft_out *out)
{
	weft_line_send(l, out, 0, WEFT_MSG_QUERY, l->nonce)->nonce = l->nonce;
}
