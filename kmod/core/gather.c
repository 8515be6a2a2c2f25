// SPDX-License-Identifier: GPL-2.0-only
/* A miss until it may commit, see gather.h. */
#include "gather.h"

/* --- the block ------------------------------------------------------------ */

static bool in_complete(const struct weft_line *l, const struct weft_msg *msg)
{
	u32 n;

	if (!l->in_frags || !l->in_size)
		return false;
	n = (msg->size + l->in_size - 1) / l->in_size;
	return l->in_frags == (n >= 64 ? ~0ull : (1ull << n) - 1);
}

/* The card has written the whole block: count it as one fragment. */
static bool take_landed(struct weft_line *l, const struct weft_msg *msg)
{
	l->in_version = msg->version;
	l->in_size = msg->size;
	l->in_frags = 1;
	l->in_whole = true;
	return true;
}

/*
 * Two providers may have answered two copies of a request and both have written to the landing.
 * If a node wrote between their versions, an INV came here before that (@poisoned).
 */
static bool may_be_mixed(const struct weft_line *l, const struct weft_msg *msg)
{
	return msg->type == WEFT_MSG_LANDED && l->poisoned;
}

/* Request all data again under the same transaction, which holds the entry's lock; none older. */
static void ask_again(struct weft_line *l, struct weft_out *out)
{
	l->in_frags = 0;
	l->in_whole = false;
	weft_transaction_request(l, out);
}

/*
 * Put a fragment into the block.  Several senders may have sent fragments of one version; older
 * fragments are dropped.
 */
static bool take_fragment(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out)
{
	u32 frag = msg->info ? msg->offset / msg->info : 0;

	if (!msg->info || frag >= WEFT_FRAGS_MAX || msg->version < l->in_version)
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

static void fetch(struct weft_line *l, struct weft_out *out)
{
	struct weft_msg *m = weft_line_send(l, out, 0, WEFT_MSG_READ, l->txn);

	l->fetching = true;
	out->effects |= WEFT_DO_TIMER;
	if (!l->need_known)
		return;
	m->flags = WEFT_F_BUSY | WEFT_F_EXCL;
	m->status = l->status;
	m->copyset = l->copyset;
	m->grant = l->grant;
}

/* --- loans ------------------------------------------------------------------ */

/* Send INV, as the directory would, to nodes that have not given back what the owner lent. */
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
		/* as if to sharers that need send no data: the owner has sent it */
		m->flags = l->calling ? 0 : WEFT_F_BUSY;
		m->status = WEFT_S;
		m->copyset = l->calling ? weft_line_me(l) : l->copyset;
		m->provider = m->copyset;
		m->grant = l->grant;
	}
	out->effects |= WEFT_DO_TIMER;
}

void weft_gather_call_in(struct weft_line *l, struct weft_out *out)
{
	u32 rest = l->lent & ~l->back;

	if (rest)
		dun(l, rest, out);
}

void weft_gather_call_back(struct weft_line *l, u32 fresh, struct weft_out *out)
{
	/* more than can be asked at once: those that are left would wait for a time-out */
	if (weft_line_count(l->lent & ~l->back) > WEFT_OUT_MAX) {
		weft_transaction_take(l, fresh, out);
		return;
	}
	weft_transaction_begin(l, WEFT_OP_TAKE, fresh);
	l->calling = true;
	weft_gather_call_in(l, out);
}

void weft_gather_call_on(struct weft_line *l, struct weft_out *out)
{
	l->calling = false;
	weft_line_send(l, out, 0, WEFT_MSG_PUT, l->txn);
	out->effects |= WEFT_DO_TIMER;
}

/*
 * GETM: nodes that have not given back what they were lent.  An owner lends a version once to a
 * node.
 */
static u32 debtors(const struct weft_line *l)
{
	u64 version = l->in_frags ? l->in_version : l->version;
	u32 loans = l->loans & ~weft_line_me(l) & ~l->acked;

	return l->returned_version == version ? loans & ~l->returned : loans;
}

/* --- is all of it here? ---------------------------------------------------- */

static enum weft_miss write_miss(const struct weft_line *l, bool have)
{
	if (have)
		return WEFT_MISS_UPGRADE;
	if (!(l->copyset & ~weft_line_me(l)))
		return WEFT_MISS_WRITE_UNSHARED;
	return l->status == WEFT_M ? WEFT_MISS_WRITE_MODIFIED : WEFT_MISS_WRITE_SHARED;
}

/* @msg: completed the read. */
static enum weft_miss read_miss(const struct weft_msg *msg)
{
	if (msg->status == WEFT_M)
		return WEFT_MISS_READ_MODIFIED;
	return weft_is_blade(msg->src) ? WEFT_MISS_READ_UNSHARED : WEFT_MISS_READ_SHARED;
}

