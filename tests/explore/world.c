// SPDX-License-Identifier: GPL-2.0-only
/* The rack that is explored; see world.h. */
#include <stdio.h>
#include <stdlib.h>

#include "world.h"

#define HOME		WEFT_BLADE_MIN
#define GARBAGE		0xEE	/* freed memory */

static const char *wrong;	/* what a step found */

static void complain(const char *what)
{
	if (!wrong)
		wrong = what;
}

/* Lines 0 and 1 of region 1; in one slot of the switch if the config says so. */
static u64 key_of(const struct config *c, int i)
{
	return weft_line_key(1, c->locks ? WEFT_KIND_LOCK : WEFT_KIND_PAGE,
			     c->same_slot && i ? 0x10001u : (u64)i);
}

static int line_of(const struct config *c, u64 key)
{
	for (int i = 0; i < c->lines; i++)
		if (key_of(c, i) == key)
			return i;
	abort();
}

void world_init(struct world *w, const struct config *c)
{
	memset(w, 0, sizeof(*w));
	for (int i = 0; i < c->lines; i++) {
		weft_home_init(&w->home[i], key_of(c, i), HOME);
		for (int n = 0; n < c->nodes && !c->locks; n++) {
			weft_line_init(&w->line[n][i], key_of(c, i), (u8)(n + 1));
			memset(w->data[n][i], GARBAGE, MAX_FRAGS);
		}
	}
	for (int i = 0; i < c->lines && c->owned; i++) {
		struct weft_dir_entry *e = &w->home[i].e;

		e->status = WEFT_M;
		e->copyset = weft_node_bit(1);
		e->grant = WEFT_GRANT_OWNED;
		if (c->use_switch) {
			w->home[i].place = WEFT_IN_SWITCH;
			w->slot[i].tag = key_of(c, i);
			w->slot[i].entry = *e;
			memset(e, 0, sizeof(*e));
		}
		w->line[0][i].state = WEFT_M;
		w->line[0][i].owned = WEFT_GRANT_OWNED;
		w->truth[i] = 1;
		memset(w->data[0][i], w->truth[i], MAX_FRAGS);
	}
	if (c->same_slot && weft_line_slot(key_of(c, 0)) != weft_line_slot(key_of(c, 1)))
		abort();
	if (c->locks)
		locks_init(w, c, key_of(c, 0));
	/* they may begin anywhere, and go round */
	for (int i = 0; c->locks && i < c->lines; i++)
		w->home[i].e.grant = 0u - 3 * WEFT_EPOCH_STEP;
	memcpy(w->ops, c->ops, sizeof(w->ops));
	w->loss = c->loss;
	w->dup = c->dup;
	w->spurious = c->spurious;
	w->steals = c->steals;
	w->recalls = c->recalls;
	w->expects = c->expects;
	w->passes = c->passes;
	w->lends = c->lends;
	w->yields = c->yields;
	w->hasty = c->hasty;
}

static u32 members(const struct config *c)
{
	return (1u << c->nodes) - 1;
}

/* --- network ---------------------------------------------------------------- */

static void put_flight(struct world *w, const struct flight *f)
{
	int i = w->flights;

	if (i == MAX_FLIGHT) {
		complain("more messages in flight than the model has room for");
		return;
	}
	/* kept sorted: the order of sending is no part of the state */
	while (i > 0 && memcmp(&w->flight[i - 1], f, sizeof(*f)) > 0) {
		w->flight[i] = w->flight[i - 1];
		i--;
	}
	w->flight[i] = *f;
	w->flights++;
}

static void take_flight(struct world *w, int i)
{
	w->flights--;
	memmove(&w->flight[i], &w->flight[i + 1],
		(size_t)(w->flights - i) * sizeof(w->flight[0]));
	memset(&w->flight[w->flights], 0, sizeof(w->flight[0]));
}

static void to_flight(struct flight *f, const struct weft_msg *m, u8 hop, u8 to)
{
	memset(f, 0, sizeof(*f));
	f->line = m->line;
	f->version = m->version;
	f->txn = m->txn;
	f->copyset = m->copyset;
	f->provider = m->provider;
	f->holder = m->holder;
	f->nonce = m->nonce;
	f->grant = m->grant;
	f->offset = m->offset;
	f->info = m->info;
	f->type = m->type;
	f->flags = m->flags;
	f->src = m->src;
	f->status = m->status;
	f->size = (u8)m->size;
	f->hop = hop;
	f->to = to;
	f->used = 1;
	for (u32 i = 0; i < m->len / 4 && i < MAX_NODES; i++)
		f->list[i] = get_unaligned_be32((const u8 *)m->payload + 4 * i);
}

