// SPDX-License-Identifier: GPL-2.0-only
/* The nodes of a world whose line is a lock; see nodes.h. */
#include <stdio.h>

#include "network.h"
#include "nodes.h"

void locks_init(struct world *w, const struct config *c)
{
	for (int n = 0; n < c->nodes; n++)
		weft_lock_init(&w->lock[n], world_key(c, 0), (u8)(n + 1));
}

/* A sequence number counts as used if the lock took it. */
static void used(struct world *w, int n)
{
	u32 txn = weft_txn((u32)n + 1, w->seq[n] + 1);

	if (w->lock[n].txn == txn || w->lock[n].query == txn)
		w->seq[n]++;
}

static u8 before;	/* permission that the node had whose turn it is */

/* Who has the lock after a dead node had it to write hears so; nobody else does. */
static void tell(struct world *w, int n)
{
	const struct weft_lock *l = &w->lock[n];
	struct death *d = &w->death;

	if (l->state == before || l->state == WEFT_I)
		return;
	before = l->state;
	if (l->died && !d->blamed)
		world_complain("a node hears that a writer died, and none did");
	if (l->state == WEFT_S)
		return;
	if (!l->died && d->owed)
		world_complain("a node does not hear that the writer before it died");
	d->owed = d->blamed = 0;
}

/* What the host does with the outcome of an event, and for a waiting program. */
static void do_out(struct world *w, const struct config *c, int n,
		   const struct weft_lock_out *out)
{
	struct weft_lock *l = &w->lock[n];

	used(w, n);
	tell(w, n);
	for (u32 i = 0; i < out->n; i++)
		network_send(w, c, &out->send[i], NULL);
	if (out->effects & WEFT_DO_WAKE && w->want[n] && l->state >= w->want[n]) {
		w->hold[n] = w->want[n];
		w->want[n] = WEFT_I;
	}
	if (out->effects & WEFT_DO_FREE)
		weft_lock_init(l, l->key, l->self);
}

/* The host asks for what a program still waits for. */
static void pursue(struct world *w, const struct config *c, int n)
{
	struct weft_lock *l = &w->lock[n];
	struct weft_lock_out out;

	if (!w->want[n])
		return;
	if (weft_lock_perm(l) >= w->want[n]) {
		w->hold[n] = w->want[n];
		w->want[n] = WEFT_I;
		return;
	}
	weft_lock_want(l, w->want[n], w->seq[n] + 1, &out);
	do_out(w, c, n, &out);
}

void locks_recv(struct world *w, const struct config *c, int n,
		const struct flight *f)
{
	u8 list[4 * MAX_NODES];
	struct weft_lock_out out;
	struct weft_msg m;

	before = w->lock[n].state;
	network_message(&m, f, list);
	weft_lock_recv(&w->lock[n], &m, w->seq[n] + 1, &out);
	do_out(w, c, n, &out);
	pursue(w, c, n);
}

static bool can_share(const struct weft_lock *l)
{
	struct weft_lock copy = *l;
	struct weft_lock_out out;

	return weft_lock_share(&copy, &out);
}

/* Somebody waits to write, or the nodes still believe so of one who has what he wanted. */
static bool awaits_writer(const struct world *w, const struct config *c)
{
	for (int n = 0; n < c->nodes; n++) {
		const struct weft_lock *l = &w->lock[n];

		if (w->want[n] == WEFT_M || l->queue.writers ||
		    (l->handing && l->handed.writers) ||
		    (l->tenured && l->state != WEFT_M))
			return true;
	}
	return false;
}

/*
 * Who reads may do so until another one reads, too: if nobody waits to write it lets
 * go only when all who want to read do.
 */
static bool lets_go(const struct world *w, const struct config *c, int n)
{
	if (w->hold[n] == WEFT_M || awaits_writer(w, c))
		return true;
	for (int i = 0; i < c->nodes; i++)
		if (w->want[i] == WEFT_S)
			return false;
	return true;
}

/* Something happens here without a message or a time-out. */
bool locks_busy(const struct world *w, const struct config *c, int n)
{
	const struct weft_lock *l = &w->lock[n];

	return w->hold[n] ? lets_go(w, c, n) || can_share(l) : l->revoking;
}

void locks_actions(const struct world *w, const struct config *c, int n,
		   struct action *a, int *k)
{
	const struct weft_lock *l = &w->lock[n];

	if (!world_lives(w, n))
		return;
	if (w->hold[n] && lets_go(w, c, n))
		world_add(a, k, ACT_UNLOCK, n, 0, 0);
	if (w->hold[n] == WEFT_S && can_share(l))
		world_add(a, k, ACT_SHARE, n, 0, 0);
	if (!w->hold[n] && l->revoking)
		world_add(a, k, ACT_REVOKED, n, 0, 0);
	if (!weft_lock_idle(l) && (w->spurious || world_silent(w, c, 0)))
		world_add(a, k, ACT_TIMEOUT, n, 0, 0);
	if (w->want[n] || w->hold[n] || !w->ops[n])
		return;
	world_add(a, k, ACT_RDLOCK, n, 0, 0);
	world_add(a, k, ACT_WRLOCK, n, 0, 0);
	if (c->evicts && weft_lock_idle(l) && l->state != WEFT_I)
		world_add(a, k, ACT_EVICT, n, 0, 0);
}

