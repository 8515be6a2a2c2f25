// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the checker find what it has to find, and nothing else?
 *
 * - Long histories of a simple machine are right.
 * - The same ones, with one thing made wrong, are refused, for the right reason.
 * - Litmus tests, by hand.
 * - Very many very small histories: for one location the verdict is the same as
 *   that of trying all orders; for two, nothing that can happen is refused, and
 *   little that cannot happen passes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "machine.h"
#include "tools/common/random.h"

static uint64_t seed = 1;
static uint32_t tests, failures;

static uint32_t pick(uint32_t n)
{
	return (uint32_t)random_below(&seed, n);
}

static void report(bool ok, const char *name, const char *why)
{
	printf("%s %u - %s\n", ok ? "ok" : "not ok", ++tests, name);
	if (!ok) {
		failures++;
		printf("# %s\n", why);
	}
}

/* The verdict must be @phrase, or right if that is NULL. */
static void expect(const struct history *h, const char *name, const char *phrase)
{
	static struct verdict v;

	history_judge(h, &v);
	if (!phrase)
		report(v.ok, name, v.text);
	else if (v.ok)
		report(false, name, "was found right");
	else
		report(strstr(v.text, phrase) != NULL, name, v.text);
}

static void make(struct history *h, uint32_t nodes, uint32_t threads,
		 uint32_t pages, uint32_t count)
{
	uint32_t i;

	memset(h, 0, sizeof(*h));
	h->nodes = nodes;
	h->threads = threads;
	h->pages = pages;
	for (i = 0; i < threads; i++) {
		h->log[i] = judge_alloc(count, sizeof(*h->log[i]));
		h->node_of[i] = i * nodes / threads + 1;
	}
	for (i = 0; i < nodes; i++)
		h->image[i] = judge_alloc(pages, HISTORY_PAGE);
}

/* --- Long histories ------------------------------------------------------- */

/* A random access as weft-stress makes them, to few places. */
static bool random_record(struct history *h, uint32_t t, uint32_t *writes,
			  struct history_record *r)
{
	static const uint8_t ops[] = {
		OP_READ, OP_READ, OP_READ, OP_WRITE, OP_WRITE, OP_XCHG, OP_CAS,
	};
	uint32_t line = pick(16) + 32 * pick(2), lane, i, places;
	uint64_t v;

	memset(r, 0, sizeof(*r));
	r->offset = pick(h->pages) * HISTORY_PAGE + line * HISTORY_LINE;
	lane = r->size = history_lane(r->offset);
	r->op = ops[pick(7)];
	switch (history_kind(r->offset)) {
	case KIND_COUNTER:
		if (r->op != OP_READ)
			r->op = OP_ADD;
		break;
	case KIND_WIDE:
		if (r->op == OP_CAS)
			r->op = OP_READ;
		r->size = r->op == OP_READ ? lane << pick(lane == 1 ? 4 : 3) : 8;
		break;
	case KIND_SPLIT:
		r->size = lane << pick(3);
		break;
	case KIND_PLAIN:
		break;
	}
	places = HISTORY_LINE / r->size;
	r->offset += pick(places < 3 ? places : 3) * r->size;
	r->expect = pick(4) != 0;
	if (r->op == OP_READ)
		return true;
	for (i = 0; i < r->size; i += lane) {
		uint32_t *n = &writes[r->offset + i];

		if (*n >= history_writes_max(lane, h->threads))
			return false;
		if (i && history_kind(r->offset) == KIND_WIDE)
			n = &writes[r->offset];
		else
			++*n;
		v = *n * (uint64_t)h->threads + t;
		r->wrote |= v << 8 * i;
	}
	if (r->op == OP_ADD)
		r->wrote = 0;
	return true;
}

static void make_long(struct history *h, uint32_t count)
{
	uint32_t *writes, t;

	make(h, 3, 6, 2, count);
	for (t = 0; t < h->threads; t++) {
		writes = judge_alloc(h->pages * HISTORY_PAGE, sizeof(*writes));
		while (h->count[t] < count)
			h->count[t] += random_record(h, t, writes,
						     &h->log[t][h->count[t]]);
		free(writes);
	}
	machine_run(h, &seed);
}

/* The first access of a kind from a random point on, or NULL. */
static struct history_record *find(struct history *h, uint32_t *thread,
				   enum history_kind kind, int op)
{
	uint32_t tries, t, i;

