// SPDX-License-Identifier: GPL-2.0-only
/* Cache controller of one line, see line.h. */
#include "line.h"

static u32 me(const struct weft_line *l)
{
	return weft_node_bit(l->self);
}

void weft_line_init(struct weft_line *l, u64 key, u8 self)
{
	memset(l, 0, sizeof(*l));
	l->key = key;
	l->self = self;
}

u8 weft_line_perm(const struct weft_line *l)
{
	if (l->revoking == 2 || l->op == WEFT_OP_PUT)
		return WEFT_I;
	if (l->revoking == 1 && l->state == WEFT_M)
		return WEFT_S;
	return l->state;
}

bool weft_line_idle(const struct weft_line *l)
{
	return l->op == WEFT_OP_NONE && l->held == WEFT_HELD_NONE &&
	       !l->revoking;
}

static struct weft_msg *send(struct weft_line *l, struct weft_out *out, u8 to,
			     u8 type, u32 txn)
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

static void send_data(struct weft_line *l, struct weft_out *out, u8 to,
		      u8 type, u32 txn, u32 nonce)
{
	struct weft_msg *m = send(l, out, to, type, txn);

	m->version = l->version;
	m->nonce = nonce;
	out->send[out->n - 1].with_data = true;
}

/* The line is nobody's business any more: its memory can go. */
static void settle(struct weft_line *l, struct weft_out *out)
{
	if (l->state == WEFT_I && weft_line_idle(l))
		out->effects |= WEFT_DO_FREE;
	else if (!weft_line_idle(l))
		out->effects |= WEFT_DO_TIMER;
}

static void finish_op(struct weft_line *l, struct weft_out *out)
{
	l->op = WEFT_OP_NONE;
	l->nacks = 0;
	l->tries = 0;
	out->effects |= WEFT_DO_WAKE;
	settle(l, out);
}

/* --- requests ----------------------------------------------------------- */

static void request(struct weft_line *l, struct weft_out *out)
{
	struct weft_msg *m;

	if (l->op == WEFT_OP_GETM) {
		m = send(l, out, 0, WEFT_MSG_GETM, l->txn);
		if (l->state == WEFT_S && !l->revoking)
			m->flags = WEFT_F_HAVE;
	} else {
		send(l, out, 0, WEFT_MSG_GETS, l->txn);
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
	l->written = false;
	l->wb_wanted = false;
	l->need_known = false;
	l->fetching = false;
	l->acked = 0;
	l->provider_nonce = 0;
	l->in_frags = 0;
	l->in_whole = false;
	l->in_version = 0;
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
	begin(l, perm == WEFT_M ? WEFT_OP_GETM : WEFT_OP_GETS, fresh);
	request(l, out);
}

static void start_put(struct weft_line *l, struct weft_out *out)
{
	l->quiesced = true;
	if (l->state == WEFT_M) {
		l->version++;
		send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
	}
	send(l, out, 0, WEFT_MSG_PUT, l->txn);
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
	l->version++;
	send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
	out->effects = WEFT_DO_TIMER;
	return true;
}

/* --- end of a transaction ------------------------------------------------ */

static void send_commit(struct weft_line *l, struct weft_out *out)
{
	struct weft_msg *m = send(l, out, 0, WEFT_MSG_COMMIT, l->txn);

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
	send(l, out, (u8)l->provider_id, WEFT_MSG_DONE, l->txn)->nonce =
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
	send_commit(l, out);
	send_done(l, out);
}

/* Tell the directory that nobody waits for a transaction that it granted. */
static void abort_txn(struct weft_line *l, u32 txn, u32 grant,
		      struct weft_out *out)
{
	send(l, out, 0, WEFT_MSG_ABORT, txn)->grant = grant;
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
	struct weft_msg *m = send(l, out, 0, WEFT_MSG_READ, l->txn);

	l->fetching = true;
	m->flags = WEFT_F_BUSY | WEFT_F_EXCL;
	m->status = l->status;
	m->copyset = l->copyset;
	m->grant = l->grant;
	out->effects |= WEFT_DO_TIMER;
}

/*
 * GETM: everybody who had a copy answered, and the data is here, whatever came
 * last.
 */
static void check_getm(struct weft_line *l, struct weft_out *out)
{
	bool have = l->state == WEFT_S && !l->revoking;

	if (!l->need_known || (l->copyset & ~me(l) & ~l->acked))
		return;
	if (!have && !l->in_whole) {
		if (l->no_data && !l->fetching)
			fetch(l, out);
		return;
	}
	if (!have)
		l->version = l->in_version;
	l->state = WEFT_M;
	out->effects |= WEFT_DO_WAKE;
	commit(l, WEFT_M, me(l), out);
}

/* GETS with the entry's lock held: commit once the home has the data, too. */
static void check_gets_busy(struct weft_line *l, struct weft_out *out)
{
	if (!l->wb_wanted || l->written)
		commit(l, WEFT_S, l->copyset | me(l), out);
}

static void gets_data(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	if (!l->busy && l->poisoned) {
		/* an invalidation overtook it: it may be from before a write */
		begin(l, WEFT_OP_GETS, fresh);
		request(l, out);
		return;
	}
	l->version = l->in_version;
	l->state = WEFT_S;
	out->effects |= WEFT_DO_WAKE;
	if (l->busy)
		check_gets_busy(l, out);
	else
		finish_op(l, out);
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

	if (l->op == WEFT_OP_GETS && l->state != WEFT_I)
		return; /* a repetition while we wait for the write-back */
	if (msg->flags & WEFT_F_BUSY)
		note_entry(l, msg);
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
		l->wb_wanted = msg->flags & WEFT_F_BUSY &&
			       msg->status == WEFT_M && !weft_is_blade(msg->src);
		gets_data(l, fresh, out);
	}
	if (l->op != WEFT_OP_NONE)
		out->effects |= WEFT_DO_TIMER;
}