static void from_flight(struct weft_msg *m, const struct flight *f)
{
	memset(m, 0, sizeof(*m));
	m->line = f->line;
	m->version = f->version;
	m->txn = f->txn;
	m->copyset = f->copyset;
	m->provider = f->provider;
	m->holder = f->holder;
	m->nonce = f->nonce;
	m->grant = f->grant;
	m->offset = f->offset;
	m->info = f->info;
	m->type = f->type;
	m->flags = f->flags;
	m->src = f->src;
	m->status = f->status;
	m->size = f->size;
}

/* With the payload of a HAND, which comes into @list. */
void world_message(struct weft_msg *m, const struct flight *f, u8 *list)
{
	from_flight(m, f);
	for (int i = 0; i < MAX_NODES && f->list[i]; i++) {
		put_unaligned_be32(f->list[i], list + 4 * i);
		m->payload = list;
		m->len += 4;
	}
}

static void post(struct world *w, const struct weft_msg *m, u8 hop, u8 to,
		 const u8 *val)
{
	struct flight f;

	to_flight(&f, m, hop, to);
	if (val)
		memcpy(f.val, val, MAX_FRAGS);
	put_flight(w, &f);
}

/* The whole block, in as many messages as the configuration has fragments. */
static void post_data(struct world *w, const struct config *c,
		      const struct weft_msg *m, u8 hop, u8 to, const u8 *val)
{
	for (u8 i = 0; i < c->frags; i++) {
		struct weft_msg part = *m;
		u8 one[MAX_FRAGS] = { val[i] };

		part.info = 1;
		part.offset = i;
		part.size = c->frags;
		post(w, &part, hop, to, one);
	}
}

/* --- a node ------------------------------------------------------------------ */

static u8 first_hop(const struct config *c)
{
	return c->use_switch ? HOP_SWITCH : HOP_HOME;
}

void world_post(struct world *w, const struct config *c, const struct weft_send *s)
{
	post(w, &s->msg, s->to ? HOP_NODE : first_hop(c), s->to, NULL);
}

static void do_out(struct world *w, const struct config *c, int n, int i,
		   const struct weft_out *out, const struct flight *in)
{
	u8 *data = w->data[n][i];

	if (out->n > WEFT_OUT_MAX)
		complain("more messages than struct weft_out has room for");
	if (out->effects & WEFT_DO_INSTALL)
		data[in->offset] = in->val[0];
	for (u32 k = 0; k < out->n; k++) {
		const struct weft_send *s = &out->send[k];

		u8 hop = s->to ? HOP_NODE : first_hop(c);

		if (!s->with_data)
			post(w, &s->msg, hop, s->to, NULL);
		else if (s->msg.type == WEFT_MSG_WB)
			post(w, &s->msg, HOP_HOME, HOME, data);
		else
			post_data(w, c, &s->msg, hop, s->to, data);
	}
	if (out->effects & WEFT_DO_FREE)
		memset(data, GARBAGE, MAX_FRAGS);
	if (out->effects & WEFT_DO_FAIL)
		complain("a transaction failed");
	/*
	 * How long to back off is the host's business.  The next refusal asks the
	 * holder, so that a dead one is found at once.
	 */
	w->line[n][i].nacks = WEFT_CHASE_AFTER - 1;
	w->line[n][i].tries = 0;
}

/* What programs can still do, through mappings that are not yet revoked. */
static u8 effective(const struct weft_line *l)
{
	if (!l->revoking || l->quiesced)
		return weft_line_perm(l);
	return l->state == WEFT_M && l->lent ? WEFT_S : l->state;
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
	weft_line_want(l, w->want[n], w->seq[n] + 1, &out);
	used(w, n, i);
	do_out(w, c, n, i, &out, NULL);
}

static void node_recv(struct world *w, const struct config *c,
		      const struct flight *f)
{
	int n = f->to - 1, i = line_of(c, f->line);
	struct weft_msg m;
	struct weft_out out;

	if (c->locks) {
		locks_recv(w, c, n, f);
		return;
	}
	from_flight(&m, f);
	weft_line_recv(&w->line[n][i], &m, w->seq[n] + 1, &out);
	used(w, n, i);
	do_out(w, c, n, i, &out, f);
	pursue(w, c, n);
}

