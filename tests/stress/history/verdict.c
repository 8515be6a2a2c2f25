// SPDX-License-Identifier: GPL-2.0-only
/*
 * Judging a history: what may be concluded from the logs of all threads and the
 * final images, and nothing else.
 *
 * 1. Every record is one that the program could have made (format, size, kind).
 * 2. Wide words were never torn: all lanes of a load come from one store.
 * 3. All nodes saw the same final contents.
 * 4. Each location is coherent (location.c).
 * 5. Over all locations together, the memory is that of one x86 machine: the
 *    order made of program order without store-to-later-load, of reads from
 *    other threads, and of what 4 has proved about the order of writes and about
 *    reads that come before a write, has no cycle.  Locked operations are
 *    ordered with everything.  This is the axiomatic form of x86-TSO, with those
 *    edges only that hold in every order that 4 allows: what it rejects is wrong
 *    for certain.  It is what finds a stale copy that stays readable for a while.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

static const char *const op_name[OP_COUNT] = {
	"load", "store", "xchg", "cmpxchg", "fetch-and-add",
};

/**
 * judge_alloc() - zeroed memory, or the end of the program
 * @count:	of items
 * @size:	of an item
 */
void *judge_alloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p) {
		fputs("weft-check: out of memory\n", stderr);
		exit(2);
	}
	return p;
}

/**
 * judge_thread() - the thread of an access
 * @j:		the judgement
 * @event:	number of the access
 */
