// SPDX-License-Identifier: GPL-2.0-only
/* The nodes of a world whose lines are pages; see nodes.h. */
#include <stdio.h>

#include "death.h"
#include "network.h"
#include "nodes.h"
#include "values.h"

#define GARBAGE		0xEE	/* freed memory */

/* Node 1 owns the lines, and all have deeds of what the home has, if the configuration says so. */
void pages_init(struct world *w, const struct config *c)
{
	for (int i = 0; i < c->lines; i++) {
		for (int n = 0; n < c->nodes; n++) {
			weft_line_init(&w->line[n][i], world_key(c, i), (u8)(n + 1));
			memset(w->data[n][i], GARBAGE, MAX_FRAGS);
			w->deed[n][i] = c->deeds ? w->home_version[i] + 1 : 0;
		}
		if (!c->owned)
			continue;
		w->line[0][i].state = WEFT_M;
		w->line[0][i].owned = WEFT_GRANT_OWNED;
		w->truth[i] = 1;
		memset(w->data[0][i], w->truth[i], MAX_FRAGS);
	}
}

/* A request offers a landing if it may; one that goes on for the same data offers it, too. */
static void open_landing(struct weft_line *l, struct weft_send *s)
{
	if (s->with_data || s->landing.key)
		return;
	if (weft_line_may_land(l, &s->msg))
		weft_line_landing_open(l);
	else if (!l->landing || s->msg.txn != l->txn || s->msg.type != WEFT_MSG_READ)
		return;
	s->landing.key = s->msg.txn;
}

/* With a deed a node need not have the home's program send what the home has. */
static void use_deed(const struct world *w, const struct config *c, int n, int i,
		     struct weft_send *s)
{
	u8 type = s->msg.type;

	if (!c->deeds || !w->deed[n][i] || s->with_data || !s->landing.key)
		return;
	if (type == WEFT_MSG_GETS || type == WEFT_MSG_GETM)
		s->msg.flags |= WEFT_F_DIRECT;
	else if (type == WEFT_MSG_READ && !(s->msg.flags & WEFT_F_RELAY))
		s->msg.type = MSG_FETCH;
}

/* A card has yet to read what node @n has of the line. */
static bool is_written(const struct world *w, int n, u64 line)
{
	for (int k = 0; k < w->flights; k++)
		if (w->flight[k].type == MSG_WRITE && w->flight[k].src == n + 1 &&
		    w->flight[k].line == line)
			return true;
	return false;
}

static void do_out(struct world *w, const struct config *c, int n, int i,
		   const struct weft_out *out, const struct flight *in)
{
	u8 *data = w->data[n][i];

	if (out->n > WEFT_OUT_MAX)
		world_complain("more messages than struct weft_out has room for");
	if (out->effects & WEFT_DO_INSTALL)
		data[in->offset] = in->val[0];
	for (u32 k = 0; k < out->n; k++) {
		struct weft_send s = out->send[k];

		if (c->landings)
			open_landing(&w->line[n][i], &s);
		use_deed(w, c, n, i, &s);
		network_send(w, c, &s, data);
	}
	/* what is to be written elsewhere keeps its memory */
	if (out->effects & WEFT_DO_FREE && !is_written(w, n, w->line[n][i].key))
		memset(data, GARBAGE, MAX_FRAGS);
	if (out->effects & WEFT_DO_CLOSE)
		weft_line_landing_closed(&w->line[n][i]);
	if (out->effects & WEFT_DO_FAIL)
		world_complain("a transaction failed");
	/*
	 * How long to back off is the host's business.  The next refusal asks the
	 * holder, so that a dead one is found at once.
	 */
	w->line[n][i].nacks = WEFT_CHASE_AFTER - 1;
	w->line[n][i].tries = 0;
}

