// SPDX-License-Identifier: GPL-2.0-only
/*
 * The history of one slot.  Each write has found a tag and leaves its own, so writes are a
 * chain from nothing to what there is in the end, and where two have found the same one, all
 * that hung at the earlier one is lost.  A death must explain that: of a node that may have
 * been the only one to have the block.  Between two deaths:
 *
 *	who began after another one had ended does not come before it in the chain;
 *	who reads does not read what was replaced before it began, nor what was lost;
 *	two sections do not overlap, unless both read;
 *	nobody finds contents of two, or somebody at work, without being told of a death.
 *
 * What a node does from when it was cut off until it is a member again, if it was taken out
 * meanwhile, is on its own account: it may find what is old, and what it writes is lost.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

#define NONE	SIZE_MAX
#define NODES	33		/* numbered from 1 */

struct chain {
	const struct soak_history *h;
	struct soak_verdict *v;
	struct soak_op *ops;	/* of the slot, and those that nobody wrote down */
	size_t n;
	size_t *by_mine;	/* those that wrote, by tag */
	size_t writes;
	size_t *parent;		/* the write whose tag it has seen; NONE: none, or nobody knows */
	size_t *child, *next;	/* of each write, the writes that have seen it */
	size_t first;		/* of those that have seen none */
	uint64_t *lost;		/* it was gone then; 0: it was not */
};

static void wrong(const struct chain *c, size_t i, const char *what)
{
	const struct soak_op *o = &c->ops[i];

	soak_say(c->v, "%s %" PRIu32 ": node %" PRIu32 " process %" PRIu32 " at %" PRIu64
		 " to %" PRIu64 ", found %" PRIx64 ", wrote %" PRIx64 ": %s",
		 soak_about[o->kind].name, o->slot, o->node, o->worker, o->t0, o->t1, o->seen,
		 o->mine, what);
}

/* --- Who wrote what -------------------------------------------------------------- */

static const struct soak_op *sorted;

static int by_mine(const void *a, const void *b)
{
	uint64_t x = sorted[*(const size_t *)a].mine, y = sorted[*(const size_t *)b].mine;

	return x < y ? -1 : x > y;
}

static void sort_writes(struct chain *c)
{
	size_t i;

	c->writes = 0;
	for (i = 0; i < c->n; i++)
		if (c->ops[i].mine)
			c->by_mine[c->writes++] = i;
	sorted = c->ops;
	qsort(c->by_mine, c->writes, sizeof(*c->by_mine), by_mine);
}

static size_t write_of(const struct chain *c, uint64_t tag)
{
	size_t low = 0, high = c->writes;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (c->ops[c->by_mine[mid]].mine < tag)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->writes && c->ops[c->by_mine[low]].mine == tag ? c->by_mine[low] : NONE;
}

/* Who was killed in the midst of a write, or before it was written down. */
static const struct soak_process *who_died(const struct chain *c, uint64_t tag)
{
	uint32_t worker = (uint32_t)(tag >> 32), seq = (uint32_t)tag;
	size_t i;

	for (i = 0; i < c->h->processes.n; i++) {
		const struct soak_process *p = &c->h->processes.at[i];

		if (p->worker == worker && !p->well && seq > p->seq &&
		    (!p->killed || seq == p->seq + 1))
			return p;
	}
	return NULL;
}

/* A write that is seen here, by @i, and nowhere written down. */
static bool make_up(struct chain *c, size_t i)
{
	const struct soak_process *p = who_died(c, c->ops[i].seen);
	struct soak_op o = c->ops[i];

	if (!p)
		return false;
	o.node = p->node;
	o.worker = p->worker;
	o.told = o.mixed = o.inside = false;
	o.unlogged = true;
	o.t0 = p->last;
	o.t1 = o.ta > p->last ? o.ta : p->last;
	o.ta = o.t0;
	o.tr = o.t1;
	o.mine = o.seen;
	/* as the block says; of a word nobody knows */
	o.seen = o.prev == o.mine ? 0 : o.prev;
	o.prev = 0;
	c->ops[c->n++] = o;
	c->v->unlogged++;
	return true;
}