	for (tries = 0; tries < 100; tries++) {
		t = pick(h->threads);
		for (i = pick(h->count[t]); i < h->count[t]; i++) {
			struct history_record *r = &h->log[t][i];

			if (history_kind(r->offset) != kind || r->op != op)
				continue;
			*thread = t;
			return r;
		}
	}
	return NULL;
}

/* The next access of the same kind to the same place, or NULL. */
static struct history_record *find_next(struct history *h, uint32_t t,
					struct history_record *r, int op)
{
	struct history_record *n;

	for (n = r + 1; n < h->log[t] + h->count[t]; n++)
		if (n->offset == r->offset && n->size == r->size && n->op == op)
			return n;
	return NULL;
}

static bool spoil_unwritten(struct history *h)
{
	uint32_t t;
	struct history_record *r = find(h, &t, KIND_PLAIN, OP_READ);

	r->seen = (1ull << 8 * r->size) - 1;
	if (r->size == 8)
		r->seen = UINT64_MAX;
	return true;
}

static bool spoil_backwards(struct history *h)
{
	uint32_t t;
	struct history_record *a = find(h, &t, KIND_COUNTER, OP_READ);
	struct history_record *b = a ? find_next(h, t, a, OP_READ) : NULL;
	uint64_t seen;

	if (!b || a->seen == b->seen)
		return false;
	seen = a->seen;
	a->seen = b->seen;
	b->seen = seen;
	return true;
}

static bool spoil_lost_add(struct history *h)
{
	uint32_t t, u;
	struct history_record *a = find(h, &t, KIND_COUNTER, OP_ADD);
	struct history_record *b = find(h, &u, KIND_COUNTER, OP_ADD);

	if (!a || !b || a == b || a->offset != b->offset || t == u)
		return false;
	b->seen = a->seen;
	return true;	/* both wrote the next value, too: see below */
}

static bool spoil_lost_add_consistently(struct history *h)
{
	if (!spoil_lost_add(h))
		return false;
	/* As a lost update does: both wrote the same, the counter is behind. */
	for (uint32_t t = 0; t < h->threads; t++)
		for (uint32_t i = 0; i < h->count[t]; i++)
			if (h->log[t][i].op == OP_ADD)
				h->log[t][i].wrote = (h->log[t][i].seen + 1) &
					(h->log[t][i].size == 8 ? UINT64_MAX :
					 (1ull << 8 * h->log[t][i].size) - 1);
	return true;
}

static bool spoil_lost_xchg(struct history *h)
{
	uint32_t t, u;
	struct history_record *a = find(h, &t, KIND_PLAIN, OP_XCHG);
	struct history_record *b = find(h, &u, KIND_PLAIN, OP_XCHG);

	if (!a || !b || a == b || a->offset != b->offset || a->seen == b->seen)
		return false;
	b->seen = a->seen;
	return true;
}

static bool spoil_add_two(struct history *h)
{
	uint32_t t;

	find(h, &t, KIND_COUNTER, OP_ADD)->wrote ^= 1;
	return true;
}

static bool spoil_torn(struct history *h)
{
	uint32_t t;
	struct history_record *r = find(h, &t, KIND_WIDE, OP_READ);
	uint32_t half = r->size * 4;

	if (r->size < 8 || !r->seen || r->seen >> half == 0)
		return false;
	r->seen = r->seen >> half << half;	/* half of it is the initial value */
	return true;
}

static bool spoil_final_counter(struct history *h)
{
	uint32_t t, node;
	struct history_record *r = find(h, &t, KIND_COUNTER, OP_ADD);
	uint64_t value = 0;

	memcpy(&value, h->image[0] + r->offset, r->size);
	value--;
	for (node = 0; node < h->nodes; node++)
		memcpy(h->image[node] + r->offset, &value, r->size);
	return true;
}

static bool spoil_final_old(struct history *h)
{
	uint32_t t, node;
	struct history_record *a = find(h, &t, KIND_PLAIN, OP_WRITE);
	struct history_record *b = a ? find_next(h, t, a, OP_WRITE) : NULL;

	if (!b)
		return false;
	for (node = 0; node < h->nodes; node++)
		memcpy(h->image[node] + a->offset, &a->wrote, a->size);
	return true;
}

static bool spoil_one_image(struct history *h)
{
	h->image[h->nodes - 1][pick(h->pages * HISTORY_PAGE)] ^= 1 << pick(8);
	return true;
}