/* GETM: commit when all sharers have acknowledged and the data is here, in whatever order. */
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
	out->miss = write_miss(l, have);
	if (!have)
		l->version = l->in_version + (l->lost ? WEFT_VERSIONS_LOST : 0);
	l->state = WEFT_M;
	l->expecting = false;
	out->effects |= WEFT_DO_WAKE;
	weft_transaction_commit(l, WEFT_M, weft_line_me(l), out);
}

void weft_gather_taken(struct weft_line *l, struct weft_out *out)
{
	u32 rest = l->lent & ~l->back & ~l->acked;

	if (l->calling && !rest) {
		out->miss = WEFT_MISS_UPGRADE;
		weft_transaction_finish(l, out);
		return;
	}
	if (l->state != WEFT_M || !l->need_known || l->revoking)
		return;
	if (rest) {
		dun(l, rest, out);
		return;
	}
	weft_line_unlend(l);
	out->miss = WEFT_MISS_UPGRADE;
	out->effects |= WEFT_DO_WAKE;
	weft_transaction_commit(l, WEFT_M, weft_line_me(l), out);
}

/* GETM: is only the return of loans missing? */
static bool only_debtors(const struct weft_line *l)
{
	bool have = l->state == WEFT_S && !l->revoking;

	return l->op == WEFT_OP_GETM && l->need_known && debtors(l) &&
	       (have || l->in_whole) && !(l->copyset & ~weft_line_me(l) & ~l->acked);
}

/* GETS that holds the entry's lock: commit when the home has the data, too. */
static void check_gets_busy(struct weft_line *l, struct weft_out *out)
{
	if (!l->wb_wanted || l->wb_version >= l->in_version)
		weft_transaction_commit(l, WEFT_S, l->copyset | l->loans | weft_line_me(l), out);
}

/*
 * The owner that was to write back has died, perhaps before that: this node, which has all data
 * and the entry's lock, writes it back instead.
 */
static void adopt(struct weft_line *l, struct weft_out *out)
{
	l->adopted = true;
	weft_line_send_data(l, out, 0, WEFT_MSG_WB, l->txn, 0);
	out->effects |= WEFT_DO_TIMER;
}

static void gets_data(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out)
{
	if (may_be_mixed(l, msg)) {
		ask_again(l, out);
		return;
	}
	out->miss = read_miss(msg);
	if (l->lost)
		l->in_version += WEFT_VERSIONS_LOST;
	l->version = l->in_version;
	l->state = WEFT_S;
	/* fragments lent before the request may be among them */
	l->loaned = l->busy ? !l->downgraded : msg->flags & WEFT_F_LENT;
	l->lender = msg->src;
	out->effects |= WEFT_DO_WAKE;
	if (l->busy && l->loaned)
		weft_transaction_commit(l, WEFT_M, l->copyset, out);
	else if (l->lost)
		adopt(l, out);
	else if (l->busy)
		check_gets_busy(l, out);
	else
		weft_transaction_finish(l, out);
}

/* --- what comes ------------------------------------------------------------- */

void weft_gather_entry(struct weft_line *l, const struct weft_msg *msg)
{
	/* an answer leaves out nodes that have left the rack since, which acknowledge nothing */
	l->copyset = msg->copyset & (l->need_known ? l->copyset : ~0u);
	l->need_known = true;
	l->busy = true;
	/* the directory knows a better provider by now */
	if (l->op == WEFT_OP_GETS)
		l->fetching = false;
	l->status = msg->status;
	l->grant = msg->grant;
}

void weft_gather_no_data(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out)
{
	weft_gather_entry(l, msg);
	l->no_data = true;
	check_getm(l, out);
}

void weft_gather_home(struct weft_line *l, struct weft_out *out)
{
	/* a late copy of the request, or another answer that holds the entry's lock */
	if (l->state != WEFT_I || l->fetching || l->need_known)
		return;
	fetch(l, out);
}

/* GETS: an INV overtook this data, which may be older than a write: begin again. */
static void overtaken(struct weft_line *l, const struct weft_msg *msg, u32 fresh,
		      struct weft_out *out)
{
	if (msg->flags & WEFT_F_BUSY)
		weft_transaction_abort(l, l->txn, msg->grant, out);
	else if (l->busy)
		return; /* the entry's lock is ours: data that counts comes with it */
	weft_transaction_begin(l, WEFT_OP_GETS, fresh);
	weft_transaction_request(l, out);
}