void locks_step(struct world *w, const struct config *c, const struct action *a)
{
	struct weft_lock_out out = { 0 };
	int n = a->node;

	before = w->lock[n].state;
	switch (a->kind) {
	case ACT_RDLOCK:
	case ACT_WRLOCK:
		w->ops[n]--;
		w->want[n] = a->kind == ACT_RDLOCK ? WEFT_S : WEFT_M;
		break;
	case ACT_UNLOCK:
		w->hold[n] = WEFT_I;
		break;
	case ACT_REVOKED:
		weft_lock_revoked(&w->lock[n], &out);
		break;
	case ACT_SHARE:
		weft_lock_share(&w->lock[n], &out);
		break;
	case ACT_EVICT:
		w->ops[n]--;
		weft_lock_evict(&w->lock[n], &out);
		break;
	default: /* ACT_TIMEOUT */
		if (!world_silent(w, c, 0))
			w->spurious--;
		weft_lock_timeout(&w->lock[n], &out);
		break;
	}
	do_out(w, c, n, &out);
	pursue(w, c, n);
}

/* A dead node is the holder of the queue: the lock may have been its own. */
void locks_settle(struct world *w)
{
	w->death.blamed |= (w->home[0].e.lock | w->slot[0].entry.lock) & w->death.dead;
}

/* One writer or many readers, in what nodes have and in what programs hold. */
const char *locks_check(const struct world *w, const struct config *c)
{
	int readers = 0, writers = !!w->death.writer;

	for (int n = 0; n < c->nodes; n++) {
		readers += w->lock[n].state == WEFT_S;
		writers += w->lock[n].state == WEFT_M;
		if (w->hold[n] > w->lock[n].state)
			return "a program holds a lock that its node does not have";
	}
	if (writers > 1)
		return "two nodes have the lock to write";
	if (writers && readers)
		return "a node has the lock to write while another has it to read";
	return NULL;
}

void locks_die(struct world *w, int n)
{
	struct weft_lock *l = &w->lock[n];

	if (l->state == WEFT_M) {
		w->death.writer = (u8)(1u << n);
		w->death.owed = 1;
	}
	weft_lock_init(l, l->key, l->self);
}

void locks_gone(struct world *w, const struct config *c, int n)
{
	struct weft_lock_out out;

	before = w->lock[n].state;
	weft_lock_gone(&w->lock[n], w->death.heard[n], &out);
	do_out(w, c, n, &out);
	pursue(w, c, n);
}

/* Wipe what the core does not read: equal states must look equal. */
void locks_tidy(struct world *w, int n)
{
	struct weft_lock *l = &w->lock[n];

	l->tries = 0;
	l->nacks = 0;
	if (!l->want && !(l->tenured && l->waiting_on))
		l->txn = 0;
	if (!l->handing) {
		memset(&l->handed, 0, sizeof(l->handed));
		l->handed_epoch = l->handed_to = l->handed_readers = 0;
	}
	if (!l->tenured)
		l->waiting_on = 0;
	if (!l->tenured && l->state == WEFT_I)
		l->epoch = 0;
	if (!l->yielding)
		l->yield = l->yield_txn = l->yield_copyset = 0;
	for (u32 i = l->queue.n; i < WEFT_QUEUE_MAX; i++)
		l->queue.txn[i] = 0;
}

/*
 * A node may hold the queue without knowing it: whoever asks next wakes it.  It
 * may have a queue of nodes that do not wait any more.
 */
bool locks_at_rest(const struct world *w, const struct config *c)
{
	for (int n = 0; n < c->nodes; n++)
		if (w->hold[n] || !weft_lock_idle(&w->lock[n]))
			return false;
	return true;
}

void locks_print(const struct world *w, const struct config *c)
{
	printf("  home: holder %x epoch %u copyset %x; slot: holder %x epoch %u copyset %x\n",
	       w->home[0].e.lock, w->home[0].e.grant, w->home[0].e.copyset,
	       w->slot[0].entry.lock, w->slot[0].entry.grant, w->slot[0].entry.copyset);
	for (int n = 0; n < c->nodes; n++) {
		const struct weft_lock *l = &w->lock[n];

		printf("    node %d: state %u want %u (program: waits %u, holds %u)%s%s%s%s epoch %u last %u floor %u waiting on %x yield %u; queue",
		       n + 1, l->state, l->want, w->want[n], w->hold[n],
		       l->revoking ? " revoking" : "", l->tenured ? " tenured" : "",
		       l->handing ? " handing" : "", l->query ? " asking" : "",
		       l->epoch, l->last, l->floor, l->waiting_on, l->yield);
		for (u32 i = 0; i < l->queue.n; i++)
			printf(" %u", weft_txn_member(l->queue.txn[i]));
		printf("\n");
	}
}
