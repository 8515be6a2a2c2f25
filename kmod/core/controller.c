// SPDX-License-Identifier: GPL-2.0-only
/* Which part of the cache controller an event is for, see controller.h. */
#include "controller.h"
#include "gather.h"

void weft_line_recv(struct weft_line *l, const struct weft_msg *msg, u32 fresh,
		    struct weft_out *out)
{
	weft_out_init(out);
	switch (msg->type) {
	case WEFT_MSG_INV:
	case WEFT_MSG_FWD:
		if (weft_node_bit(weft_txn_member(msg->txn)) &&
		    weft_txn_member(msg->txn) != l->self)
			weft_provider_recv(l, msg, fresh, out);
		break;
	case WEFT_MSG_COMMIT_ACK:
		if (weft_line_taken(l, msg))
			weft_provider_taken(l, msg, out);
		else
			weft_requester_recv(l, msg, fresh, out);
		break;
	case WEFT_MSG_INFO:
		weft_provider_info(l, msg, fresh, out);
		break;
	case WEFT_MSG_CHASE:
		weft_requester_chased(l, msg, out);
		break;
	case WEFT_MSG_LANDED:
		weft_line_landing_closed(l);
		weft_requester_recv(l, msg, fresh, out);
		break;
	default:
		weft_requester_recv(l, msg, fresh, out);
		break;
	}
}

void weft_line_members(struct weft_line *l, u32 members)
{
	l->lent &= members;
	l->back &= members;
	l->loans &= members;
}

bool weft_line_gone(struct weft_line *l, u32 dead, struct weft_out *out)
{
	weft_out_init(out);
	if (l->lent && !(l->lent & ~l->back & ~dead)) {
		/* the living have given it back: this node may write again */
		weft_line_unlend(l);
		out->effects |= WEFT_DO_WAKE;
	}
	weft_line_members(l, ~dead);
	/* a loan to a dead node is off: nothing follows the revocation */
	if (weft_node_bit(weft_txn_member(l->lending)) & dead)
		l->lending = 0;
	if (l->op == WEFT_OP_GETS || l->op == WEFT_OP_GETM)
		weft_gather_gone(l, dead, out);
	else if (l->op == WEFT_OP_TAKE)
		weft_gather_taken(l, out);
	else if (weft_line_returning(l))
		weft_requester_given_back(l, out);
	if (l->state != WEFT_S || !l->loaned)
		return !l->heir;
	/* an order that came meanwhile is repeated, and finds the copy gone */
	l->heir |= (weft_node_bit(l->lender) & dead) != 0;
	l->quiet = true;
	l->revoking = 2;
	l->rq.type = 0;
	out->effects |= WEFT_DO_REVOKE;
	return false;
}

/* Nobody else may have what a dead owner had lent: it goes home, and is not lost. */
static void bequeath(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	struct weft_line was = *l;

	weft_line_forget(l, out);
	l->version = was.version;
	l->heir = true;
	weft_requester_give_back(l, &was, fresh, out);
}

void weft_line_revoked(struct weft_line *l, bool lend, u32 fresh, struct weft_out *out)
{
	weft_out_init(out);
	if (!l->revoking)
		return;
	l->revoking = 0;
	if (l->heir && l->state == WEFT_S) {
		bequeath(l, fresh, out);
		return;
	}
	/* it has become the owner meanwhile */
	l->heir = false;
	weft_provider_revoked(l, lend, fresh, out);

	if (l->quiet) {
		l->quiet = false;
		if (l->state == WEFT_S && !l->held)
			l->state = WEFT_I;
	} else if (l->op == WEFT_OP_PUT) {
		weft_requester_leave(l, out);
	}
	out->effects |= WEFT_DO_WAKE;
	weft_line_settle(l, out);
}

void weft_line_timeout(struct weft_line *l, struct weft_out *out)
{
	weft_out_init(out);
	if (l->tries < 255)
		l->tries++;
	/* a node that expects the line may turn out to own it: settle that first */
	if (l->op != WEFT_OP_NONE && !(l->expecting && l->held))
		weft_requester_timeout(l, out);
	else if (l->held && !l->revoking)
		weft_provider_timeout(l, out);
	l->refused = false;
	if (!weft_line_idle(l))
		out->effects |= WEFT_DO_TIMER;
}

bool weft_line_return(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	/* a reader may wait for a write-back that does not come any more */
	bool alone = l->state == WEFT_M || l->held ||
		     (l->state == WEFT_S && l->op == WEFT_OP_GETS);
	/*
	 * Lent data has a new version already.  A node that it was lent to may own the line by
	 * now, in a switch that lives on, and have written: its data has to be newer than this.
	 */
	u64 version = l->version + (l->state == WEFT_M && !l->lent);
	struct weft_line was;

	if (weft_line_returning(l)) {
		weft_out_init(out);
		return true;
	}
	was = *l;
	weft_line_forget(l, out);
	if (!alone)
		return false;
	l->version = version;
	weft_requester_give_back(l, &was, fresh, out);
	return true;
}

void weft_line_forget(struct weft_line *l, struct weft_out *out)
{
	bool landing = l->landing;
	u64 key = l->key;
	u8 self = l->self;

	weft_line_init(l, key, self);
	weft_out_init(out);
	out->effects = WEFT_DO_WAKE | WEFT_DO_FREE | (landing ? WEFT_DO_CLOSE : 0);
	l->landing = landing;
}