static void find_unlogged(struct chain *c)
{
	size_t i, w, n = c->n;

	sort_writes(c);
	for (i = 0; i < n; i++) {
		w = c->ops[i].seen ? write_of(c, c->ops[i].seen) : NONE;
		if (w != NONE && c->ops[w].unlogged && c->ops[i].ta < c->ops[w].t1 &&
		    c->ops[i].ta >= c->ops[w].t0)
			c->ops[w].t1 = c->ops[w].tr = c->ops[i].ta;
		if (!c->ops[i].seen || w != NONE)
			continue;
		if (!make_up(c, i))
			wrong(c, i, "nobody has written what it found");
		else
			sort_writes(c);
	}
	for (i = 1; i < c->writes; i++)
		if (c->ops[c->by_mine[i]].mine == c->ops[c->by_mine[i - 1]].mine)
			wrong(c, c->by_mine[i], "the same tag twice");
}

/* Nobody knows after which write it comes: of a word nobody can tell what a dead process found. */
static bool is_loose(const struct chain *c, size_t i)
{
	const struct soak_op *o = &c->ops[i];

	return c->parent[i] == NONE && (o->seen || (o->unlogged && o->kind == SOAK_WORD));
}

static void link_writes(struct chain *c)
{
	size_t i;

	c->first = NONE;
	for (i = 0; i < c->n; i++)
		c->child[i] = c->next[i] = NONE;
	for (i = 0; i < c->n; i++) {
		size_t *list = &c->first;

		c->parent[i] = c->ops[i].seen ? write_of(c, c->ops[i].seen) : NONE;
		if (!c->ops[i].mine)
			continue;
		if (c->parent[i] != NONE)
			list = &c->child[c->parent[i]];
		else if (is_loose(c, i))
			continue;
		c->next[i] = *list;
		*list = i;
	}
}

/* --- What is lost ---------------------------------------------------------------- */

struct branch {
	uint64_t last[NODES];	/* latest beginning of an operation in it, by node */
	uint32_t node;		/* all of it is of that one */
	bool others;		/* ... or not */
	size_t n;
};

/*
 * All that hangs at @i, and was gone at @t; @done: what of it there is.  There are no circles:
 * each is reached by its parent.
 */
static void walk(struct chain *c, size_t i, uint64_t t, struct branch *b)
{
	size_t *stack = malloc((c->n + 1) * sizeof(*stack)), depth = 0, k;

	stack[depth++] = i;
	while (depth) {
		i = stack[--depth];
		if (!c->lost[i])
			b->n++;
		if (!c->lost[i] || c->lost[i] > t)
			c->lost[i] = t;
		/* when who died without writing it down began, nobody knows */
		if (!soak_zombie(c->h, &c->ops[i]) && c->ops[i].t0 > b->last[c->ops[i].node])
			b->last[c->ops[i].node] = c->ops[i].t0;
		if (b->node && b->node != c->ops[i].node)
			b->others = true;
		b->node = c->ops[i].node;
		for (k = c->child[i]; k != NONE; k = c->next[k])
			stack[depth++] = k;
	}
	free(stack);
}

static bool in_span(const struct soak_span *s, size_t n, uint64_t t0, uint64_t t1)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (s[i].t0 <= t1 && s[i].t1 >= t0)
			return true;
	return false;
}

/* Is the block of it in the list of what was lost? A blade that restarts has none of before. */
static bool is_listed(const struct chain *c, const struct soak_death *d, const struct soak_op *o)
{
	uint64_t offset = soak_offset(o->kind, o->slot);
	size_t i;

	if (!d->listed || in_span(c->h->blades.at, c->h->blades.n, d->iso, d->back))
		return true;
	for (i = 0; i < c->h->lost.n; i++) {
		const struct soak_lost *l = &c->h->lost.at[i];

		/* two that died together are listed together, with the first that is looked for */
		if (l->kind == o->kind && l->offset <= offset && offset < l->offset + l->bytes) {
			size_t k;

			for (k = 0; k < c->h->deaths.n; k++)
				if (c->h->deaths.at[k].number == l->death &&
				    c->h->deaths.at[k].iso <= d->back &&
				    c->h->deaths.at[k].back >= d->iso)
					return true;
		}
	}
	return false;
}

/* Nothing of it was written later than what the dead node may have had. */
static bool is_before(const struct branch *b, const struct soak_death *d)
{
	uint32_t node;

	for (node = 0; node < NODES; node++)
		if (b->last[node] > (node == d->node ? d->out : d->sure))
			return false;
	return true;
}

