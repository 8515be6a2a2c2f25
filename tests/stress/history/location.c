// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is the history of one location coherent: is there one order of all accesses
 * to it that agrees with the order of each thread's program, in which every
 * access reads what was written last?
 *
 * Since no value is written twice, each read names its write.  A write and its
 * readers form a cluster.  In any order that is right, the members of a cluster
 * stand together, the write first; and an atomic operation that read the value
 * of cluster a and wrote the value of cluster b makes b follow a at once.
 * Clusters so linked form a chain, which also stands together.  So the history
 * is coherent if and only if
 *   - every value that was read has been written, or is the initial one,
 *   - no two atomic operations read the same value (one of them would be lost),
 *     and no atomic operations read each other's values in a circle,
 *   - no thread reads a value before it writes it,
 *   - no thread goes backwards within a chain,
 *   - the order of chains that the threads' programs demand has no cycle,
 *   - nothing is before the chain of the initial value, and nothing after the
 *     last value of a chain that ends with the final contents.
 * This is exact, not an approximation; the selftest compares it with trying
 * all orders.
 *
 * What these rules prove about the order of clusters also goes into the order
 * over all locations (verdict.c).  For that each cluster that something follows
 * has an end: a node after all members and before the next write.
 */
#include <stdlib.h>
#include <string.h>

#include "judge.h"

/* A value: who wrote it, and its place in the order. */
struct cluster {
	uint64_t value;
	uint32_t writer;	/* access, NONE for the initial value */
	uint32_t heir;		/* cluster that an atomic operation made of it */
	bool inherits;		/* it is such a cluster itself */
	uint32_t chain;
	uint32_t place;		/* in the chain */
	uint32_t end;		/* node in the order, NONE if nothing follows */
};

/* Clusters head..tail that follow each other at once. */
struct chain {
	uint32_t head;
	uint32_t tail;
	bool before;		/* it is known to be before another one */
	bool after;
};

/* An access: the clusters that it read from and wrote, or NONE. */
struct access {
	uint32_t event;
	uint32_t thread;
	uint32_t seen;
	uint32_t wrote;
};

struct location {
	struct judge *j;
	uint32_t offset;
	uint32_t lane;
	struct access *access;
	uint32_t accesses;
	struct cluster *cluster;	/* by value; the initial one is first */
	uint32_t clusters;
	struct chain *chain;
	uint32_t chains;
	struct order order;		/* of chains */
};

/* The part of an access's value that is this location's. */
static uint64_t part_of(const struct location *l, const struct history_record *r,
			uint64_t value)
{
	if (history_kind(l->offset) != KIND_WIDE)
		value >>= 8 * (l->offset - r->offset);
	return l->lane == 8 ? value : value & ((1ull << 8 * l->lane) - 1);
}

static bool say_where(struct location *l)
{
	judge_say(l->j, "  at page %u + 0x%03x (lane of %u bytes)\n",
		  l->offset / HISTORY_PAGE, l->offset % HISTORY_PAGE, l->lane);
	return false;
}

static bool say_two(struct location *l, const char *what, uint32_t a, uint32_t b)
{
	judge_say(l->j, "%s:\n", what);
	judge_say_event(l->j, a);
	judge_say_event(l->j, b);
	return say_where(l);
}

static int compare_value(const void *a, const void *b)
{
	const struct cluster *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static uint32_t find_value(const struct location *l, uint64_t value)
{
	uint32_t low = 0, high = l->clusters, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (l->cluster[mid].value < value)
			low = mid + 1;
		else
			high = mid;
	}
	return low < l->clusters && l->cluster[low].value == value ? low : NONE;
}

/* A cluster for each value that was written, sorted by value. */
static bool make_clusters(struct location *l)
{
	uint32_t i, n = 1;

	l->cluster = judge_alloc(l->accesses + 1, sizeof(*l->cluster));
	l->cluster[0].writer = NONE;
	for (i = 0; i < l->accesses; i++) {
		const struct history_record *r =
			judge_record(l->j, l->access[i].event);

		if (!history_writes(r))
			continue;
		l->cluster[n].value = part_of(l, r, r->wrote);
		l->cluster[n++].writer = l->access[i].event;
	}
	qsort(l->cluster + 1, n - 1, sizeof(*l->cluster), compare_value);
	l->clusters = n;
	for (i = 0; i < n; i++) {
		l->cluster[i].heir = l->cluster[i].chain = l->cluster[i].end = NONE;
		if (i > 1 && l->cluster[i].value == l->cluster[i - 1].value)
			return say_two(l, "the same value was written twice",
				       l->cluster[i - 1].writer,
				       l->cluster[i].writer);
		if (i && !l->cluster[i].value) {
			judge_say(l->j, "0 was written, the initial value:\n");
			judge_say_event(l->j, l->cluster[i].writer);
			return say_where(l);
		}
	}
	return true;
}