/* A sequence number counts as used if the line took it. */
static void used(struct world *w, int n, int i)
{
	u32 txn = weft_txn((u32)n + 1, w->seq[n] + 1);

	if (w->line[n][i].txn == txn || w->line[n][i].nonce == txn)
		w->seq[n]++;
}

/* The host asks again for what a program still waits for. */
static void pursue(struct world *w, const struct config *c, int n)
{
	int i = w->want_line[n];
	struct weft_line *l = &w->line[n][i];
	struct weft_out out;

	if (!w->want[n])
		return;
	if (weft_line_perm(l) >= w->want[n]) {
		if (w->want[n] == WEFT_S)
			w->want[n] = 0;
		return;
	}
	weft_line_want(l, c->greedy ? WEFT_M : w->want[n], w->seq[n] + 1, &out);
	used(w, n, i);
	do_out(w, c, n, i, &out, NULL);
}

/*
 * A card writes a fragment, if the landing is open: else the connection breaks, and nothing
 * more comes by it.  What it writes is what the provider has now.
 */
static void land(struct world *w, const struct config *c, int n, const struct flight *f)
{
	int i = world_line(c, f->line);
	const u8 *from = weft_is_blade(f->src) ? w->home_data[i] : w->data[f->src - 1][i];
	const struct weft_line *l = &w->line[n][i];
	u8 payload[WEFT_LANDING_LEN];
	struct weft_msg m;

	if (!l->landing || l->txn != f->txn)
		return;
	w->data[n][i][f->offset] = from[f->offset];
	network_message(&m, f, payload);
	m.offset++;
	if (m.offset == c->frags) {
		m.type = WEFT_MSG_LANDED;
		m.offset = 0;
	}
	network_post(w, &m, HOP_NODE, f->to, NULL);
}

/*
 * Our card has all of it, and then the number: if that is the deed's, it is what LANDED from
 * the home would tell of now.  Else the home is asked.
 */
static void fetched(struct world *w, const struct config *c, int n, const struct flight *f,
		    struct weft_msg *m)
{
	int i = world_line(c, f->line);

	if (w->home_version[i] + 1 != w->deed[n][i]) {
		w->deed[n][i] = 0;
		m->type = WEFT_MSG_READ;
		m->offset = 0;
		network_post(w, m, HOP_HOME, HOME, NULL);
		return;
	}
	m->type = WEFT_MSG_LANDED;
	m->src = HOME;
	m->version = w->home_version[i];
	m->offset = 0;
	m->len = 0;
	network_post(w, m, HOP_NODE, (u8)(n + 1), NULL);
}

/* Our card reads a fragment of what the home has, if the landing is open. */
static void fetch(struct world *w, const struct config *c, int n, const struct flight *f)
{
	int i = world_line(c, f->line);
	const struct weft_line *l = &w->line[n][i];
	u8 payload[WEFT_LANDING_LEN];
	struct weft_msg m;

	if (!l->landing || l->txn != f->txn)
		return;
	network_message(&m, f, payload);
	if (m.offset == c->frags) {
		fetched(w, c, n, f, &m);
		return;
	}
	w->data[n][i][f->offset] = w->home_data[i][f->offset];
	m.offset++;
	network_post(w, &m, HOP_NODE, (u8)(n + 1), NULL);
}

/* What a home tells of its own it has still, as far as its LANDED knows. */
static void take_deed(struct world *w, const struct config *c, int n, const struct flight *f)
{
	if (c->deeds && weft_is_blade(f->src))
		w->deed[n][world_line(c, f->line)] = f->version + 1;
}

static void recv(struct world *w, const struct config *c, int n, const struct flight *f)
{
	int i = world_line(c, f->line);
	struct weft_line *l = &w->line[n][i];
	u8 payload[WEFT_LANDING_LEN];
	struct weft_msg m;
	struct weft_out out;

	network_message(&m, f, payload);
	weft_line_recv(l, &m, w->seq[n] + 1, &out);
	used(w, n, i);
	do_out(w, c, n, i, &out, f);
	if (!(out.effects & WEFT_DO_AGAIN))
		return;
	weft_line_recv(l, &m, w->seq[n] + 1, &out);
	used(w, n, i);
	do_out(w, c, n, i, &out, f);
}