static void recv_inv_ack(struct weft_line *l, const struct weft_msg *msg,
			 struct weft_out *out)
{
	note_entry(l, msg);
	l->acked |= weft_node_bit(msg->src);
	if (!msg->provider || msg->provider == weft_node_bit(msg->src))
		l->no_data = true;
	check_getm(l, out);
}

static void recv_grant(struct weft_line *l, const struct weft_msg *msg,
		       struct weft_out *out)
{
	u32 rest = msg->copyset & ~me(l);

	if (l->op == WEFT_OP_GETM) {
		note_entry(l, msg);
		l->no_data = true;
		check_getm(l, out);
		return;
	}
	if (l->op != WEFT_OP_PUT || l->revoking)
		return;
	if (!(msg->copyset & me(l))) {
		/* taken from us while we asked to leave */
		abort_txn(l, msg->txn, msg->grant, out);
		finish_op(l, out);
		return;
	}
	l->granted = true;
	note_entry(l, msg);
	l->new_copyset = rest;
	l->new_status = rest && msg->status == WEFT_S ? WEFT_S : WEFT_I;
}

/* PUT: leave when the directory agrees and the home has what we modified. */
static void check_put(struct weft_line *l, struct weft_out *out)
{
	if (l->op != WEFT_OP_PUT || !l->granted ||
	    (l->status == WEFT_M && !l->written))
		return;
	l->state = WEFT_I;
	commit(l, l->new_status, l->new_copyset, out);
}

static void recv_wb_ack(struct weft_line *l, const struct weft_msg *msg,
			struct weft_out *out)
{
	if (msg->version < l->version && l->op != WEFT_OP_GETS)
		return;
	l->written = true;
	if (l->op == WEFT_OP_CLEAN)
		finish_op(l, out);
	else if (l->op == WEFT_OP_PUT)
		check_put(l, out);
	else if (l->op == WEFT_OP_GETS && l->busy && l->in_frags &&
		 l->wb_wanted)
		check_gets_busy(l, out);
}

/*
 * A transaction is in our way, for the @n th time.  If it is a dead one of ours
 * end it; else ask its owner now and then whether it is alive.
 */
static void chase(struct weft_line *l, const struct weft_msg *msg, u8 n,
		  struct weft_out *out)
{
	u32 member = weft_txn_member(msg->holder);

	if (member == l->self) {
		abort_txn(l, msg->holder, msg->grant, out);
	} else if (n % WEFT_CHASE_AFTER == 0) {
		struct weft_msg *m = send(l, out, (u8)member, WEFT_MSG_CHASE,
					  msg->txn);

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
		finish_op(l, out);
		return;
	}
	out->effects |= WEFT_DO_TIMER | WEFT_DO_BACKOFF;
	l->refused = true;
	if (l->nacks < 255)
		l->nacks++;
	if (msg->info == WEFT_WHY_BUSY)
		chase(l, msg, l->nacks, out);
}

/*
 * Someone is refused because of a transaction of ours.  If it is alive it ends
 * by its own time-outs; if it is not, a late copy of its request took the lock.
 */
static void recv_chase(struct weft_line *l, const struct weft_msg *msg,
		       struct weft_out *out)
{
	if (weft_txn_member(msg->holder) != l->self)
		return;
	if (l->op == WEFT_OP_NONE || l->txn != msg->holder ||
	    (l->need_known && l->grant != msg->grant))
		abort_txn(l, msg->holder, msg->grant, out);
}