static bool spoil_elsewhere(struct history *h)
{
	uint32_t node;

	/* Line 31 is written by nobody here: a write has gone astray. */
	for (node = 0; node < h->nodes; node++)
		h->image[node][31 * HISTORY_LINE] = 7;
	return true;
}

static bool spoil_image_torn(struct history *h)
{
	uint32_t t, node;
	struct history_record *r = find(h, &t, KIND_WIDE, OP_WRITE);

	for (node = 0; node < h->nodes; node++)
		memset(h->image[node] + r->offset, 0, 4);
	return true;
}

static bool spoil_early(struct history *h)
{
	uint32_t t;
	struct history_record *a = find(h, &t, KIND_PLAIN, OP_READ);
	struct history_record *b = a ? find_next(h, t, a, OP_WRITE) : NULL;

	if (!b)
		return false;
	a->seen = b->wrote;
	return true;
}

static bool spoil_own_write_ignored(struct history *h)
{
	uint32_t t;
	struct history_record *a = find(h, &t, KIND_PLAIN, OP_XCHG);

	/* A thread's load right after its own locked write reads what was before. */
	if (!a || a + 1 >= h->log[t] + h->count[t])
		return false;
	memset(a + 1, 0, sizeof(*a));
	a[1].offset = a->offset;
	a[1].size = a->size;
	a[1].op = OP_READ;
	a[1].seen = a->seen;
	return true;
}

static bool spoil_initial(struct history *h)
{
	uint32_t t;
	struct history_record *a = find(h, &t, KIND_PLAIN, OP_XCHG);
	struct history_record *b = a ? find_next(h, t, a, OP_READ) : NULL;

	if (!b || !a->seen)
		return false;
	b->seen = 0;
	return true;
}

static bool spoil_twice(struct history *h)
{
	uint32_t t;
	struct history_record *a = find(h, &t, KIND_PLAIN, OP_WRITE);
	struct history_record *b = a ? find_next(h, t, a, OP_WRITE) : NULL;

	if (!b)
		return false;
	b->wrote = a->wrote;
	return true;
}

static bool spoil_missing(struct history *h)
{
	uint32_t t;
	struct history_record *a = find(h, &t, KIND_COUNTER, OP_ADD);

	/* One increment in the middle was never logged. */
	memmove(a, a + 1, (h->log[t] + h->count[t] - a - 1) * sizeof(*a));
	h->count[t]--;
	return true;
}

static bool spoil_place(struct history *h)
{
	uint32_t t;

	find(h, &t, KIND_PLAIN, OP_READ)->offset = h->pages * HISTORY_PAGE;
	return true;
}

static const struct {
	const char *name;
	bool (*spoil)(struct history *h);
	const char *phrase;
} spoils[] = {
	{ "a value that nobody wrote", spoil_unwritten, "nobody wrote" },
	{ "a counter that goes backwards", spoil_backwards, "went back to an older value" },
	{ "an increment that read too old a value", spoil_lost_add, "fetch-and-add did not add 1" },
	{ "an increment that is lost", spoil_lost_add_consistently, "the same value was written twice" },
	{ "an exchange that is lost", spoil_lost_xchg, "atomic operations read the same value" },
	{ "an increment by two", spoil_add_two, "did not add 1" },
	{ "a torn load", spoil_torn, "torn" },
	{ "a final counter that is behind", spoil_final_counter, "not the last value" },
	{ "old final contents", spoil_final_old, "not the last value" },
	{ "one image that differs", spoil_one_image, "in the end node 1 saw" },
	{ "contents that nobody wrote", spoil_elsewhere, "never written" },
	{ "torn final contents", spoil_image_torn, "torn" },
	{ "a value read before it is written", spoil_early, "" },
	{ "a thread that misses its own write", spoil_own_write_ignored, "went back to an older value" },
	{ "the initial value comes back", spoil_initial, "" },
	{ "a value written twice", spoil_twice, "written twice" },
	{ "an increment missing from the log", spoil_missing, "nobody wrote" },
	{ "an access outside", spoil_place, "no such place" },
};

static void copy(struct history *to, const struct history *from, uint32_t room)
{
	uint32_t i;

	make(to, from->nodes, from->threads, from->pages, room);
	for (i = 0; i < from->threads; i++) {
		to->count[i] = from->count[i];
		memcpy(to->log[i], from->log[i],
		       from->count[i] * sizeof(*from->log[i]));
	}
	for (i = 0; i < from->nodes; i++)
		memcpy(to->image[i], from->image[i], from->pages * HISTORY_PAGE);
}

