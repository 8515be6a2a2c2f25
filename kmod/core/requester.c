// SPDX-License-Identifier: GPL-2.0-only
/* Requests of this node and their answers, see requester.h. */
#include "gather.h"
#include "provider.h"
#include "requester.h"

/* --- landings ----------------------------------------------------------- */

/* A request of this node, not a READ that a provider relays for another one. */
static bool asks(const struct weft_msg *msg)
{
	return msg->type == WEFT_MSG_GETS || msg->type == WEFT_MSG_GETM ||
	       (msg->type == WEFT_MSG_READ && !(msg->flags & WEFT_F_RELAY));
}

bool weft_line_may_land(const struct weft_line *l, const struct weft_msg *msg)
{
	return asks(msg) && msg->txn == l->txn && l->state == WEFT_I &&
	       !l->landing && !l->landed && !l->in_frags;
}

void weft_line_landing_open(struct weft_line *l)
{
	l->landing = true;
	l->landed = true;
}

void weft_line_landing_closed(struct weft_line *l)
{
	l->landing = false;
}

/* --- requests ----------------------------------------------------------- */

void weft_line_want(struct weft_line *l, u8 perm, u32 fresh, struct weft_out *out)
{
	weft_out_init(out);
	if (weft_line_perm(l) >= perm || !weft_line_idle(l))
		return;
	l->nacks = 0;
	if (l->state == WEFT_M) {
		/* lent: no node may write what others read */
		weft_gather_call_back(l, fresh, out);
		return;
	}
	weft_transaction_begin(l, perm == WEFT_M ? WEFT_OP_GETM : WEFT_OP_GETS, fresh);
	weft_transaction_request(l, out);
}

bool weft_line_expect(struct weft_line *l, u8 perm, u32 txn, struct weft_out *out)
{
	weft_out_init(out);
	/* retained data is no obstacle: it goes when the line comes round to this node */
	if (weft_line_perm(l) >= perm || l->state == WEFT_M ||
	    l->op != WEFT_OP_NONE || l->revoking)
		return false;
	l->nacks = 0;
	weft_transaction_begin(l, perm == WEFT_M ? WEFT_OP_GETM : WEFT_OP_GETS, txn);
	l->expecting = true;
	out->effects = WEFT_DO_TIMER;
	return true;
}

void weft_requester_leave(struct weft_line *l, struct weft_out *out)
{
	if (l->state == WEFT_I || l->held) {
		weft_transaction_finish(l, out); /* it has left already */
		return;
	}
	l->quiesced = true;
	if (l->state == WEFT_M) {
		weft_line_raise(l);
		weft_line_send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
	}
	weft_line_send(l, out, 0, WEFT_MSG_PUT, l->txn);
	out->effects |= WEFT_DO_TIMER;
}

bool weft_line_evict(struct weft_line *l, bool quiet, u32 fresh, struct weft_out *out)
{
	weft_out_init(out);
	if (!weft_line_idle(l) || l->state == WEFT_I)
		return false;
	if (quiet && l->state == WEFT_S)
		l->quiet = true;
	else
		weft_transaction_begin(l, WEFT_OP_PUT, fresh);
	l->revoking = 2;
	l->rq.type = 0;
	out->effects = WEFT_DO_REVOKE;
	return true;
}

bool weft_line_clean(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	bool asked = l->revoking == 2 && l->rq.type == WEFT_MSG_INV;

	weft_out_init(out);
	/* after an INV: as if the write-back had begun before it */
	if (l->state != WEFT_M || l->op != WEFT_OP_NONE || l->held || (l->revoking && !asked))
		return false;
	weft_transaction_begin(l, WEFT_OP_CLEAN, fresh);
	weft_line_raise(l);
	weft_line_send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
	out->effects = WEFT_DO_TIMER;
	return true;
}

/* The write-back; and what weft_requester_give_back() waits for besides. */
static void send_clean(struct weft_line *l, struct weft_out *out)
{
	if (!l->written) {
		weft_line_send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
		if (l->heir)
			out->send[out->n - 1].msg.flags = WEFT_F_LENT;
	}
	if (l->uncommitted)
		weft_transaction_send_commit(l, out);
	if (weft_line_returning(l))
		weft_gather_call_in(l, out);
}