void pages_recv(struct world *w, const struct config *c, int n,
		const struct flight *f)
{
	const struct weft_line *l = &w->line[n][world_line(c, f->line)];

	if (!world_lives(w, n))
		return;
	if (f->type == MSG_WRITE) {
		land(w, c, n, f);
		return;
	}
	if (f->type == MSG_FETCH) {
		fetch(w, c, n, f);
		return;
	}
	/* the key is another one by now: the connection breaks, and nothing comes */
	if (f->type == WEFT_MSG_LANDED && (!l->landing || l->txn != f->txn))
		return;
	if (f->type == WEFT_MSG_LANDED)
		take_deed(w, c, n, f);
	recv(w, c, n, f);
	pursue(w, c, n);
}

/* --- what they may do ------------------------------------------------------------- */

/* Nobody has asked yet: how long to be patient is the host's business. */
static bool patient(const struct weft_line *l)
{
	return l->expecting && !l->held;
}

/*
 * The lock that the line is to come with comes when the others are through: not as
 * long as one of them waits for the line.
 */
static bool others_wait(const struct world *w, const struct config *c, int n)
{
	for (int k = 0; k < c->nodes; k++)
		if (k != n && w->want[k])
			return true;
	return false;
}

/*
 * Does a time-out now take the network for slower than it is?  Asking again
 * after a refusal does not, once what the refusal led to has arrived.
 */
static bool early(const struct world *w, const struct config *c, int n, int i)
{
	const struct weft_line *l = &w->line[n][i];

	if (!l->refused)
		return !world_silent(w, c, i);
	for (int k = 0; k < w->flights; k++) {
		u8 type = w->flight[k].type;

		/* whoever was chased aborts, or asks for what it waits for */
		if (w->flight[k].txn == l->txn ||
		    (w->flight[k].line == l->key &&
		     (type == WEFT_MSG_ABORT || type == WEFT_MSG_QUERY ||
		      type == WEFT_MSG_INFO || type == WEFT_MSG_GETM)))
			return true;
	}
	return false;
}

/*
 * Lines that come without being asked for.  What a lock says to whom is left open:
 * an owner passes a line on whenever it likes, to any transaction that the other one
 * once expected it with.
 */
static void pass_actions(const struct world *w, const struct config *c, int n, int i,
			 struct action *a, int *k)
{
	const struct weft_line *l = &w->line[n][i];

	if (l->expecting && !l->need_known && w->hasty)
		world_add(a, k, ACT_UNEXPECT, n, i, 0);
	if (w->expects && !w->told[n][MAX_TOLD - 1] && l->op == WEFT_OP_NONE &&
	    !l->revoking) {
		if (l->state < WEFT_S)
			world_add(a, k, ACT_EXPECT_READ, n, i, 0);
		if (l->state < WEFT_M)
			world_add(a, k, ACT_EXPECT_WRITE, n, i, 0);
	}
	if (!weft_line_idle(l))
		return;
	for (int to = 0; to < c->nodes; to++) {
		for (int t = 0; to != n && t < MAX_TOLD && w->told[to][t]; t++) {
			int which = to * MAX_TOLD + t;
			bool reads = c->mistakes || w->told_perm[to][t] == WEFT_S;
			bool writes = c->mistakes || w->told_perm[to][t] == WEFT_M;

			if (l->state == WEFT_M && w->passes && writes)
				world_add(a, k, ACT_PASS, n, i, which);
			if (l->state == WEFT_M && w->lends && reads &&
			    !(l->lent & weft_node_bit((u32)to + 1)))
				world_add(a, k, ACT_LEND, n, i, which);
			if (l->state == WEFT_S && l->loaned && w->yields && writes)
				world_add(a, k, ACT_YIELD, n, i, which);
		}
		/* to its owner, who need not say with which name */
		if (to != n && !w->told[to][0] && l->loaned && w->yields)
			world_add(a, k, ACT_YIELD, n, i, to * MAX_TOLD);
	}
}