/* --- switch and home ----------------------------------------------------------- */

static void switch_recv(struct world *w, const struct config *c,
			const struct flight *f)
{
	int i = line_of(c, f->line);
	u64 at = weft_line_slot(f->line);
	/* of the 65,536 slots only those of our lines exist */
	struct weft_switch sw = {
		.members = members(c),
		.slots = &w->slot[c->same_slot ? 0 : i] - at,
	};
	struct weft_msg m;
	u32 targets;
	u8 src = f->src, list[4 * MAX_NODES];

	world_message(&m, f, list);
	switch (weft_switch_handle(&sw, &m, &targets)) {
	case WEFT_TO_NOBODY:
		break;
	case WEFT_TO_SENDER:
		post(w, &m, weft_is_blade(src) ? HOP_HOME : HOP_NODE, src, NULL);
		break;
	case WEFT_TO_HOME:
		post(w, &m, HOP_HOME, HOME, f->val);
		break;
	case WEFT_TO_NODES:
		for (u8 id = 1; id <= c->nodes; id++)
			if (targets & weft_node_bit(id))
				post(w, &m, HOP_NODE, id, f->val);
		break;
	}
}

static void serve_read(struct world *w, const struct config *c,
		       const struct weft_msg *read)
{
	int i = line_of(c, read->line);
	struct weft_msg m = *read;

	m.type = WEFT_MSG_DATA;
	m.flags &= WEFT_F_BUSY | WEFT_F_EXCL | WEFT_F_SWITCH;
	m.src = HOME;
	m.version = w->home_version[i];
	m.nonce = 0;
	m.provider = 0;
	m.holder = 0;
	post_data(w, c, &m, HOP_NODE, (u8)weft_txn_member(read->txn), w->home_data[i]);
}

static void store(struct world *w, const struct config *c,
		  const struct flight *f)
{
	int i = line_of(c, f->line);
	struct weft_msg m;

	if (f->version > w->home_version[i]) {
		w->home_version[i] = f->version;
		memcpy(w->home_data[i], f->val, MAX_FRAGS);
	}
	from_flight(&m, f);
	m.type = WEFT_MSG_WB_ACK;
	m.src = HOME;
	post(w, &m, HOP_NODE, (u8)weft_txn_member(f->txn), NULL);
}

/* @sender, @val: of the message that it follows from, if it does. */
static void do_home_out(struct world *w, const struct config *c,
			const struct weft_home_out *out, u8 sender, const u8 *val)
{
	if (out->lost)
		complain("the switch lost a line");
	if (out->to_switch)
		post(w, &out->sw, HOP_SWITCH, 0, NULL);
	if (out->chase)
		post(w, &out->msg_chase, HOP_NODE, out->chase, NULL);
	switch (out->dest) {
	case WEFT_TO_NOBODY:
		break;
	case WEFT_TO_SENDER:
		post(w, &out->msg, HOP_NODE, sender, NULL);
		break;
	case WEFT_TO_HOME:
		serve_read(w, c, &out->msg);
		break;
	case WEFT_TO_NODES:
		for (u8 id = 1; id <= c->nodes; id++)
			if (out->targets & weft_node_bit(id))
				post(w, &out->msg, HOP_NODE, id, val);
		break;
	}
}

static void home_recv(struct world *w, const struct config *c,
		      const struct flight *f)
{
	int i = line_of(c, f->line);
	struct weft_home_line *l = &w->home[i];
	struct weft_home_out out;
	u8 list[4 * MAX_NODES];
	struct weft_msg m;

	if (f->type == WEFT_MSG_WB) {
		store(w, c, f);
		return;
	}
	world_message(&m, f, list);
	if (f->type == WEFT_MSG_READ) {
		serve_read(w, c, &m);
		return;
	}
	weft_home_recv(l, members(c), c->use_switch, &m,
		       w->seq[MAX_NODES] + 1, &out);
	if (l->txn == weft_txn(HOME, w->seq[MAX_NODES] + 1))
		w->seq[MAX_NODES]++;
	do_home_out(w, c, &out, f->src, f->val);
	l->tries = WEFT_CHASE_AFTER - 1;
	l->full = 0;
}

/* --- actions --------------------------------------------------------------------- */