void weft_requester_give_back(struct weft_line *l, const struct weft_line *was, u32 fresh,
			      struct weft_out *out)
{
	weft_transaction_begin(l, WEFT_OP_CLEAN, fresh);
	l->lent = was->lent & ~was->back;
	if (was->op == WEFT_OP_COMMIT && was->new_status == WEFT_M && !l->heir) {
		l->uncommitted = true;
		l->txn = was->txn;
		l->grant = was->grant;
		l->new_status = was->new_status;
		l->new_copyset = was->new_copyset;
		l->provider_nonce = was->provider_nonce;
		l->provider_id = was->provider_id;
	}
	/* the data stays until it is at home */
	out->effects &= ~WEFT_DO_FREE;
	out->effects |= WEFT_DO_WAKE | WEFT_DO_TIMER;
	send_clean(l, out);
}

void weft_requester_given_back(struct weft_line *l, struct weft_out *out)
{
	bool late = l->tries >= WEFT_RETURN_TRIES;

	/* all nodes wait for an heir, and the home may be down */
	if (!l->written && !(l->heir && late))
		return;
	if (weft_line_returning(l)) {
		if ((l->uncommitted || l->lent & ~l->back) && !late)
			return;
		weft_line_unlend(l);
		l->heir = false;
	}
	weft_transaction_finish(l, out);
}

/* --- answers to our transaction ------------------------------------------ */

/* Data that was given away is ours again if no node has taken it: the entry's lock bars them. */
static void recv_take_grant(struct weft_line *l, const struct weft_msg *msg,
			    struct weft_out *out)
{
	if (l->revoking)
		return;
	if (l->state == WEFT_M) {
		/* no order to give the line up has come, so this node is the owner */
		weft_gather_entry(l, msg);
		weft_gather_taken(l, out);
		return;
	}
	if (l->held && msg->status == WEFT_M && (msg->copyset & weft_line_me(l))) {
		weft_gather_entry(l, msg);
		l->state = WEFT_M;
		l->held = WEFT_HELD_NONE;
		out->effects |= WEFT_DO_WAKE;
		weft_transaction_commit(l, WEFT_M, weft_line_me(l), out);
		return;
	}
	weft_transaction_abort(l, msg->txn, msg->grant, out);
	weft_transaction_finish(l, out);
	if (l->held)
		weft_line_release(l, out);
}

static void recv_grant(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out)
{
	u32 rest = msg->copyset & ~weft_line_me(l);

	if (l->op == WEFT_OP_TAKE) {
		recv_take_grant(l, msg, out);
		return;
	}
	if (l->op == WEFT_OP_GETM) {
		weft_gather_no_data(l, msg, out);
		return;
	}
	if (l->op == WEFT_OP_GETS) {
		weft_gather_home(l, out);
		return;
	}
	if (l->op != WEFT_OP_PUT || l->revoking)
		return;
	if (!(msg->copyset & weft_line_me(l))) {
		/* another node has taken the line meanwhile */
		weft_transaction_abort(l, msg->txn, msg->grant, out);
		weft_transaction_finish(l, out);
		return;
	}
	l->granted = true;
	weft_gather_entry(l, msg);
	if (msg->status == WEFT_M) {
		l->new_copyset = l->lent & ~l->back;
		l->new_status = l->new_copyset ? WEFT_S : WEFT_I;
		return;
	}
	l->new_copyset = rest;
	l->new_status = rest ? WEFT_S : WEFT_I;
}

/* PUT: leave when the directory agrees and the home has what we modified. */
static void check_put(struct weft_line *l, struct weft_out *out)
{
	if (l->op != WEFT_OP_PUT || !l->granted || (l->status == WEFT_M && !l->written))
		return;
	l->state = WEFT_I;
	weft_line_unlend(l);
	weft_transaction_commit(l, l->new_status, l->new_copyset, out);
}

static void recv_wb_ack(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out)
{
	if (l->op == WEFT_OP_GETS) {
		weft_gather_written(l, msg, out);
		return;
	}
	if (msg->version < l->version)
		return;
	l->written = true;
	if (l->op == WEFT_OP_CLEAN)
		weft_requester_given_back(l, out);
	else if (l->op == WEFT_OP_PUT)
		check_put(l, out);
}

static void recv_nack(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out)
{
	if (l->busy || l->op == WEFT_OP_COMMIT || l->op == WEFT_OP_CLEAN || l->granted)
		return; /* a late copy of the request was refused */
	if (msg->info == WEFT_WHY_NO_LINE) {
		out->effects |= WEFT_DO_FAIL;
		weft_transaction_finish(l, out);
		return;
	}
	out->effects |= WEFT_DO_TIMER | WEFT_DO_BACKOFF;
	l->refused = true;
	if (l->nacks < 255)
		l->nacks++;
	/* an expected line (@overdue): chase at once, as the next one waits for this node, too */
	if (msg->info == WEFT_WHY_BUSY)
		weft_transaction_chase(l, msg, l->overdue ? 0 : l->nacks, out);
}

