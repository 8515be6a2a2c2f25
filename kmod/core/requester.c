// SPDX-License-Identifier: GPL-2.0-only
/* The outstanding transaction of a line, see line_parts.h. */
#include "line_parts.h"

static void finish(struct weft_line *l, struct weft_out *out)
{
	l->op = WEFT_OP_NONE;
	l->expecting = false;
	l->nacks = 0;
	l->tries = 0;
	out->effects |= WEFT_DO_WAKE;
	weft_line_settle(l, out);
}

/* --- requests ----------------------------------------------------------- */

static void request(struct weft_line *l, struct weft_out *out)
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

static void begin(struct weft_line *l, u8 op, u32 fresh)
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
	l->downgraded = false;
	l->need_known = false;
	l->fetching = false;
	l->dunned = false;
	l->acked = 0;
	l->loans = 0;
	l->returned = 0;
	l->provider_nonce = 0;
	l->in_frags = 0;
	l->in_whole = false;
	l->in_version = 0;
	l->wb_version = 0;
	l->tries = 0;
}

void weft_line_want(struct weft_line *l, u8 perm, u32 fresh,
		    struct weft_out *out)
{
	out->effects = 0;
	out->n = 0;
	if (weft_line_perm(l) >= perm || !weft_line_idle(l))
		return;
	l->nacks = 0;
	if (l->state == WEFT_M) {
		/* lent: what others read we may not write */
		weft_requester_take(l, fresh, out);
		return;
	}
	begin(l, perm == WEFT_M ? WEFT_OP_GETM : WEFT_OP_GETS, fresh);
	request(l, out);
}

bool weft_line_expect(struct weft_line *l, u8 perm, u32 txn,
		      struct weft_out *out)
{
	out->effects = 0;
	out->n = 0;
	/* data may be retained: it goes when the line comes round to us */
	if (weft_line_perm(l) >= perm || l->state == WEFT_M ||
	    l->op != WEFT_OP_NONE || l->revoking)
		return false;
	l->nacks = 0;
	begin(l, perm == WEFT_M ? WEFT_OP_GETM : WEFT_OP_GETS, txn);
	l->expecting = true;
	out->effects = WEFT_DO_TIMER;
	return true;
}

bool weft_line_unexpect(struct weft_line *l, struct weft_out *out)
{
	out->effects = 0;
	out->n = 0;
	if (!l->expecting || l->need_known)
		return false;
	finish(l, out);
	return true;
}

void weft_requester_take(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	begin(l, WEFT_OP_TAKE, fresh);
	weft_line_send(l, out, 0, WEFT_MSG_PUT, l->txn);
	out->effects |= WEFT_DO_TIMER;
}