/* Nothing more will happen to a line unless a time-out does it. */
bool world_silent(const struct world *w, const struct config *c, int line)
{
	for (int i = 0; i < w->flights; i++)
		if (w->flight[i].line == key_of(c, line))
			return false;
	for (int n = 0; n < c->nodes; n++)
		if (c->locks ? locks_busy(w, c, n) :
			       w->line[n][line].revoking)
			return false;
	return true;
}

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

void world_add(struct action *a, int *k, u8 kind, int node, int line, int flight)
{
	if (*k == MAX_ACTIONS)
		abort();
	a[(*k)++] = (struct action){ kind, (u8)node, (u8)line, (u8)flight };
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

static void node_actions(const struct world *w, const struct config *c, int n,
			 struct action *a, int *k)
{
	for (int i = 0; i < c->lines; i++) {
		const struct weft_line *l = &w->line[n][i];
		u8 perm = effective(l);

		bool waiting = w->want[n] == WEFT_M && w->want_line[n] == i &&
			       perm == WEFT_M;

		/* the host lets the access finish that the line was fetched for */
		if (l->revoking && (!waiting || w->steals))
			world_add(a, k, ACT_REVOKED, n, i, 0);
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

int world_actions(const struct world *w, const struct config *c,
		  struct action *a)
{
	int k = 0;

	for (int i = 0; i < w->flights; i++) {
		if (i && !memcmp(&w->flight[i], &w->flight[i - 1], sizeof(w->flight[0])))
			continue;
		world_add(a, &k, ACT_DELIVER, 0, 0, i);
		if (w->dup && (!c->dup_type || c->dup_type == w->flight[i].type))
			world_add(a, &k, ACT_REPEAT, 0, 0, i);
		if (w->loss)
			world_add(a, &k, ACT_LOSE, 0, 0, i);
	}
	for (int n = 0; n < c->nodes; n++) {
		if (c->locks)
			locks_actions(w, c, n, a, &k);
		else
			node_actions(w, c, n, a, &k);
	}
	for (int i = 0; i < c->lines; i++) {
		const struct weft_home_line *l = &w->home[i];

		if (l->place == WEFT_IN_SWITCH && w->recalls)
			world_add(a, &k, ACT_RECALL, 0, i, 0);
		if (l->place != WEFT_IN_SWITCH && l->place != WEFT_AT_HOME &&
		    (w->spurious || world_silent(w, c, i)))
			world_add(a, &k, ACT_HOME_TIMEOUT, 0, i, 0);
	}
	return k;
}

static void deliver(struct world *w, const struct config *c,
		    const struct flight *f)
{
	if (f->hop == HOP_SWITCH)
		switch_recv(w, c, f);
	else if (f->hop == HOP_HOME || weft_is_blade(f->to))
		home_recv(w, c, f);
	else
		node_recv(w, c, f);
}

/* The entry of a line, wherever it is served; NULL while it moves. */
static const struct weft_dir_entry *entry_of(const struct world *w,
					     const struct config *c, int i)
{
	const struct weft_slot *slot = &w->slot[c->same_slot ? 0 : i];

	if (w->home[i].place == WEFT_AT_HOME)
		return &w->home[i].e;
	return w->home[i].place == WEFT_IN_SWITCH ? &slot->entry : NULL;
}

/*
 * Single writer or many readers, and everybody sees the last value written: those
 * who can read, and the home, unless there is an owner or will be one.
 */
static void check(const struct world *w, const struct config *c)
{
	for (int i = 0; i < c->lines; i++) {
		const struct weft_dir_entry *e = entry_of(w, c, i);
		int readers = 0, writers = 0;

		for (int f = 0; e && !e->lock && e->status != WEFT_M && f < c->frags; f++)
			if (w->home_data[i][f] != w->truth[i])
				complain("nobody owns the line, and the home does not have the last value");
		for (int n = 0; n < c->nodes; n++) {
			u8 perm = effective(&w->line[n][i]);

			readers += perm == WEFT_S;
			writers += perm == WEFT_M;
			for (int f = 0; perm != WEFT_I && f < c->frags; f++)
				if (w->data[n][i][f] != w->truth[i])
					complain("a node can read a value that is not the last one written");
		}
		if (writers > 1)
			complain("two nodes can write");
		if (writers && readers)
			complain("a node can write while another can read");
	}
}

static u32 named(const struct world *w, const struct action *a)
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
		done = weft_line_lend(l, named(w, a), &out);
		break;
	case ACT_YIELD:
		w->yields--;
		done = weft_line_yield(l, named(w, a), &out);
		break;
	default:
		w->passes--;
		done = weft_line_pass(l, named(w, a), &out);
		break;
	}
	if (!done)
		complain("a line cannot be expected, expected no more, passed on or lent");
	do_out(w, c, n, i, &out, NULL);
	pursue(w, c, n);
}

static void step_node(struct world *w, const struct config *c,
		      const struct action *a)
{
	int n = a->node, i = a->line;
	struct weft_line *l = &w->line[n][i];
	u32 fresh = w->seq[n] + 1;
	struct weft_out out;

	switch (a->kind) {
	case ACT_REVOKED:
		if (w->want[n] == WEFT_M && w->want_line[n] == i &&
		    effective(l) == WEFT_M)
			w->steals--;
		weft_line_revoked(l, fresh, &out);
		break;
	case ACT_TIMEOUT:
		if (patient(l) && (early(w, c, n, i) || others_wait(w, c, n)))
			w->hasty--;
		else if (early(w, c, n, i))
			w->spurious--;
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

static void step_home(struct world *w, const struct config *c,
		      const struct action *a)
{
	struct weft_home_line *l = &w->home[a->line];
	u32 fresh = w->seq[MAX_NODES] + 1;
	struct weft_home_out out;

	if (a->kind == ACT_RECALL) {
		w->recalls--;
		weft_home_recall(l, fresh, &out);
		w->seq[MAX_NODES]++;
	} else {
		if (!world_silent(w, c, a->line))
			w->spurious--;
		weft_home_timeout(l, &out);
	}
	do_home_out(w, c, &out, 0, NULL);
	l->tries = WEFT_CHASE_AFTER - 1;
}

/*
 * Wipe what is left over from transactions that are done: the core does not
 * read it, and it would make equal states look different.
 */
static void tidy(struct world *w, const struct config *c)
{
	for (int i = 0; i < c->lines; i++) {
		struct weft_home_line *h = &w->home[i];

		if (h->place == WEFT_IN_SWITCH)
			memset(&h->e, 0, sizeof(h->e));
		if (h->place == WEFT_IN_SWITCH || h->place == WEFT_AT_HOME)
			h->txn = 0;
		for (int n = 0; n < c->nodes && !c->locks; n++) {
			struct weft_line *l = &w->line[n][i];
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
				}
				l->loaned = l->state == WEFT_S && keep.loaned;
				if (l->held) {
					l->nonce = keep.nonce;
					l->held_txn = keep.held_txn;
					l->held_grant = keep.held_grant;
				}
				if (l->revoking)
					l->rq = keep.rq;
			} else {
				if (!l->revoking)
					memset(&l->rq, 0, sizeof(l->rq));
				if (!l->held)
					l->nonce = l->held_txn = l->held_grant = 0;
				if (l->state != WEFT_M && !l->held)
					l->owned = l->lent = l->back = 0;
				l->loaned = l->state == WEFT_S && l->loaned;
				if (!l->returned)
					l->returned_version = 0;
				if (l->op != WEFT_OP_GETS)
					l->wb_version = 0;
			}
		}
	}
	if (c->locks)
		locks_tidy(w, c);
	if (!w->passes && !w->lends && !w->yields) {
		memset(w->told, 0, sizeof(w->told));
		memset(w->told_perm, 0, sizeof(w->told_perm));
	}
}

const char *world_step(struct world *w, const struct config *c,
		       const struct action *a)
{
	struct flight f = w->flight[a->flight];
	int n = a->node;

	wrong = NULL;
	switch (a->kind) {
	case ACT_REPEAT:
		w->dup--;
		deliver(w, c, &f);
		break;
	case ACT_LOSE:
		w->loss--;
		take_flight(w, a->flight);
		break;
	case ACT_DELIVER:
		take_flight(w, a->flight);
		deliver(w, c, &f);
		break;
	case ACT_ACCESS:
		w->truth[a->line]++;
		memset(w->data[n][a->line], w->truth[a->line], c->frags);
		w->want[n] = 0;
		break;
	case ACT_READ:
	case ACT_WRITE:
		w->ops[n]--;
		w->want[n] = a->kind == ACT_READ ? WEFT_S : WEFT_M;
		w->want_line[n] = a->line;
		pursue(w, c, n);
		break;
	case ACT_HOME_TIMEOUT:
	case ACT_RECALL:
		step_home(w, c, a);
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
		if (c->locks)
			locks_step(w, c, a);
		else
			step_node(w, c, a);
		break;
	}
	if (c->locks && !wrong)
		wrong = locks_check(w, c);
	else if (!c->locks)
		check(w, c);
	tidy(w, c);
	return wrong;
}

bool world_at_rest(const struct world *w, const struct config *c)
{
	if (w->flights)
		return false;
	for (int n = 0; n < c->nodes; n++) {
		if (w->want[n])
			return false;
		for (int i = 0; i < c->lines && !c->locks; i++)
			if (!weft_line_idle(&w->line[n][i]))
				return false;
	}
	if (c->locks && !locks_at_rest(w, c))
		return false;
	/* a lock that nobody holds may stay: the next request chases it away */
	for (int i = 0; i < c->lines; i++)
		if (w->home[i].place != WEFT_IN_SWITCH &&
		    w->home[i].place != WEFT_AT_HOME)
			return false;
	return true;
}

/* --- printing ---------------------------------------------------------------------- */

void world_print_action(const struct world *w, const struct action *a)
{
	static const char * const name[] = {
		"deliver", "deliver a copy of", "lose", "has revoked", "times out",
		"writes", "wants to read", "wants to write", "evicts", "drops",
		"cleans", "home times out", "home recalls", "wants to read",
		"wants to write", "lets go", "lets others read", "expects to read", "expects to write",
		"does not expect it any more", "passes on, to:",
		"lends to:", "gives back, to:",
	};
	bool pass = a->kind >= ACT_PASS;

	if (a->kind <= ACT_LOSE) {
		const struct flight *f = &w->flight[a->flight];

		printf("%s %s txn=%u.%u line=%u flags=%x status=%u copyset=%x grant=%u holder=%x from %u to %s%u nonce=%x v=%llu\n",
		       name[a->kind], weft_msg_name(f->type),
		       weft_txn_member(f->txn), f->txn & WEFT_TXN_SEQ_MASK,
		       (u32)weft_line_index(f->line), f->flags, f->status,
		       f->copyset, f->grant, f->holder, f->src,
		       f->hop == HOP_SWITCH ? "switch " : f->hop == HOP_HOME ? "home " : "node ",
		       f->to, f->nonce, (unsigned long long)f->version);
	} else if (pass) {
		u32 txn = named(w, a);

		printf("node %u line %u: %s txn=%u.%u\n", a->node + 1, a->line,
		       name[a->kind], weft_txn_member(txn), txn & WEFT_TXN_SEQ_MASK);
	} else {
		printf("node %u line %u: %s\n", a->node + 1, a->line, name[a->kind]);
	}
}

void world_print(const struct world *w, const struct config *c)
{
	for (int i = 0; i < c->lines; i++) {
		printf("  line %d: truth %u, home: place %u lock %x grant %u status %u copyset %x, data %u v%llu; slot: tag %llx lock %x grant %u status %u copyset %x\n",
		       i, w->truth[i], w->home[i].place, w->home[i].e.lock,
		       w->home[i].e.grant, w->home[i].e.status, w->home[i].e.copyset, w->home_data[i][0],
		       (unsigned long long)w->home_version[i],
		       (unsigned long long)w->slot[i].tag, w->slot[i].entry.lock,
		       w->slot[i].entry.grant, w->slot[i].entry.status, w->slot[i].entry.copyset);
		for (int n = 0; n < c->nodes && !c->locks; n++) {
			const struct weft_line *l = &w->line[n][i];

			printf("    node %d: state %u op %u%s txn %u owned %u lent %x loans %x returned %x held %u revoking %u poisoned %d acked %x copyset %x v%llu data %u want %u\n",
			       n + 1, l->state, l->op, l->expecting ? " expecting" : "",
			       l->txn & WEFT_TXN_SEQ_MASK, l->owned, l->lent, l->loans, l->returned,
			       l->held, l->revoking, l->poisoned, l->acked, l->copyset,
			       (unsigned long long)l->version, w->data[n][i][0],
			       w->want_line[n] == i ? w->want[n] : 0);
		}
	}
	if (c->locks)
		locks_print(w, c);
	for (int k = 0; k < w->flights; k++) {
		struct action a = { .kind = ACT_DELIVER, .flight = (u8)k };

		printf("    in flight: ");
		world_print_action(w, &a);
	}
}