/* A node has given back what this node had lent it before the home's new life. */
static void called_in(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out)
{
	weft_provider_returned(l, msg, out);
	weft_requester_given_back(l, out);
}

void weft_requester_chased(struct weft_line *l, const struct weft_msg *msg,
			   struct weft_out *out)
{
	if (weft_txn_member(msg->holder) != l->self)
		return;
	if (l->op == WEFT_OP_NONE || l->txn != msg->holder ||
	    (l->need_known && l->grant != msg->grant))
		weft_transaction_abort(l, msg->holder, msg->grant, out);
	else if (l->expecting && l->held)
		weft_provider_timeout(l, out);
	else if (l->expecting)
		weft_requester_timeout(l, out); /* others wait for the same line */
}

void weft_requester_recv(struct weft_line *l, const struct weft_msg *msg,
			 u32 fresh, struct weft_out *out)
{
	bool busy = msg->flags & WEFT_F_BUSY;

	if (weft_txn_member(msg->txn) != l->self)
		return;
	/* a node that was lent the line need not know the transaction that wants it back */
	if (msg->type == WEFT_MSG_INV_ACK && !busy && l->lent && msg->version == l->version) {
		weft_provider_returned(l, msg, out);
		if (l->op == WEFT_OP_TAKE)
			weft_gather_taken(l, out);
		else if (weft_line_returning(l))
			weft_requester_given_back(l, out);
		return;
	}
	if (l->op == WEFT_OP_NONE || msg->txn != l->txn ||
	    (busy && l->need_known && msg->grant != l->grant)) {
		/*
		 * A late copy of a request holds the entry's lock.  One ABORT for an answer, not
		 * for each of its fragments.
		 */
		if (busy && !msg->offset)
			weft_transaction_abort(l, msg->txn, msg->grant, out);
		return;
	}
	if (l->landing && (msg->type == WEFT_MSG_DATA || msg->type == WEFT_MSG_PASSED)) {
		out->effects = WEFT_DO_CLOSE | WEFT_DO_AGAIN;
		return;
	}
	switch (msg->type) {
	case WEFT_MSG_DATA:
	case WEFT_MSG_LANDED:
		if (l->op == WEFT_OP_GETS || (l->op == WEFT_OP_GETM && busy))
			weft_gather_data(l, msg, fresh, out);
		break;
	case WEFT_MSG_PASSED:
		/* a reader that expects the line has to ask for it */
		if (l->op == WEFT_OP_GETM)
			weft_gather_data(l, msg, fresh, out);
		break;
	case WEFT_MSG_INV_ACK:
		if (!busy && l->op == WEFT_OP_GETM)
			weft_gather_returned(l, msg, out);
		else if (!busy && l->calling)
			weft_gather_call_on(l, out);
		else if (busy && (l->op == WEFT_OP_GETM || l->op == WEFT_OP_TAKE))
			weft_gather_ack(l, msg, out);
		else if (busy && weft_line_returning(l))
			called_in(l, msg, out);
		break;
	case WEFT_MSG_GRANT:
		recv_grant(l, msg, out);
		check_put(l, out);
		break;
	case WEFT_MSG_NACK:
		recv_nack(l, msg, out);
		break;
	case WEFT_MSG_WB_ACK:
		recv_wb_ack(l, msg, out);
		break;
	case WEFT_MSG_COMMIT_ACK:
		if (l->op == WEFT_OP_COMMIT) {
			weft_transaction_finish(l, out);
		} else if (l->uncommitted) {
			l->uncommitted = false;
			weft_requester_given_back(l, out);
		}
		break;
	default:
		break;
	}
}

void weft_requester_timeout(struct weft_line *l, struct weft_out *out)
{
	switch (l->op) {
	case WEFT_OP_GETS:
	case WEFT_OP_GETM:
		weft_gather_timeout(l, out);
		break;
	case WEFT_OP_PUT:
		if (l->revoking)
			break;
		if ((l->state == WEFT_M || l->held) && !l->written && !l->refused)
			weft_line_send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
		if (!l->granted)
			weft_line_send(l, out, 0, WEFT_MSG_PUT, l->txn);
		break;
	case WEFT_OP_TAKE:
		if (l->need_known)
			weft_gather_taken(l, out);
		else
			weft_gather_call_on(l, out);
		break;
	case WEFT_OP_CLEAN:
		weft_requester_given_back(l, out);
		if (l->op == WEFT_OP_CLEAN)
			send_clean(l, out);
		break;
	case WEFT_OP_COMMIT:
		weft_transaction_send_commit(l, out);
		break;
	default:
		break;
	}
}