/* As the kernel does it: all lines are back home, nothing is outstanding. */
static bool may_leave(const struct world *w, const struct config *c, int n)
{
	for (int i = 0; i < c->lines; i++)
		if (w->line[n][i].state != WEFT_I || !weft_line_idle(&w->line[n][i]))
			return false;
	return w->leaves && !w->want[n];
}

void pages_actions(const struct world *w, const struct config *c, int n,
		   struct action *a, int *k)
{
	if (!world_lives(w, n))
		return;
	if (may_leave(w, c, n))
		world_add(a, k, ACT_LEAVE, n, 0, 0);
	for (int i = 0; i < c->lines; i++) {
		const struct weft_line *l = &w->line[n][i];
		u8 perm = values_perm(l);

		bool waiting = w->want[n] == WEFT_M && w->want_line[n] == i &&
			       perm == WEFT_M;

		/* the host lets the access finish that the line was fetched for */
		if (l->revoking && (!waiting || w->steals)) {
			world_add(a, k, ACT_REVOKED, n, i, 0);
			if (!c->keeps && l->state == WEFT_M && l->rq.type == WEFT_MSG_FWD &&
			    !l->lending)
				world_add(a, k, ACT_REVOKED, n, i, 1);
		}
		if (!weft_line_idle(l) && !(l->revoking && l->op == WEFT_OP_NONE) &&
		    ((patient(l) ? w->hasty : w->spurious) ||
		     (!early(w, c, n, i) && !(patient(l) && others_wait(w, c, n)))))
			world_add(a, k, ACT_TIMEOUT, n, i, 0);
		if (waiting)
			world_add(a, k, ACT_ACCESS, n, i, 0);
		pass_actions(w, c, n, i, a, k);
		if (w->want[n] || !w->ops[n])
			continue;
		if (perm < WEFT_S)
			world_add(a, k, ACT_READ, n, i, 0);
		world_add(a, k, ACT_WRITE, n, i, 0);
		if (!weft_line_idle(l) || l->state == WEFT_I)
			continue;
		if (c->evicts)
			world_add(a, k, ACT_EVICT, n, i, 0);
		if (c->evicts && l->state == WEFT_S)
			world_add(a, k, ACT_DROP, n, i, 0);
		if (c->cleans && l->state == WEFT_M)
			world_add(a, k, ACT_CLEAN, n, i, 0);
	}
}

/* --- what they do ---------------------------------------------------------------- */

u32 pages_named(const struct world *w, const struct action *a)
{
	u32 txn = w->told[a->flight / MAX_TOLD][a->flight % MAX_TOLD];

	return txn ? txn : weft_txn(a->flight / MAX_TOLD + 1u, WEFT_TXN_SEQ_MASK);
}

static void step_pass(struct world *w, const struct config *c,
		      const struct action *a)
{
	u8 perm = a->kind == ACT_EXPECT_READ ? WEFT_S : WEFT_M;
	int n = a->node, i = a->line, t = 0;
	struct weft_line *l = &w->line[n][i];
	bool done;
	struct weft_out out;

	switch (a->kind) {
	case ACT_EXPECT_READ:
	case ACT_EXPECT_WRITE:
		w->expects--;
		while (w->told[n][t])
			t++;
		w->told[n][t] = weft_txn((u32)n + 1, ++w->seq[n]);
		w->told_perm[n][t] = perm;
		done = weft_line_expect(l, perm, w->told[n][t], &out);
		break;
	case ACT_UNEXPECT:
		w->hasty--;
		done = weft_line_unexpect(l, &out) && l->op == WEFT_OP_NONE;
		break;
	case ACT_LEND:
		w->lends--;
		done = weft_line_lend(l, pages_named(w, a), &out);
		break;
	case ACT_YIELD:
		w->yields--;
		done = weft_line_yield(l, pages_named(w, a), &out);
		break;
	default:
		w->passes--;
		done = weft_line_pass(l, pages_named(w, a), &out);
		break;
	}
	if (!done)
		world_complain("a line cannot be expected, expected no more, passed on or lent");
	do_out(w, c, n, i, &out, NULL);
	pursue(w, c, n);
}