/* A death after which @reader found that @b was gone; NULL and why. */
static const char *unexplained(const struct chain *c, const struct soak_op *reader,
			       const struct branch *b)
{
	const char *why = "what was written before is lost, and no node died";
	size_t i;

	for (i = 0; i < c->h->deaths.n; i++) {
		const struct soak_death *d = &c->h->deaths.at[i];

		if (d->iso > reader->t1 || !is_before(b, d))
			continue;
		if (!is_listed(c, d, reader)) {
			why = "it is lost, and not listed as such";
			continue;
		}
		if (reader->kind == SOAK_RELEASE && (b->others || b->node != d->node) &&
		    !in_span(c->h->unsafe.at, c->h->unsafe.n, d->iso, d->back)) {
			why = "it is lost, though the lock had been handed over, with durability=release";
			continue;
		}
		return NULL;
	}
	return why;
}

static bool zombie(const struct chain *c, size_t i)
{
	return soak_zombie(c->h, &c->ops[i]);
}

static int by_end(const void *a, const void *b)
{
	uint64_t x = sorted[*(const size_t *)a].t1, y = sorted[*(const size_t *)b].t1;

	return x < y ? -1 : x > y;
}

/* @reader has found what @i had found, or older: all from @i on is lost, unless that is its own. */
static void replaced(struct chain *c, size_t reader, size_t i)
{
	struct branch b = { 0 };
	const char *why;

	if (zombie(c, i) || c->lost[i])
		return;
	if (c->ops[reader].mine ? c->ops[i].t1 > c->ops[reader].t1 :
				  c->ops[i].t1 >= c->ops[reader].t0)
		return;
	walk(c, i, c->ops[reader].t1, &b);
	c->v->lost += b.n;
	why = unexplained(c, &c->ops[reader], &b);
	if (why)
		wrong(c, reader, why);
}

static void find_lost(struct chain *c)
{
	size_t *order = malloc((c->n + 1) * sizeof(*order)), i, k;

	for (i = 0; i < c->n; i++)
		order[i] = i;
	sorted = c->ops;
	qsort(order, c->n, sizeof(*order), by_end);
	for (i = 0; i < c->n; i++) {
		size_t r = order[i], p = c->parent[r], q = p, a;

		if (zombie(c, r) || is_loose(c, r))
			continue;
		/* what a node wrote on its own account replaces nothing, unless it is heard */
		for (a = r;; a = q, q = c->parent[q]) {
			for (k = q == NONE ? c->first : c->child[q]; k != NONE; k = c->next[k])
				if (k != a)
					replaced(c, r, k);
			if (q == NONE || !zombie(c, q) || is_loose(c, q))
				break;
		}
		if (p != NONE && c->lost[p] && c->lost[p] < c->ops[r].t0)
			wrong(c, r, "it has found what was lost before");
	}
	free(order);
}

/* --- What else must hold --------------------------------------------------------- */

/* Of a node that was cut off nothing is heard that it has written until it was connected. */
static void check_heard(struct chain *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct soak_op *w = c->parent[i] == NONE ? NULL : &c->ops[c->parent[i]];
		const struct soak_death *d = w && !w->unlogged ? soak_zombie(c->h, w) : NULL;

		if (d && w->t0 > d->sure && w->t1 < d->heal && !zombie(c, i))
			wrong(c, i, "it has found what a node wrote after it was cut off");
	}
}

/* Who began after another one had ended does not come before it. */
static void check_time(struct chain *c)
{
	uint64_t *latest = calloc(c->n + 1, sizeof(*latest));
	size_t *stack = malloc((c->n + 1) * sizeof(*stack)), depth = 0, i, k, seen = 0;

	for (i = 0; i < c->n; i++)
		if (c->ops[i].mine && c->parent[i] == NONE)
			stack[depth++] = i;
	while (depth) {
		i = stack[--depth];
		seen++;
		if (latest[i] > c->ops[i].t1)
			wrong(c, i, "what it found was written after it had ended");
		if (c->ops[i].t0 > latest[i] && !c->ops[i].unlogged)
			latest[i] = c->ops[i].t0;
		for (k = c->child[i]; k != NONE; k = c->next[k]) {
			latest[k] = latest[i];
			stack[depth++] = k;
		}
	}
	for (i = 0; i < c->n; i++)
		if (!c->ops[i].mine && c->parent[i] != NONE && latest[c->parent[i]] > c->ops[i].t1)
			wrong(c, i, "what it found was written after it had ended");
	if (seen < c->writes)
		soak_say(c->v, "%s %" PRIu32 ": writes that have found each other, in a circle",
			 soak_about[c->ops->kind].name, c->ops->slot);
	free(stack);
	free(latest);
}