void weft_gather_data(struct weft_line *l, const struct weft_msg *msg,
		      u32 fresh, struct weft_out *out)
{
	bool have = l->state != WEFT_I && !l->revoking;
	bool data = false;

	if (l->op == WEFT_OP_GETS && l->state != WEFT_I) {
		/*
		 * Repeated while this node waits for the write-back.  From the home it shows that
		 * the owner has ended its retention, and the home has the data: see
		 * weft_line_return().
		 */
		if (weft_is_blade(msg->src) && msg->version >= l->in_version) {
			l->wb_version = msg->version;
			check_gets_busy(l, out);
		}
		return;
	}
	/* nodes that the line was lent to give it back in their own time, see dun() */
	l->expecting = l->expecting && l->op == WEFT_OP_GETM &&
		       msg->type == WEFT_MSG_PASSED && msg->holder;
	/* the line has gone round: what this node gave away has been taken */
	if (l->held)
		weft_line_release(l, out);
	if (l->op == WEFT_OP_GETS && l->poisoned &&
	    (!(msg->flags & WEFT_F_BUSY) || msg->flags & WEFT_F_LENT)) {
		/* the next request may offer the same memory again */
		overtaken(l, msg, fresh, out);
		return;
	}
	if (msg->flags & WEFT_F_BUSY) {
		weft_gather_entry(l, msg);
		l->downgraded |= !(msg->flags & WEFT_F_LENT);
		if (msg->status == WEFT_M)
			l->loans |= msg->holder;
	}
	if (msg->type == WEFT_MSG_LANDED)
		data = take_landed(l, msg);
	else if (!have && take_fragment(l, msg, out))
		data = l->in_whole;
	l->lost = data && l->busy && l->status == WEFT_M && weft_is_blade(msg->src);
	if (msg->nonce && msg->flags & WEFT_F_BUSY) {
		l->provider_nonce = msg->nonce;
		l->provider_id = msg->src;
	}
	if (l->op == WEFT_OP_GETM) {
		l->acked |= weft_node_bit(msg->src);
		check_getm(l, out);
	} else if (data) {
		/* whichever answer completes the data: the entry's lock counts */
		l->wb_wanted = l->lost || (l->busy && l->status == WEFT_M &&
					   !weft_is_blade(msg->src));
		gets_data(l, msg, out);
	}
	if (l->op != WEFT_OP_NONE)
		out->effects |= WEFT_DO_TIMER;
}

void weft_gather_returned(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out)
{
	if (msg->version != l->returned_version)
		l->returned = 0;
	l->returned_version = msg->version;
	l->returned |= weft_node_bit(msg->src);
	check_getm(l, out);
}

void weft_gather_ack(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out)
{
	l->acked |= weft_node_bit(msg->src);
	if (l->op == WEFT_OP_TAKE) {
		weft_gather_taken(l, out);
		return;
	}
	/* the INV of dun() repeats our own copyset, and so does its acknowledgement */
	if (l->need_known)
		l->copyset &= msg->copyset;
	else
		weft_gather_entry(l, msg);
	/* an owner that gives the line back to its home still says whom it was lent to */
	if (msg->status == WEFT_M)
		l->loans |= msg->holder;
	if (!msg->provider || msg->provider == weft_node_bit(msg->src))
		l->no_data = true;
	check_getm(l, out);
}

void weft_gather_written(struct weft_line *l, const struct weft_msg *msg, struct weft_out *out)
{
	/* the home has the version that this node reads, or a newer one */
	if (msg->version > l->wb_version)
		l->wb_version = msg->version;
	if (l->busy && l->in_frags && l->wb_wanted)
		check_gets_busy(l, out);
}

void weft_gather_gone(struct weft_line *l, u32 dead, struct weft_out *out)
{
	if (!l->in_whole) {
		/* fragments of a dead owner may be newer than all that others have */
		l->in_frags = 0;
		l->in_version = 0;
		/*
		 * Fragments of others, lent or shared, may be older: the owner that would have
		 * sent INV for them may be the dead one.
		 */
		l->poisoned = l->op == WEFT_OP_GETS;
		/* the card of a dead node may still write there */
		if (l->landing)
			out->effects |= WEFT_DO_CLOSE;
	}
	/* @in_whole: programs read it, or did until an old INV came */
	if (l->op == WEFT_OP_GETS && l->in_whole && l->wb_wanted &&
	    l->wb_version < l->in_version &&
	    weft_node_bit(l->provider_id) & dead)
		adopt(l, out);
	else if (l->op == WEFT_OP_GETM)
		check_getm(l, out);
}

void weft_gather_timeout(struct weft_line *l, struct weft_out *out)
{
	if (l->adopted) {
		adopt(l, out);
		return;
	}
	/* the nodes that it waits for may have left, see weft_line_members() */
	if (l->op == WEFT_OP_GETM)
		check_getm(l, out);
	if (l->op == WEFT_OP_COMMIT || out->n)
		return;
	l->overdue |= l->expecting;
	l->expecting = false;
	if (l->fetching)
		fetch(l, out);
	else if (!only_debtors(l))
		weft_transaction_request(l, out);
	if (l->op == WEFT_OP_GETM && debtors(l))
		dun(l, debtors(l), out);
}