static void step_leave(struct world *w, int n)
{
	w->leaves--;
	w->members &= (u8)~(1u << n);
	w->switch_members = w->members;
	w->ops[n] = 0;
}

static void step_line(struct world *w, const struct config *c,
		      const struct action *a)
{
	int n = a->node, i = a->line;
	struct weft_line *l = &w->line[n][i];
	u32 fresh = w->seq[n] + 1;
	struct weft_out out;

	switch (a->kind) {
	case ACT_REVOKED:
		if (w->want[n] == WEFT_M && w->want_line[n] == i &&
		    values_perm(l) == WEFT_M)
			w->steals--;
		weft_line_revoked(l, a->flight, fresh, &out);
		break;
	case ACT_TIMEOUT:
		if (patient(l) && (early(w, c, n, i) || others_wait(w, c, n)))
			w->hasty--;
		else if (early(w, c, n, i))
			w->spurious--;
		/* who left before it was told to give the line up will not answer */
		if (l->dunned)
			weft_line_members(l, w->members);
		weft_line_timeout(l, &out);
		break;
	case ACT_EVICT:
	case ACT_DROP:
		w->ops[n]--;
		weft_line_evict(l, a->kind == ACT_DROP, fresh, &out);
		break;
	default: /* ACT_CLEAN */
		w->ops[n]--;
		weft_line_clean(l, fresh, &out);
		break;
	}
	used(w, n, i);
	do_out(w, c, n, i, &out, NULL);
	pursue(w, c, n);
}

void pages_step(struct world *w, const struct config *c, const struct action *a)
{
	int n = a->node;

	switch (a->kind) {
	case ACT_ACCESS:
		values_write(w, c, n, a->line);
		w->want[n] = 0;
		break;
	case ACT_READ:
	case ACT_WRITE:
		w->ops[n]--;
		w->want[n] = a->kind == ACT_READ ? WEFT_S : WEFT_M;
		w->want_line[n] = a->line;
		pursue(w, c, n);
		break;
	case ACT_LEAVE:
		step_leave(w, n);
		break;
	case ACT_EXPECT_READ:
	case ACT_EXPECT_WRITE:
	case ACT_UNEXPECT:
	case ACT_PASS:
	case ACT_LEND:
	case ACT_YIELD:
		step_pass(w, c, a);
		break;
	default:
		step_line(w, c, a);
		break;
	}
}

/* --- the death of nodes ----------------------------------------------------------- */

void pages_die(struct world *w, const struct config *c, int n)
{
	for (int i = 0; i < c->lines; i++) {
		struct weft_line *l = &w->line[n][i];

		weft_line_init(l, l->key, l->self);
		/* of what its card has begun to send there may still come more */
		if (!is_written(w, n, l->key))
			memset(w->data[n][i], GARBAGE, MAX_FRAGS);
	}
}

u8 pages_gone(struct world *w, const struct config *c, int n, u8 lines)
{
	u8 later = 0;

	for (int i = 0; i < c->lines; i++) {
		struct weft_out out;

		if (!(lines & 1u << i))
			continue;
		if (!weft_line_gone(&w->line[n][i], w->death.heard[n], &out))
			later |= (u8)(1u << i);
		do_out(w, c, n, i, &out, NULL);
	}
	pursue(w, c, n);
	return later;
}