/* Which clusters each access belongs to; atomic operations link clusters. */
static bool link_accesses(struct location *l)
{
	uint32_t i;

	for (i = 0; i < l->accesses; i++) {
		struct access *a = &l->access[i];
		const struct history_record *r = judge_record(l->j, a->event);
		struct cluster *c;

		a->seen = a->wrote = NONE;
		if (history_writes(r))
			a->wrote = find_value(l, part_of(l, r, r->wrote));
		if (!history_reads(r))
			continue;
		a->seen = find_value(l, part_of(l, r, r->seen));
		if (a->seen == NONE) {
			judge_say(l->j, "a value was read that nobody wrote:\n");
			judge_say_event(l->j, a->event);
			return say_where(l);
		}
		c = &l->cluster[a->seen];
		if (c->writer != NONE && l->j->h->node_of[a->thread] !=
		    l->j->h->node_of[judge_thread(l->j, c->writer)]) {
			l->j->v->foreign_reads++;
			l->j->v->foreign_rmw += a->wrote != NONE;
		}
		if (a->wrote == NONE)
			continue;
		if (c->heir != NONE)
			return say_two(l, "two atomic operations read the same value, one of them is lost",
				       l->cluster[c->heir].writer, a->event);
		c->heir = a->wrote;
		l->cluster[a->wrote].inherits = true;
	}
	return true;
}

static bool make_chains(struct location *l)
{
	uint32_t i, k, place;

	l->chain = judge_alloc(l->clusters, sizeof(*l->chain));
	for (i = 0; i < l->clusters; i++) {
		if (l->cluster[i].inherits)
			continue;
		l->chain[l->chains].head = i;
		for (k = i, place = 0; k != NONE; k = l->cluster[k].heir) {
			l->cluster[k].chain = l->chains;
			l->cluster[k].place = place++;
			l->chain[l->chains].tail = k;
		}
		l->chains++;
	}
	for (i = 0; i < l->clusters; i++) {
		if (l->cluster[i].chain == NONE) {
			judge_say(l->j, "atomic operations read each other's values in a circle:\n");
			judge_say_event(l->j, l->cluster[i].writer);
			return say_where(l);
		}
	}
	l->order.nodes = l->chains;
	return true;
}

/* The thread was at cluster @a, and then, by @event, at cluster @b. */
static bool step(struct location *l, uint32_t a, uint32_t b, uint32_t before,
		 uint32_t event, bool writes)
{
	struct cluster *x = &l->cluster[a], *y = &l->cluster[b];

	if (a == b) {
		if (writes)
			return say_two(l, "a value was read before it was written",
				       before, event);
		return true;
	}
	if (x->chain == y->chain) {
		if (x->place > y->place)
			return say_two(l, "a thread went back to an older value",
				       before, event);
		return true;
	}
	l->chain[x->chain].before = true;
	l->chain[y->chain].after = true;
	order_edge(&l->order, x->chain, y->chain);
	return true;
}

/* Follow each thread through the clusters (accesses are sorted by thread). */
static bool follow_threads(struct location *l)
{
	uint32_t i, at = NONE, before = NONE;

	for (i = 0; i < l->accesses; i++) {
		const struct access *a = &l->access[i];

		if (i && a->thread != l->access[i - 1].thread)
			at = NONE;
		if (a->seen != NONE) {
			if (at != NONE &&
			    !step(l, at, a->seen, before, a->event, false))
				return false;
			at = a->seen;
		}
		if (a->wrote != NONE) {
			if (at != NONE &&
			    !step(l, at, a->wrote, before, a->event, true))
				return false;
			at = a->wrote;
		}
		before = a->event;
	}
	return true;
}