void weft_requester_leave(struct weft_line *l, struct weft_out *out)
{
	if (l->state == WEFT_I || l->held) {
		finish(l, out); /* it has left already */
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

bool weft_line_evict(struct weft_line *l, bool quiet, u32 fresh,
		     struct weft_out *out)
{
	out->effects = 0;
	out->n = 0;
	if (!weft_line_idle(l) || l->state == WEFT_I)
		return false;
	if (quiet && l->state == WEFT_S)
		l->quiet = true;
	else
		begin(l, WEFT_OP_PUT, fresh);
	l->revoking = 2;
	l->rq.type = 0;
	out->effects = WEFT_DO_REVOKE;
	return true;
}

bool weft_line_clean(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	out->effects = 0;
	out->n = 0;
	if (!weft_line_idle(l) || l->state != WEFT_M)
		return false;
	begin(l, WEFT_OP_CLEAN, fresh);
	weft_line_raise(l);
	weft_line_send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
	out->effects = WEFT_DO_TIMER;
	return true;
}

void weft_requester_give_back(struct weft_line *l, u32 fresh,
			      struct weft_out *out)
{
	begin(l, WEFT_OP_CLEAN, fresh);
	weft_line_send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
	out->effects = WEFT_DO_WAKE | WEFT_DO_TIMER;
}

/* --- end of a transaction ------------------------------------------------ */

static void send_commit(struct weft_line *l, struct weft_out *out)
{
	struct weft_msg *m = weft_line_send(l, out, 0, WEFT_MSG_COMMIT, l->txn);

	m->status = (u8)l->new_status;
	m->copyset = l->new_copyset;
	m->grant = l->grant;
	out->effects |= WEFT_DO_TIMER;
}

/* What we retain is free as soon as the requester has it: it says so. */
static void send_done(struct weft_line *l, struct weft_out *out)
{
	if (!l->provider_nonce)
		return;
	weft_line_send(l, out, (u8)l->provider_id, WEFT_MSG_DONE, l->txn)->nonce =
		l->provider_nonce;
	l->provider_nonce = 0;
}

static void commit(struct weft_line *l, u32 status, u32 copyset,
		   struct weft_out *out)
{
	l->op = WEFT_OP_COMMIT;
	l->tries = 0;
	l->new_status = status;
	l->new_copyset = copyset;
	if (status == WEFT_M)
		l->owned = l->grant | WEFT_GRANT_OWNED;
	send_commit(l, out);
	send_done(l, out);
}

/* Tell the directory that nobody waits for a transaction that it granted. */
static void abort_txn(struct weft_line *l, u32 txn, u32 grant,
		      struct weft_out *out)
{
	weft_line_send(l, out, 0, WEFT_MSG_ABORT, txn)->grant = grant;
}

static bool in_complete(const struct weft_line *l, const struct weft_msg *msg)
{
	u32 n;

	if (!l->in_frags || !l->in_size)
		return false;
	n = (msg->size + l->in_size - 1) / l->in_size;
	return l->in_frags == (n >= 64 ? ~0ull : (1ull << n) - 1);
}

static void fetch(struct weft_line *l, struct weft_out *out)
{
	struct weft_msg *m = weft_line_send(l, out, 0, WEFT_MSG_READ, l->txn);

	l->fetching = true;
	m->flags = WEFT_F_BUSY | WEFT_F_EXCL;
	m->status = l->status;
	m->copyset = l->copyset;
	m->grant = l->grant;
	out->effects |= WEFT_DO_TIMER;
}

/*
 * The owner has lent the line, and who was lent it has not given it back: tell it
 * to, as the directory would.
 */
static void dun(struct weft_line *l, u32 nodes, struct weft_out *out)
{
	u8 id;

	l->dunned = true;
	for (id = WEFT_NODE_MIN; nodes && out->n < WEFT_OUT_MAX; id++) {
		struct weft_msg *m;

		if (!(nodes & weft_node_bit(id)))
			continue;
		nodes &= ~weft_node_bit(id);
		m = weft_line_send(l, out, id, WEFT_MSG_INV, l->txn);
		/* not to the owner, and not for data: it had that to send */
		m->flags = WEFT_F_BUSY;
		m->status = WEFT_S;
		m->copyset = l->copyset;
		m->provider = l->copyset;
		m->grant = l->grant;
	}
	out->effects |= WEFT_DO_TIMER;
}

/*
 * GETM: nodes that were lent the line and have not given it back.  An owner does not
 * lend a version twice to the same node.
 */
static u32 debtors(const struct weft_line *l)
{
	u64 version = l->in_frags ? l->in_version : l->version;
	u32 loans = l->loans & ~weft_line_me(l) & ~l->acked;

	return l->returned_version == version ? loans & ~l->returned : loans;
}

/*
 * GETM: everybody who had a copy answered, and the data is here, whatever came
 * last.
 */
static void check_getm(struct weft_line *l, struct weft_out *out)
{
	bool have = l->state == WEFT_S && !l->revoking;

	if (!l->need_known || (l->copyset & ~weft_line_me(l) & ~l->acked))
		return;
	if (debtors(l)) {
		if (!l->expecting && !l->dunned)
			dun(l, debtors(l), out);
		return;
	}
	if (!have && !l->in_whole) {
		if (l->no_data && !l->fetching)
			fetch(l, out);
		return;
	}
	if (!have)
		l->version = l->in_version;
	l->state = WEFT_M;
	l->expecting = false;
	out->effects |= WEFT_DO_WAKE;
	commit(l, WEFT_M, weft_line_me(l), out);
}

/* TAKE to write: those who were lent the line have given it up. */
static void check_take(struct weft_line *l, struct weft_out *out)
{
	u32 rest = l->lent & ~l->back & ~l->acked;

	if (l->state != WEFT_M || !l->need_known || l->revoking)
		return;
	if (rest) {
		dun(l, rest, out);
		return;
	}
	l->lent = l->back = 0;
	out->effects |= WEFT_DO_WAKE;
	commit(l, WEFT_M, weft_line_me(l), out);
}

/* GETM: everything is here but what those have who were lent the line. */
static bool only_debtors(const struct weft_line *l)
{
	bool have = l->state == WEFT_S && !l->revoking;

	return l->op == WEFT_OP_GETM && l->need_known && debtors(l) &&
	       (have || l->in_whole) && !(l->copyset & ~weft_line_me(l) & ~l->acked);
}

/* GETS with the entry's lock held: commit once the home has the data, too. */
static void check_gets_busy(struct weft_line *l, struct weft_out *out)
{
	if (!l->wb_wanted || l->wb_version >= l->in_version)
		commit(l, WEFT_S, l->copyset | l->loans | weft_line_me(l), out);
}

static void gets_data(struct weft_line *l, const struct weft_msg *msg, u32 fresh,
		      struct weft_out *out)
{
	if (!l->busy && l->poisoned) {
		/* an invalidation overtook it: it may be from before a write */
		begin(l, WEFT_OP_GETS, fresh);
		request(l, out);
		return;
	}
	l->version = l->in_version;
	l->state = WEFT_S;
	/* fragments that were lent before we asked may be among them */
	l->loaned = l->busy ? !l->downgraded : msg->flags & WEFT_F_LENT;
	out->effects |= WEFT_DO_WAKE;
	if (l->busy && l->loaned)
		commit(l, WEFT_M, l->copyset, out);
	else if (l->busy)
		check_gets_busy(l, out);
	else
		finish(l, out);
}

/* --- answers to our transaction ------------------------------------------ */

/*
 * Put a fragment into the block.  Fragments of one block may come from several
 * senders if they are of one version; older ones than we have are dropped.
 */
static bool take_fragment(struct weft_line *l, const struct weft_msg *msg,
			  struct weft_out *out)
{
	u32 frag = msg->info ? msg->offset / msg->info : 0;

	if (!msg->info || frag >= WEFT_FRAGS_MAX ||
	    (l->in_frags && msg->version < l->in_version))
		return false;
	if (msg->version != l->in_version || msg->info != l->in_size) {
		l->in_frags = 0;
		l->in_version = msg->version;
		l->in_size = msg->info;
	}
	if (!(l->in_frags & 1ull << frag))
		out->effects |= WEFT_DO_INSTALL;
	l->in_frags |= 1ull << frag;
	l->in_whole = in_complete(l, msg);
	return true;
}

static void note_entry(struct weft_line *l, const struct weft_msg *msg)
{
	l->need_known = true;
	l->busy = true;
	l->status = msg->status;
	l->copyset = msg->copyset;
	l->grant = msg->grant;
}

static void recv_data(struct weft_line *l, const struct weft_msg *msg,
		      u32 fresh, struct weft_out *out)
{
	bool have = l->state != WEFT_I && !l->revoking;
	bool data = false;

	if (l->op == WEFT_OP_GETS && l->state != WEFT_I) {
		/*
		 * A repetition while we wait for the write-back.  If it comes from
		 * the home, the owner has given up what it retained, and the home
		 * has it: see weft_line_return().
		 */
		if (weft_is_blade(msg->src) && msg->version >= l->in_version) {
			l->wb_version = msg->version;
			check_gets_busy(l, out);
		}
		return;
	}
	/* those who were lent the line give it back in their own time, see dun() */
	l->expecting = l->expecting && l->op == WEFT_OP_GETM &&
		       msg->type == WEFT_MSG_PASSED && msg->holder;
	/* it has gone round since we gave it away: that was taken */
	if (l->held)
		weft_provider_release(l, out);
	if (msg->flags & WEFT_F_BUSY) {
		note_entry(l, msg);
		l->downgraded |= !(msg->flags & WEFT_F_LENT);
		if (msg->status == WEFT_M)
			l->loans |= msg->holder;
	}
	if (!have && take_fragment(l, msg, out))
		data = l->in_whole;
	if (msg->nonce && msg->flags & WEFT_F_BUSY) {
		l->provider_nonce = msg->nonce;
		l->provider_id = msg->src;
	}
	if (l->op == WEFT_OP_GETM) {
		l->acked |= weft_node_bit(msg->src);
		check_getm(l, out);
	} else if (data) {
		/* whichever answer completes the data: the lock is what counts */
		l->wb_wanted = l->busy && l->status == WEFT_M &&
			       !weft_is_blade(msg->src);
		gets_data(l, msg, fresh, out);
	}
	if (l->op != WEFT_OP_NONE)
		out->effects |= WEFT_DO_TIMER;
}

/* A node gives back what it was lent, unasked. */
static void recv_returned(struct weft_line *l, const struct weft_msg *msg,
			  struct weft_out *out)
{
	if (msg->version != l->returned_version)
		l->returned = 0;
	l->returned_version = msg->version;
	l->returned |= weft_node_bit(msg->src);
	check_getm(l, out);
}

static void recv_inv_ack(struct weft_line *l, const struct weft_msg *msg,
			 struct weft_out *out)
{
	l->acked |= weft_node_bit(msg->src);
	if (l->op == WEFT_OP_TAKE) {
		check_take(l, out);
		return;
	}
	/* what who was lent the line repeats are our own words */
	if (!l->need_known)
		note_entry(l, msg);
	if (!msg->provider || msg->provider == weft_node_bit(msg->src))
		l->no_data = true;
	check_getm(l, out);
}

/* What we gave is ours again if it was not taken, and can never be taken now. */
static void recv_take_grant(struct weft_line *l, const struct weft_msg *msg,
			    struct weft_out *out)
{
	if (l->revoking)
		return;
	if (l->state == WEFT_M) {
		/* no order to give it up came, so it is ours */
		note_entry(l, msg);
		check_take(l, out);
		return;
	}
	if (l->held && msg->status == WEFT_M &&
	    (msg->copyset & weft_line_me(l))) {
		note_entry(l, msg);
		l->state = WEFT_M;
		l->held = WEFT_HELD_NONE;
		out->effects |= WEFT_DO_WAKE;
		commit(l, WEFT_M, weft_line_me(l), out);
		return;
	}
	abort_txn(l, msg->txn, msg->grant, out);
	finish(l, out);
	if (l->held)
		weft_provider_release(l, out);
}

static void recv_grant(struct weft_line *l, const struct weft_msg *msg,
		       struct weft_out *out)
{
	u32 rest = msg->copyset & ~weft_line_me(l);

	if (l->op == WEFT_OP_TAKE) {
		recv_take_grant(l, msg, out);
		return;
	}
	if (l->op == WEFT_OP_GETM) {
		note_entry(l, msg);
		l->no_data = true;
		check_getm(l, out);
		return;
	}
	if (l->op != WEFT_OP_PUT || l->revoking)
		return;
	if (!(msg->copyset & weft_line_me(l))) {
		/* taken from us while we asked to leave */
		abort_txn(l, msg->txn, msg->grant, out);
		finish(l, out);
		return;
	}
	l->granted = true;
	note_entry(l, msg);
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
	if (l->op != WEFT_OP_PUT || !l->granted ||
	    (l->status == WEFT_M && !l->written))
		return;
	l->state = WEFT_I;
	l->lent = l->back = 0;
	commit(l, l->new_status, l->new_copyset, out);
}

static void recv_wb_ack(struct weft_line *l, const struct weft_msg *msg,
			struct weft_out *out)
{
	if (l->op == WEFT_OP_GETS) {
		/* what counts is that the home has what we read */
		if (msg->version > l->wb_version)
			l->wb_version = msg->version;
		if (l->busy && l->in_frags && l->wb_wanted)
			check_gets_busy(l, out);
		return;
	}
	if (msg->version < l->version)
		return;
	l->written = true;
	if (l->op == WEFT_OP_CLEAN)
		finish(l, out);
	else if (l->op == WEFT_OP_PUT)
		check_put(l, out);
}

void weft_requester_chase(struct weft_line *l, const struct weft_msg *msg, u8 n,
			  struct weft_out *out)
{
	u32 member = weft_txn_member(msg->holder);
	struct weft_msg *m;

	if (member == l->self) {
		abort_txn(l, msg->holder, msg->grant, out);
	} else if (n % WEFT_CHASE_AFTER == 0) {
		m = weft_line_send(l, out, (u8)member, WEFT_MSG_CHASE, msg->txn);
		m->holder = msg->holder;
		m->grant = msg->grant;
	}
}

static void recv_nack(struct weft_line *l, const struct weft_msg *msg,
		      struct weft_out *out)
{
	if (l->busy || l->op == WEFT_OP_COMMIT || l->op == WEFT_OP_CLEAN ||
	    l->granted)
		return; /* a late copy of the request was refused */
	if (msg->info == WEFT_WHY_NO_LINE) {
		out->effects |= WEFT_DO_FAIL;
		finish(l, out);
		return;
	}
	out->effects |= WEFT_DO_TIMER | WEFT_DO_BACKOFF;
	l->refused = true;
	if (l->nacks < 255)
		l->nacks++;
	/* what was to come by itself: who was passed the line next waits for us, too */
	if (msg->info == WEFT_WHY_BUSY)
		weft_requester_chase(l, msg, l->overdue ? 0 : l->nacks, out);
}

void weft_requester_chased(struct weft_line *l, const struct weft_msg *msg,
			   struct weft_out *out)
{
	if (weft_txn_member(msg->holder) != l->self)
		return;
	if (l->op == WEFT_OP_NONE || l->txn != msg->holder ||
	    (l->need_known && l->grant != msg->grant))
		abort_txn(l, msg->holder, msg->grant, out);
	else if (l->expecting && l->held)
		weft_provider_timeout(l, out);
	else if (l->expecting)
		weft_requester_timeout(l, out); /* others wait for what it waits for */
}

void weft_requester_recv(struct weft_line *l, const struct weft_msg *msg,
			 u32 fresh, struct weft_out *out)
{
	bool busy = msg->flags & WEFT_F_BUSY;

	if (weft_txn_member(msg->txn) != l->self)
		return;
	/* who was lent our line need not know the name of what we do about it */
	if (msg->type == WEFT_MSG_INV_ACK && !busy && l->lent &&
	    msg->version == l->version) {
		weft_provider_returned(l, msg, out);
		if (l->op == WEFT_OP_TAKE)
			check_take(l, out);
		return;
	}
	if (l->op == WEFT_OP_NONE || msg->txn != l->txn ||
	    (busy && l->need_known && msg->grant != l->grant)) {
		/*
		 * A late copy of a request of ours took the lock.  One abort for
		 * an answer, not one for each of its fragments.
		 */
		if (busy && !msg->offset)
			abort_txn(l, msg->txn, msg->grant, out);
		return;
	}
	switch (msg->type) {
	case WEFT_MSG_DATA:
		if (l->op == WEFT_OP_GETS || (l->op == WEFT_OP_GETM && busy))
			recv_data(l, msg, fresh, out);
		break;
	case WEFT_MSG_PASSED:
		/* who expects it to read has to ask for it */
		if (l->op == WEFT_OP_GETM)
			recv_data(l, msg, fresh, out);
		break;
	case WEFT_MSG_INV_ACK:
		if (!busy && l->op == WEFT_OP_GETM)
			recv_returned(l, msg, out);
		else if (busy && (l->op == WEFT_OP_GETM || l->op == WEFT_OP_TAKE))
			recv_inv_ack(l, msg, out);
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
		if (l->op == WEFT_OP_COMMIT)
			finish(l, out);
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
		/* those may have left for whom it waits, see weft_line_members() */
		if (l->op == WEFT_OP_GETM)
			check_getm(l, out);
		if (l->op == WEFT_OP_COMMIT || out->n)
			break;
		l->overdue |= l->expecting;
		l->expecting = false;
		if (l->fetching)
			fetch(l, out);
		else if (!only_debtors(l))
			request(l, out);
		if (l->op == WEFT_OP_GETM && debtors(l))
			dun(l, debtors(l), out);
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
			check_take(l, out);
		else
			weft_line_send(l, out, 0, WEFT_MSG_PUT, l->txn);
		break;
	case WEFT_OP_CLEAN:
		weft_line_send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
		break;
	case WEFT_OP_COMMIT:
		send_commit(l, out);
		break;
	default:
		break;
	}
}