static int by_begin(const void *a, const void *b)
{
	uint64_t x = sorted[*(const size_t *)a].ta, y = sorted[*(const size_t *)b].ta;

	return x < y ? -1 : x > y;
}

/* Two are inside at a time only if both read. */
static void check_alone(struct chain *c)
{
	size_t *order = malloc((c->n + 1) * sizeof(*order)), n = 0, i, wrote = NONE, any = NONE;

	for (i = 0; i < c->n; i++)
		if (!c->ops[i].unlogged && !zombie(c, i))
			order[n++] = i;
	sorted = c->ops;
	qsort(order, n, sizeof(*order), by_begin);
	for (i = 0; i < n; i++) {
		const struct soak_op *o = &c->ops[order[i]];

		if ((wrote != NONE && c->ops[wrote].tr > o->ta) ||
		    (o->mine && any != NONE && c->ops[any].tr > o->ta))
			wrong(c, order[i], "somebody else had the lock");
		if (o->mine && (wrote == NONE || c->ops[wrote].tr < o->tr))
			wrote = order[i];
		if (any == NONE || c->ops[any].tr < o->tr)
			any = order[i];
	}
	free(order);
}

static bool anybody_died(const struct chain *c, uint64_t t)
{
	size_t i;

	for (i = 0; i < c->h->deaths.n; i++)
		if (c->h->deaths.at[i].iso <= t)
			return true;
	for (i = 0; i < c->h->processes.n; i++)
		if (c->h->processes.at[i].killed && c->h->processes.at[i].last <= t)
			return true;
	return false;
}

/*
 * Who finds a block half changed was told that its owner died.  But where a lock does not
 * say what it guards, it may go on before the block does, whose node dies then: docs/failures.md.
 * The news of a death is in a blade's memory.
 */
static bool may_be_half(const struct chain *c, const struct soak_op *o)
{
	size_t i;

	if (o->kind == SOAK_RELEASE || o->kind == SOAK_GUARDED)
		return false;
	for (i = 0; i < c->h->deaths.n; i++)
		if (c->h->deaths.at[i].iso <= o->t1 && is_listed(c, &c->h->deaths.at[i], o))
			return true;
	return false;
}

static void check_whole(struct chain *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct soak_op *o = &c->ops[i];

		if (zombie(c, i))
			continue;
		if (o->told) {
			c->v->told++;
			if (!anybody_died(c, o->t1))
				wrong(c, i, "it was told of an owner that died, and none did");
		} else if ((o->mixed || o->inside) && !may_be_half(c, o)) {
			wrong(c, i, o->mixed ? "contents of two, and nobody said so" :
				    "somebody is at work on it, and nobody said so");
		}
	}
}

void soak_chain(const struct soak_history *h, struct soak_op *ops, size_t n,
		struct soak_verdict *v)
{
	/* what is made up, at most one for each that was seen */
	size_t room = 2 * n + 1;
	struct chain c = {
		.h = h, .v = v, .n = n,
		.ops = malloc(room * sizeof(*ops)),
		.by_mine = malloc(room * sizeof(size_t)),
		.parent = malloc(room * sizeof(size_t)),
		.child = malloc(room * sizeof(size_t)),
		.next = malloc(room * sizeof(size_t)),
		.lost = calloc(room, sizeof(uint64_t)),
	};

	memcpy(c.ops, ops, n * sizeof(*ops));
	find_unlogged(&c);
	link_writes(&c);
	check_time(&c);
	find_lost(&c);
	check_heard(&c);
	if (soak_about[ops->kind].locked) {
		check_alone(&c);
		check_whole(&c);
	}
	free(c.ops);
	free(c.by_mine);
	free(c.parent);
	free(c.child);
	free(c.next);
	free(c.lost);
}