/* The first chain has the initial value, the last one the final contents. */
static bool check_ends(struct location *l, uint64_t final)
{
	uint32_t c = find_value(l, final), i;
	struct chain *first = &l->chain[l->cluster[0].chain], *last;

	if (first->after) {
		judge_say(l->j, "the initial value came back after a later one\n");
		for (i = 0; i < l->accesses; i++)
			if (l->access[i].seen == 0)
				judge_say_event(l->j, l->access[i].event);
		return say_where(l);
	}
	if (c == NONE) {
		judge_say(l->j, "the final contents, 0x%llx, were never written\n",
			  (unsigned long long)final);
		return say_where(l);
	}
	last = &l->chain[l->cluster[c].chain];
	if (c != last->tail || last->before ||
	    (last == first && l->chains > 1)) {
		judge_say(l->j, "the final contents, 0x%llx, are not the last value written\n",
			  (unsigned long long)final);
		if (c != last->tail)
			judge_say_event(l->j, l->cluster[l->cluster[c].heir].writer);
		if (l->cluster[c].writer != NONE)
			judge_say_event(l->j, l->cluster[c].writer);
		return say_where(l);
	}
	/* Chains that nothing is known about are between these two, too. */
	for (i = 0; i < l->chains; i++) {
		if (&l->chain[i] != first && !l->chain[i].after)
			order_edge(&l->order, first - l->chain, i);
		if (&l->chain[i] != last && !l->chain[i].before)
			order_edge(&l->order, i, last - l->chain);
	}
	return true;
}

static bool check_cycle(struct location *l)
{
	uint32_t cycle[16], n, i;

	n = order_cycle(&l->order, cycle, 16);
	if (!n)
		return true;
	judge_say(l->j, "threads disagree about the order of these writes:\n");
	for (i = 0; i < n; i++)
		judge_say_event(l->j, l->cluster[l->chain[cycle[i]].head].writer);
	return say_where(l);
}

static uint32_t end_of(struct location *l, uint32_t c)
{
	if (l->cluster[c].end == NONE)
		l->cluster[c].end = order_node(&l->j->order);
	return l->cluster[c].end;
}

/* What is proved here, for the order over all locations. */
static void export_order(struct location *l)
{
	struct order *all = &l->j->order;
	uint32_t i, k, from, to;
	uint64_t e;

	for (i = 0; i < l->clusters; i++) {
		k = l->cluster[i].heir;
		if (k != NONE)
			order_edge(all, end_of(l, i), l->cluster[k].writer);
	}
	for (e = 0; e < l->order.edges; e++) {
		from = l->chain[l->order.from[e]].tail;
		to = l->chain[l->order.to[e]].head;
		order_edge(all, end_of(l, from), l->cluster[to].writer);
	}
	for (i = 0; i < l->clusters; i++)
		if (l->cluster[i].end != NONE && l->cluster[i].writer != NONE)
			order_edge(all, l->cluster[i].writer, l->cluster[i].end);
	for (i = 0; i < l->accesses; i++) {
		const struct access *a = &l->access[i];
		const struct cluster *c;

		if (a->seen == NONE)
			continue;
		c = &l->cluster[a->seen];
		/* From another thread; one's own may come from the store buffer. */
		if (c->writer != NONE &&
		    judge_thread(l->j, c->writer) != a->thread)
			order_edge(all, c->writer, a->event);
		/* An atomic operation that wrote is the next write itself. */
		if (c->end != NONE && a->wrote == NONE)
			order_edge(all, a->event, c->end);
	}
}

/**
 * judge_location() - judge the history of one location
 * @j:		the judgement; what is proved about order is added to it
 * @offset:	first byte of the location
 * @events:	the accesses that touch it, by thread and in program order
 * @count:	their number
 *
 * Returns true if it is coherent, else says why not.
 */
bool judge_location(struct judge *j, uint32_t offset, const uint32_t *events,
		    uint32_t count)
{
	struct location l = { .j = j, .offset = offset,
			      .lane = history_lane(offset), .accesses = count };
	uint64_t final = 0;
	uint32_t i;
	bool ok;

	/* Any node's image: they are compared elsewhere. */
	memcpy(&final, j->h->image[0] + offset, l.lane);
	l.access = judge_alloc(count, sizeof(*l.access));
	for (i = 0; i < count; i++) {
		l.access[i].event = events[i];
		l.access[i].thread = judge_thread(j, events[i]);
	}
	ok = make_clusters(&l) && link_accesses(&l) && make_chains(&l) &&
		follow_threads(&l) && check_ends(&l, final) && check_cycle(&l);
	if (ok)
		export_order(&l);
	free(l.access);
	free(l.cluster);
	free(l.chain);
	order_free(&l.order);
	return ok;
}