/* --- what others want from our copy -------------------------------------- */

static bool is_owner(const struct weft_line *l)
{
	return l->rq.status == WEFT_M && (l->rq.copyset & me(l));
}

static struct weft_msg *answer(struct weft_line *l, struct weft_out *out,
			       u8 type, bool with_data)
{
	struct weft_msg *m = send(l, out, (u8)weft_txn_member(l->rq.txn), type,
				  l->rq.txn);

	m->flags = l->rq.flags & (WEFT_F_BUSY | WEFT_F_SWITCH | WEFT_F_EXCL);
	m->status = l->rq.status;
	m->copyset = l->rq.copyset;
	m->grant = l->rq.grant;
	m->provider = l->rq.provider;
	m->version = l->version;
	out->send[out->n - 1].with_data = with_data;
	return m;
}

/* Retain the data for the transaction in rq, under a new number if it is new. */
static void retain(struct weft_line *l, u8 held, u32 fresh)
{
	if (l->held == WEFT_HELD_NONE || l->held_txn != l->rq.txn) {
		l->held_txn = l->rq.txn;
		l->nonce = weft_txn(l->self, fresh);
	}
	l->held = held;
}

/*
 * Losing ownership ends a write-back in place: the data goes on elsewhere.  The
 * caller retains the data next.
 */
static void leave_m(struct weft_line *l, u8 state, struct weft_out *out)
{
	l->version++;
	l->state = state;
	if (l->op == WEFT_OP_CLEAN) {
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

static void give_and_write_back(struct weft_line *l, u8 held, u32 fresh,
				struct weft_out *out)
{
	retain(l, held, fresh);
	answer(l, out, WEFT_MSG_DATA, true)->nonce = l->nonce;
	send_data(l, out, 0, WEFT_MSG_WB, l->rq.txn, 0);
	out->effects |= WEFT_DO_TIMER;
}

/* An invalidation, and nobody here uses the copy any more. */
static void obey_inv(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	if (l->state == WEFT_M) {
		if (!is_owner(l))
			return; /* stale, see inv() */
		leave_m(l, WEFT_I, out);
		give(l, fresh, out);
		return;
	}
	if (l->held && is_owner(l)) {
		l->state = WEFT_I;
		give(l, fresh, out);
		return;
	}
	if (l->state == WEFT_S && l->rq.provider == me(l))
		answer(l, out, WEFT_MSG_DATA, true);
	else
		answer(l, out, WEFT_MSG_INV_ACK, false);
	l->state = WEFT_I;
	if (l->op == WEFT_OP_GETS)
		l->poisoned = true;
	settle(l, out);
}

static void inv(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	/*
	 * While we own the line, and from our grant on, the directory invalidates
	 * it only as its owner's.  Anything else is from before that: whoever
	 * asked then has given up or is done.
	 */
	if ((l->state == WEFT_M && !is_owner(l)) ||
	    (l->state == WEFT_S && is_owner(l) && !l->held))
		return;
	if (l->state == WEFT_I || (l->op == WEFT_OP_PUT && l->quiesced)) {
		obey_inv(l, fresh, out);
		return;
	}
	l->revoking = 2;
	out->effects |= WEFT_DO_REVOKE;
}

/* Write permission is gone: hand out the data and keep reading. */
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
		l->revoking = 1;
		out->effects |= WEFT_DO_PROTECT;
	} else if (is_owner(l) && l->held) {
		give_and_write_back(l, l->held, fresh, out);
	} else if (l->state == WEFT_S) {
		if (!is_owner(l))
			answer(l, out, WEFT_MSG_DATA, true);
	} else {
		relay(l, out);
	}
}

static void recv_order(struct weft_line *l, const struct weft_msg *msg,
		       u32 fresh, struct weft_out *out)
{
	/* one at a time; who is passed over asks again */
	if (l->revoking && l->rq.type)
		return;
	l->rq.type = msg->type;
	l->rq.flags = msg->flags;
	l->rq.status = msg->status;
	l->rq.txn = msg->txn;
	l->rq.copyset = msg->copyset;
	l->rq.grant = msg->grant;
	l->rq.provider = msg->provider;
	if (l->revoking)
		return; /* an eviction has begun to revoke; obeyed when it is done */
	if (msg->type == WEFT_MSG_INV)
		inv(l, fresh, out);
	else
		fwd(l, fresh, out);
	if (!l->revoking)
		l->rq.type = 0;
}