static void test_long(void)
{
	struct history h, bad;
	uint32_t i, k;

	make_long(&h, 4000);
	expect(&h, "a long history of a simple machine is right", NULL);
	for (i = 0; i < sizeof(spoils) / sizeof(*spoils); i++) {
		copy(&bad, &h, 4000);
		for (k = 0; k < 100000 && !spoils[i].spoil(&bad); k++)
			;
		if (k < 100000)
			expect(&bad, spoils[i].name, spoils[i].phrase);
		else
			report(false, spoils[i].name, "found no place to spoil");
		history_free(&bad);
	}
	history_free(&h);
}

/* --- By hand -------------------------------------------------------------- */

/* x and y are on different pages; thread t is on node t + 1. */
struct by_hand {
	const char *name;
	const char *phrase;
	uint64_t final[2];
	struct { uint8_t used, thread, op, place; uint64_t value; } step[10];
};

#define R(t, p, v) { 1, t, OP_READ, p, v }
#define W(t, p, v) { 1, t, OP_WRITE, p, v }
#define X(t, p, v) { 1, t, OP_XCHG, p, v }	/* reads v, writes v + 100 */
#define DISAGREE "disagree about the order"
#define NO_ORDER "in no order that x86 allows"

static const struct by_hand by_hand[] = {
	{ "SB is allowed", NULL, { 1, 2 },
	  { W(0, 0, 1), R(0, 1, 0), W(1, 1, 2), R(1, 0, 0) } },
	{ "SB with locked operations", NO_ORDER, { 100, 100 },
	  { X(0, 0, 0), R(0, 1, 0), X(1, 1, 0), R(1, 0, 0) } },
	{ "MP", NO_ORDER, { 1, 2 },
	  { W(0, 0, 1), W(0, 1, 2), R(1, 1, 2), R(1, 0, 0) } },
	{ "MP as it should be", NULL, { 1, 2 },
	  { W(0, 0, 1), W(0, 1, 2), R(1, 1, 2), R(1, 0, 1) } },
	{ "LB", NO_ORDER, { 2, 1 },
	  { R(0, 0, 2), W(0, 1, 1), R(1, 1, 1), W(1, 0, 2) } },
	{ "IRIW", NO_ORDER, { 1, 2 },
	  { W(0, 0, 1), R(1, 0, 1), R(1, 1, 0), W(2, 1, 2), R(3, 1, 2), R(3, 0, 0) } },
	{ "2+2W", NO_ORDER, { 1, 3 },
	  { W(0, 0, 1), W(0, 1, 2), W(1, 1, 3), W(1, 0, 4) } },
	{ "2+2W as it should be", NULL, { 4, 2 },
	  { W(0, 0, 1), W(0, 1, 2), W(1, 1, 3), W(1, 0, 4) } },
	{ "WRC", NO_ORDER, { 1, 2 },
	  { W(0, 0, 1), R(1, 0, 1), W(1, 1, 2), R(2, 1, 2), R(2, 0, 0) } },
	{ "S", NO_ORDER, { 1, 2 },
	  { W(0, 0, 1), W(0, 1, 2), R(1, 1, 2), W(1, 0, 3) } },
	{ "R is allowed", NULL, { 1, 3 },
	  { W(0, 0, 1), W(0, 1, 2), W(1, 1, 3), R(1, 0, 0) } },
	{ "CoRR", "initial value came back", { 1, 0 },
	  { W(0, 0, 1), R(1, 0, 1), R(1, 0, 0) } },
	{ "CoRR with two readers", DISAGREE, { 3, 0 },
	  { W(0, 0, 1), W(0, 0, 3), W(1, 0, 2), R(2, 0, 1), R(2, 0, 2), R(3, 0, 2), R(3, 0, 1) } },
	{ "CoWW", "not the last value", { 1, 0 },
	  { W(0, 0, 1), W(0, 0, 2) } },
	{ "CoWR", "not the last value", { 2, 0 },
	  { W(0, 0, 1), R(0, 0, 2), W(1, 0, 2), R(1, 0, 1) } },
	{ "reading one's own store early is allowed", NULL, { 1, 2 },
	  { W(0, 0, 1), R(0, 0, 1), R(0, 1, 0), W(1, 1, 2), R(1, 1, 2), R(1, 0, 0) } },
	{ "exchanges in a circle", "in a circle", { 101, 0 },
	  { W(0, 0, 1), X(0, 0, 1), X(1, 0, 300), X(2, 0, 200) } },
};