void pages_renew(struct world *w, const struct config *c, int n)
{
	for (int i = 0; i < c->lines; i++) {
		struct weft_out out;

		weft_line_return(&w->line[n][i], w->seq[n] + 1, &out);
		used(w, n, i);
		do_out(w, c, n, i, &out, NULL);
	}
	pursue(w, c, n);
}

/* --- what is the same, and when nothing is left to do ------------------------------ */

/* What is left over from transactions that are done. */
static void tidy_line(const struct config *c, struct weft_line *l)
{
	struct weft_line keep = *l;

	if (l->op == WEFT_OP_NONE) {
		u64 key = l->key;

		weft_line_init(l, key, keep.self);
		l->state = keep.state;
		l->held = keep.held;
		l->revoking = keep.revoking;
		l->quiet = keep.quiet;
		if (l->state != WEFT_I || l->held)
			l->version = keep.version;
		if (l->state == WEFT_M || l->held) {
			l->owned = keep.owned;
			l->lent = keep.lent;
			l->back = keep.back;
			l->unasked = keep.unasked;
		}
		l->loaned = l->state == WEFT_S && keep.loaned;
		l->lender = l->loaned && c->deaths ? keep.lender : 0;
		l->heir = keep.heir;
		if (l->held) {
			l->chase_home = keep.chase_home;
			l->nonce = keep.nonce;
			l->held_txn = keep.held_txn;
			l->held_grant = keep.held_grant;
		}
		if (l->revoking) {
			l->rq = keep.rq;
			l->lending = keep.lending;
		}
	} else {
		if (!l->revoking)
			memset(&l->rq, 0, sizeof(l->rq));
		if (!l->held)
			l->nonce = l->held_txn = l->held_grant = 0;
		if (l->state != WEFT_M && !l->held)
			l->owned = 0;
		if (l->state != WEFT_M && !l->held && !weft_line_returning(l))
			l->lent = l->back = 0;
		l->loaned = l->state == WEFT_S && l->loaned;
		l->lender = l->loaned && c->deaths ? l->lender : 0;
		if (!l->returned)
			l->returned_version = 0;
		if (l->op != WEFT_OP_GETS)
			l->wb_version = 0;
		if (l->op != WEFT_OP_GETS && !l->provider_nonce)
			l->provider_id = 0;
	}
}

/* Wipe what the core does not read: equal states must look equal. */
void pages_tidy(struct world *w, const struct config *c, int n)
{
	for (int i = 0; i < c->lines; i++) {
		tidy_line(c, &w->line[n][i]);
		/* what the home says to a CHASE if nobody leaves is nothing */
		if (!c->leaves && !c->deaths)
			w->line[n][i].chase_home = false;
	}
	if (!w->passes && !w->lends && !w->yields) {
		memset(w->told, 0, sizeof(w->told));
		memset(w->told_perm, 0, sizeof(w->told_perm));
	}
}

bool pages_at_rest(const struct world *w, const struct config *c)
{
	for (int n = 0; n < c->nodes; n++)
		for (int i = 0; i < c->lines; i++)
			if (!weft_line_idle(&w->line[n][i]))
				return false;
	return true;
}

void pages_print(const struct world *w, const struct config *c, int line)
{
	for (int n = 0; n < c->nodes; n++) {
		const struct weft_line *l = &w->line[n][line];

		printf("    node %d: state %u op %u%s%s txn %u owned %u lent %x loans %x returned %x held %u revoking %u poisoned %d acked %x copyset %x v%llu data %u want %u\n",
		       n + 1, l->state, l->op, l->expecting ? " expecting" : "",
		       l->landing ? " landing" : "",
		       l->txn & WEFT_TXN_SEQ_MASK, l->owned, l->lent, l->loans, l->returned,
		       l->held, l->revoking, l->poisoned, l->acked, l->copyset,
		       (unsigned long long)l->version, w->data[n][line][0],
		       w->want_line[n] == line ? w->want[n] : 0);
	}
}