void weft_line_revoked(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	u8 type = l->rq.type;

	out->effects = 0;
	out->n = 0;
	if (!l->revoking)
		return;
	l->revoking = 0;
	l->rq.type = 0;
	if (type == WEFT_MSG_INV)
		obey_inv(l, fresh, out);
	else if (type == WEFT_MSG_FWD && l->state == WEFT_M)
		obey_fwd(l, fresh, out);
	else if (type == WEFT_MSG_FWD)
		fwd(l, fresh, out);

	if (l->quiet) {
		l->quiet = false;
		if (l->state == WEFT_S && !l->held)
			l->state = WEFT_I;
	} else if (l->op == WEFT_OP_PUT) {
		if (l->state == WEFT_I || l->held)
			finish_op(l, out); /* it has left already */
		else
			start_put(l, out);
	}
	out->effects |= WEFT_DO_WAKE;
	settle(l, out);
}

/* --- retained data --------------------------------------------------------- */

static void release(struct weft_line *l, struct weft_out *out)
{
	l->held = WEFT_HELD_NONE;
	out->effects |= WEFT_DO_WAKE;
	settle(l, out);
}

/* The directory's word on who owns the line that we gave away. */
static void recv_info(struct weft_line *l, const struct weft_msg *msg,
		      struct weft_out *out)
{
	if (!l->held || l->op != WEFT_OP_NONE || l->revoking ||
	    msg->nonce != l->nonce)
		return;
	if (msg->status == WEFT_M && (msg->copyset & me(l))) {
		/*
		 * Not taken, or not yet: somebody to whom we gave the data may
		 * be about to commit, not only the last one (held_txn).
		 */
		if (msg->holder) {
			chase(l, msg, l->tries, out);
			return;
		}
		l->state = WEFT_M;
	}
	release(l, out);
}

/* --- entry points ---------------------------------------------------------- */

static void recv_answer(struct weft_line *l, const struct weft_msg *msg,
			u32 fresh, struct weft_out *out)
{
	bool busy = msg->flags & WEFT_F_BUSY;

	if (weft_txn_member(msg->txn) != l->self)
		return;
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
		if (l->op == WEFT_OP_GETS || l->op == WEFT_OP_GETM)
			recv_data(l, msg, fresh, out);
		break;
	case WEFT_MSG_INV_ACK:
		if (l->op == WEFT_OP_GETM)
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
			finish_op(l, out);
		break;
	default:
		break;
	}
}

void weft_line_recv(struct weft_line *l, const struct weft_msg *msg, u32 fresh,
		    struct weft_out *out)
{
	out->effects = 0;
	out->n = 0;
	switch (msg->type) {
	case WEFT_MSG_INV:
	case WEFT_MSG_FWD:
		if (weft_node_bit(weft_txn_member(msg->txn)) &&
		    weft_txn_member(msg->txn) != l->self)
			recv_order(l, msg, fresh, out);
		break;
	case WEFT_MSG_DONE:
		if (l->held && msg->nonce == l->nonce)
			release(l, out);
		break;
	case WEFT_MSG_INFO:
		recv_info(l, msg, out);
		break;
	case WEFT_MSG_CHASE:
		recv_chase(l, msg, out);
		break;
	default:
		recv_answer(l, msg, fresh, out);
		break;
	}
}

void weft_line_timeout(struct weft_line *l, struct weft_out *out)
{
	out->effects = 0;
	out->n = 0;
	if (l->tries < 255)
		l->tries++;
	switch (l->op) {
	case WEFT_OP_GETS:
	case WEFT_OP_GETM:
		if (l->fetching)
			fetch(l, out);
		else
			request(l, out);
		break;
	case WEFT_OP_PUT:
		if (l->revoking)
			break;
		if ((l->state == WEFT_M || l->held) && !l->written && !l->refused)
			send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
		if (!l->granted)
			send(l, out, 0, WEFT_MSG_PUT, l->txn);
		break;
	case WEFT_OP_CLEAN:
		send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
		break;
	case WEFT_OP_COMMIT:
		send_commit(l, out);
		break;
	default:
		if (l->held && !l->revoking)
			send(l, out, 0, WEFT_MSG_QUERY, l->nonce)->nonce =
				l->nonce;
		break;
	}
	l->refused = false;
	if (!weft_line_idle(l))
		out->effects |= WEFT_DO_TIMER;
}

void weft_line_forget(struct weft_line *l, struct weft_out *out)
{
	u64 key = l->key;
	u8 self = l->self;

	weft_line_init(l, key, self);
	out->n = 0;
	out->effects = WEFT_DO_WAKE | WEFT_DO_FREE;
}