static void test_by_hand(void)
{
	struct history h;
	uint32_t i, k, node;

	for (i = 0; i < sizeof(by_hand) / sizeof(*by_hand); i++) {
		make(&h, 4, 4, 2, 10);
		for (k = 0; k < 10 && by_hand[i].step[k].used; k++) {
			uint32_t t = by_hand[i].step[k].thread;
			struct history_record *r = &h.log[t][h.count[t]++];

			r->op = by_hand[i].step[k].op;
			r->size = 8;
			r->offset = by_hand[i].step[k].place * HISTORY_PAGE;
			if (r->op == OP_WRITE)
				r->wrote = by_hand[i].step[k].value;
			else
				r->seen = by_hand[i].step[k].value;
			if (r->op == OP_XCHG)
				r->wrote = r->seen == 300 ? 200 : r->seen + 100;
		}
		for (node = 0; node < h.nodes; node++) {
			memcpy(h.image[node], &by_hand[i].final[0], 8);
			memcpy(h.image[node] + HISTORY_PAGE, &by_hand[i].final[1], 8);
		}
		expect(&h, by_hand[i].name, by_hand[i].phrase);
		history_free(&h);
	}
}

/* --- Trying everything ---------------------------------------------------- */

/* Make a small history that may be wrong. */
static void make_small(struct history *h, uint32_t places)
{
	static const uint8_t ops[] = {
		OP_READ, OP_READ, OP_WRITE, OP_WRITE, OP_XCHG, OP_CAS,
	};
	uint32_t threads = 2 + pick(3), t, i, n = 0, spoil, node;
	uint64_t values[20] = { 0 }, value;

	make(h, 2, threads, places, 4);
	for (t = 0; t < threads; t++) {
		h->count[t] = 1 + pick(threads == 2 ? 4 : 3);
		for (i = 0; i < h->count[t]; i++) {
			struct history_record *r = &h->log[t][i];

			r->size = 8;
			r->offset = pick(places) * HISTORY_PAGE;
			r->op = ops[pick(places == 1 ? 6 : 5)];
			r->expect = pick(3) != 0;
			if (r->op != OP_READ) {
				r->wrote = ++n;
				values[n] = n;
			}
		}
	}
	machine_run(h, &seed);
	/* Now and then change what was read, or what is left. */
	for (spoil = pick(4); spoil; spoil--) {
		struct history_record *r;

		t = pick(threads);
		r = &h->log[t][pick(h->count[t])];
		value = values[pick(n + 1)];
		if (history_reads(r)) {
			r->seen = value;
		} else if (pick(4) == 0) {
			for (node = 0; node < h->nodes; node++)
				memcpy(h->image[node] + r->offset, &value, 8);
		}
	}
}

static void test_small(uint32_t places, uint32_t count)
{
	uint32_t possible = 0, impossible = 0, wrongly = 0, missed = 0, i;
	static struct verdict v;
	struct history h;
	char why[200];

	for (i = 0; i < count; i++) {
		make_small(&h, places);
		history_judge(&h, &v);
		if (machine_can(&h)) {
			possible++;
			wrongly += !v.ok;
		} else {
			impossible++;
			missed += v.ok;
		}
		history_free(&h);
	}
	printf("# %u small histories with %u location(s): %u possible, %u of them refused; %u impossible, %u of them found right\n",
	       count, places, possible, wrongly, impossible, missed);
	snprintf(why, sizeof(why), "%u possible ones refused, %u impossible ones accepted",
		 wrongly, missed);
	if (places == 1)
		report(!wrongly && !missed && possible > count / 10 &&
		       impossible > count / 10,
		       "one location: the verdict is that of trying all orders", why);
	else
		report(!wrongly && missed * 10 < impossible && possible > count / 10,
		       "two locations: nothing possible is refused, at least 90 % of the impossible is", why);
}

/**
 * history_selftest() - test the checker itself
 *
 * Prints a line a test; returns 0 if all are well.
 */
int history_selftest(void)
{
	test_long();
	test_by_hand();
	test_small(1, 40000);
	test_small(2, 40000);
	printf("1..%u\n", tests);
	return failures != 0;
}