uint32_t judge_thread(const struct judge *j, uint32_t event)
{
	uint32_t low = 0, high = j->h->threads, mid;

	while (high - low > 1) {
		mid = (low + high) / 2;
		if (j->base[mid] <= event)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/**
 * judge_record() - what was logged of an access
 * @j:		the judgement
 * @event:	number of the access
 */
const struct history_record *judge_record(const struct judge *j, uint32_t event)
{
	uint32_t t = judge_thread(j, event);

	return &j->h->log[t][event - j->base[t]];
}

/**
 * judge_say() - add to the verdict's text, and find the history wrong
 * @j:		the judgement
 * @fmt:	as in printf()
 */
void judge_say(struct judge *j, const char *fmt, ...)
{
	size_t len = strlen(j->v->text);
	va_list ap;

	j->v->ok = false;
	va_start(ap, fmt);
	vsnprintf(j->v->text + len, sizeof(j->v->text) - len, fmt, ap);
	va_end(ap);
}

/**
 * judge_say_event() - add an access to the verdict's text
 * @j:		the judgement
 * @event:	number of the access
 */
void judge_say_event(struct judge *j, uint32_t event)
{
	const struct history_record *r;
	uint32_t t;

	if (event == NONE) {
		judge_say(j, "  (the initial contents)\n");
		return;
	}
	t = judge_thread(j, event);
	r = judge_record(j, event);
	judge_say(j, "  node %u thread %u access %u: %s of %u at page %u + 0x%03x",
		  j->h->node_of[t], t, event - j->base[t],
		  r->op < OP_COUNT ? op_name[r->op] : "unknown operation", r->size,
		  r->offset / HISTORY_PAGE, r->offset % HISTORY_PAGE);
	if (history_reads(r))
		judge_say(j, " read 0x%llx", (unsigned long long)r->seen);
	if (history_writes(r))
		judge_say(j, " wrote 0x%llx", (unsigned long long)r->wrote);
	judge_say(j, "\n");
}

/* Are all lanes of a value alike? */
static bool lanes_alike(uint64_t value, uint32_t size, uint32_t lane)
{
	uint64_t mask = (1ull << 8 * lane) - 1;
	uint32_t i;

	for (i = lane; i < size; i += lane)
		if (((value >> 8 * i) & mask) != (value & mask))
			return false;
	return true;
}

/* May the program have made such a record?  NULL if so. */
static const char *record_wrong(const struct judge *j, const struct history_record *r)
{
	uint64_t mask = r->size >= 8 ? UINT64_MAX : (1ull << 8 * r->size) - 1;
	enum history_kind kind;
	uint32_t lane;

	if (r->op >= OP_COUNT || r->unused)
		return "no such operation";
	if ((r->size != 1 && r->size != 2 && r->size != 4 && r->size != 8) ||
	    r->offset % r->size ||
	    (uint64_t)r->offset + r->size > (uint64_t)j->h->pages * HISTORY_PAGE)
		return "no such place";
	if ((r->seen | r->wrote | r->expect) & ~mask)
		return "a value is larger than the access";
	kind = history_kind(r->offset);
	lane = history_lane(r->offset);
	switch (kind) {
	case KIND_PLAIN:
		if (r->size != lane || r->op == OP_ADD)
			return "not an access for a plain lane";
		break;
	case KIND_COUNTER:
		if (r->size != lane || (r->op != OP_READ && r->op != OP_ADD))
			return "not an access for a counter";
		if (r->op == OP_ADD && r->wrote != ((r->seen + 1) & mask))
			return "fetch-and-add did not add 1";
		break;
	case KIND_WIDE:
		if (r->size < lane || r->op == OP_ADD || r->op == OP_CAS ||
		    (r->op != OP_READ && r->size != 8))
			return "not an access for a wide word";
		if (!lanes_alike(r->seen, r->size, lane))
			return "a load is torn: it has parts of different stores";
		if (history_writes(r) && !lanes_alike(r->wrote, r->size, lane))
			return "a store for a wide word with lanes that differ";
		break;
	case KIND_SPLIT:
		if (r->size < lane || r->op == OP_ADD)
			return "not an access for split lanes";
		break;
	}
	return NULL;
}

static bool check_records(struct judge *j)
{
	const char *wrong;
	uint32_t t, i;

	for (t = 0; t < j->h->threads; t++) {
		for (i = 0; i < j->h->count[t]; i++) {
			wrong = record_wrong(j, &j->h->log[t][i]);
			if (wrong) {
				judge_say(j, "%s:\n", wrong);
				judge_say_event(j, j->base[t] + i);
				return false;
			}
		}
	}
	return true;
}

/* All nodes' images are the same, and no wide word is torn in them. */
static bool check_images(struct judge *j)
{
	uint32_t size = j->h->pages * HISTORY_PAGE, node, i;

	for (node = 1; node < j->h->nodes; node++) {
		if (!memcmp(j->h->image[0], j->h->image[node], size))
			continue;
		for (i = 0; j->h->image[0][i] == j->h->image[node][i]; i++)
			;
		judge_say(j, "in the end node 1 saw 0x%02x at page %u + 0x%03x, node %u saw 0x%02x\n",
			  j->h->image[0][i], i / HISTORY_PAGE, i % HISTORY_PAGE,
			  node + 1, j->h->image[node][i]);
		return false;
	}
	for (i = 0; i < size; i += 8) {
		uint64_t word;

		memcpy(&word, j->h->image[0] + i, 8);
		if (history_kind(i) == KIND_WIDE &&
		    !lanes_alike(word, 8, history_lane(i))) {
			judge_say(j, "the final contents of a wide word are torn: 0x%llx at page %u + 0x%03x\n",
				  (unsigned long long)word, i / HISTORY_PAGE,
				  i % HISTORY_PAGE);
			return false;
		}
	}
	return true;
}

/* The locations that an access meets: all at @first, then every @step bytes. */
static uint32_t locations_of(const struct history_record *r, uint32_t *first,
			     uint32_t *step)
{
	if (history_kind(r->offset) == KIND_WIDE) {
		*first = r->offset & ~7u;
		*step = 8;
		return 1;
	}
	*first = r->offset;
	*step = history_lane(r->offset);
	return r->size / *step;
}

/* Where nobody had business, nothing may have been written either. */
static bool untouched(struct judge *j, uint32_t offset, uint32_t size)
{
	static const uint8_t zero[8];

	if (!memcmp(j->h->image[0] + offset, zero, size))
		return true;
	judge_say(j, "the final contents of page %u + 0x%03x were never written\n",
		  offset / HISTORY_PAGE, offset % HISTORY_PAGE);
	return false;
}

/* Sort the accesses by location, and judge each of these. */
static bool check_locations(struct judge *j)
{
	uint32_t size = j->h->pages * HISTORY_PAGE;
	uint32_t *start = judge_alloc(size + 2, sizeof(*start)), *events;
	uint32_t t, i, n, k, first, step, lane;
	bool ok = true;

	/* start[x + 2] counts first, then start[x + 1] is where x is filled. */
	for (t = 0; t < j->h->threads; t++)
		for (i = 0; i < j->h->count[t]; i++) {
			n = locations_of(&j->h->log[t][i], &first, &step);
			for (k = 0; k < n; k++)
				start[first + k * step + 2]++;
		}
	for (i = 2; i < size + 2; i++)
		start[i] += start[i - 1];
	events = judge_alloc(start[size + 1], sizeof(*events));
	for (t = 0; t < j->h->threads; t++)
		for (i = 0; i < j->h->count[t]; i++) {
			n = locations_of(&j->h->log[t][i], &first, &step);
			for (k = 0; k < n; k++)
				events[start[first + k * step + 1]++] = j->base[t] + i;
		}
	for (i = 0; i < size && ok; i += lane) {
		lane = history_kind(i) == KIND_WIDE ? 8 : history_lane(i);
		n = start[i + 1] - start[i];
		if (n)
			ok = judge_location(j, i, events + start[i], n);
		else
			ok = untouched(j, i, lane);
		j->v->locations += n != 0;
	}
	free(start);
	free(events);
	return ok;
}

/* x86-TSO's part of program order: all but a store before a later load. */
static void add_program_order(struct judge *j)
{
	uint32_t t, i, event, last_read, last_write;

	for (t = 0; t < j->h->threads; t++) {
		last_read = last_write = NONE;
		for (i = 0; i < j->h->count[t]; i++) {
			const struct history_record *r = &j->h->log[t][i];
			bool locked = history_locked(r);

			event = j->base[t] + i;
			if (last_read != NONE)
				order_edge(&j->order, last_read, event);
			if ((locked || history_writes(r)) && last_write != NONE &&
			    last_write != last_read)
				order_edge(&j->order, last_write, event);
			if (locked || history_reads(r))
				last_read = event;
			if (locked || history_writes(r))
				last_write = event;
		}
	}
}

static void check_order(struct judge *j)
{
	uint32_t accesses = j->base[j->h->threads], cycle[32], n, i;

	j->v->edges = j->order.edges;
	n = order_cycle(&j->order, cycle, 32);
	if (!n)
		return;
	judge_say(j, "these accesses were in no order that x86 allows, each was before the next, the last before the first:\n");
	for (i = 0; i < n; i++)
		if (cycle[i] < accesses)
			judge_say_event(j, cycle[i]);
}

/**
 * history_judge() - find out whether a history is right
 * @h:		the complete history of a run
 * @v:		filled with the verdict
 */
void history_judge(const struct history *h, struct verdict *v)
{
	struct judge j = { .h = h, .v = v };
	uint64_t sum = 0;
	uint32_t t;

	memset(v, 0, sizeof(*v));
	v->ok = true;
	for (t = 0; t < h->threads; t++) {
		j.base[t] = sum;
		sum += h->count[t];
	}
	if (sum > UINT32_MAX / 4) {
		judge_say(&j, "%llu accesses are more than can be judged\n",
			  (unsigned long long)sum);
		return;
	}
	j.base[h->threads] = sum;
	j.order.nodes = sum;
	v->operations = sum;
	if (check_records(&j) && check_images(&j) && check_locations(&j)) {
		add_program_order(&j);
		check_order(&j);
	}
	order_free(&j.order);
}
