// SPDX-License-Identifier: GPL-2.0-only
/*
 * A deliberately simple x86 machine (x86-TSO): memory, and a store buffer for
 * each thread.  A store goes to the buffer; any time later its oldest entry goes
 * to memory.  A load takes the youngest entry for its place, or else memory;
 * if the buffer has only a part of what is loaded, it is emptied first.  Locked
 * operations empty it first and act on memory.
 *
 * machine_run() makes histories that are right.  machine_can() tries everything
 * that such a machine can do, to find out whether it can produce a history; for
 * very small ones only.
 */
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "machine.h"
#include "tools/common/random.h"

#define BUFFER 16

struct buffer {
	const struct history_record *entry[BUFFER];
	uint32_t first;
	uint32_t count;
};

static void drain_one(uint8_t *memory, struct buffer *b)
{
	const struct history_record *r = b->entry[b->first++ % BUFFER];

	b->count--;
	memcpy(memory + r->offset, &r->wrote, r->size);
}

/* What a load gives; false if the buffer has a part of it only. */
static bool load(const uint8_t *memory, const struct buffer *b,
		 struct history_record *r)
{
	uint32_t i;

	for (i = b->count; i-- > 0; ) {
		const struct history_record *s =
			b->entry[(b->first + i) % BUFFER];

		if (s->offset + s->size <= r->offset ||
		    r->offset + r->size <= s->offset)
			continue;
		if (s->offset > r->offset ||
		    s->offset + s->size < r->offset + r->size)
			return false;
		r->seen = 0;
		memcpy(&r->seen, (const uint8_t *)&s->wrote +
		       (r->offset - s->offset), r->size);
		return true;
	}
	r->seen = 0;
	memcpy(&r->seen, memory + r->offset, r->size);
	return true;
}

static void run_one(uint8_t *memory, struct buffer *b, struct history_record *r)
{
	uint64_t mask = r->size == 8 ? UINT64_MAX : (1ull << 8 * r->size) - 1;

	switch (r->op) {
	case OP_WRITE:
		if (b->count == BUFFER)
			drain_one(memory, b);
		b->entry[(b->first + b->count++) % BUFFER] = r;
		return;
	case OP_READ:
		while (!load(memory, b, r))
			drain_one(memory, b);
		return;
	default:
		while (b->count)
			drain_one(memory, b);
		load(memory, b, r);
		if (r->op == OP_ADD)
			r->wrote = (r->seen + 1) & mask;
		/* Most comparisons shall succeed: expect what is there. */
		if (r->op == OP_CAS && r->expect)
			r->expect = r->seen;
		else if (r->op == OP_CAS)
			r->expect = r->seen ^ 1;
		if (history_writes(r))
			memcpy(memory + r->offset, &r->wrote, r->size);
	}
}

/**
 * machine_run() - run the program of a history
 * @h:		its records say what each thread does; filled in is what it read
 *		(for a cmpxchg @expect says before whether it shall succeed), and
 *		the images
 * @random:	state of the random generator that decides what happens when
 */
void machine_run(struct history *h, uint64_t *random)
{
	struct buffer buffers[HISTORY_THREADS] = {};
	uint64_t done[HISTORY_THREADS] = {}, left = 0, x;
	uint8_t *memory = h->image[0];
	uint32_t t;

	memset(memory, 0, h->pages * HISTORY_PAGE);
	for (t = 0; t < h->threads; t++)
		left += h->count[t];
	while (left) {
		x = random_u64(random);
		t = x % h->threads;
		/* Stores stay in the buffer for a while. */
		if ((x >> 20) % 4 == 0 && buffers[t].count) {
			drain_one(memory, &buffers[t]);
		} else if (done[t] < h->count[t]) {
			run_one(memory, &buffers[t], &h->log[t][done[t]++]);
			left--;
		}
	}
	for (t = 0; t < h->threads; t++)
		while (buffers[t].count)
			drain_one(memory, &buffers[t]);
	for (t = 1; t < h->nodes; t++)
		memcpy(h->image[t], memory, h->pages * HISTORY_PAGE);
}

/* --- Trying everything ---------------------------------------------------- */

#define TRY_THREADS	4
#define TRY_PLACES	2
#define TRIED		(1u << 16)

/*
 * Threads that have run their first done[t] accesses, drained[t] of which, as
 * far as they are stores, have reached memory.
 */
struct state {
	uint8_t done[TRY_THREADS];
	uint8_t drained[TRY_THREADS];
	uint64_t memory[TRY_PLACES];
};

struct search {
	const struct history *h;
	struct state tried[TRIED];
	uint32_t used[TRIED];	/* the search that it was tried in */
	uint32_t number;
};

/* 8-byte lanes at the start of pages are all that small histories have. */
static uint32_t place_of(const struct history_record *r)
{
	return r->offset / HISTORY_PAGE;
}

static bool tried_before(struct search *s, const struct state *state)
{
	const uint8_t *bytes = (const uint8_t *)state;
	uint64_t hash = 0xcbf29ce484222325ull;
	uint32_t i, at;

	for (i = 0; i < sizeof(*state); i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ull;
	for (at = hash >> 20; ; at++) {
		i = at % TRIED;
		if (s->used[i] != s->number)
			break;
		if (!memcmp(&s->tried[i], state, sizeof(*state)))
			return true;
	}
	s->used[i] = s->number;
	s->tried[i] = *state;
	return false;
}

static bool try_all(struct search *s, struct state state);

/* The thread's next access, if it would read what the history says. */
static bool try_access(struct search *s, struct state state, uint32_t t)
{
	const struct history_record *r = &s->h->log[t][state.done[t]], *w;
	uint64_t seen = state.memory[place_of(r)];
	uint32_t i;

	if (r->op == OP_WRITE) {
		state.done[t]++;
		return try_all(s, state);
	}
	if (r->op == OP_READ) {
		for (i = state.drained[t]; i < state.done[t]; i++) {
			w = &s->h->log[t][i];
			if (w->op == OP_WRITE && place_of(w) == place_of(r))
				seen = w->wrote;
		}
	} else {
		for (i = state.drained[t]; i < state.done[t]; i++)
			if (s->h->log[t][i].op == OP_WRITE)
				return false;	/* the buffer is not empty yet */
	}
	if (seen != r->seen)
		return false;
	if (history_writes(r)) {
		state.memory[place_of(r)] = r->wrote;
		state.drained[t] = state.done[t] + 1;
	}
	state.done[t]++;
	return try_all(s, state);
}

static bool try_drain(struct search *s, struct state state, uint32_t t)
{
	const struct history_record *r;

	while (state.drained[t] < state.done[t]) {
		r = &s->h->log[t][state.drained[t]++];
		if (r->op == OP_WRITE) {
			state.memory[place_of(r)] = r->wrote;
			return try_all(s, state);
		}
	}
	return false;
}

static bool try_all(struct search *s, struct state state)
{
	bool ended = true;
	uint64_t final;
	uint32_t t, i;

	if (tried_before(s, &state))
		return false;
	for (t = 0; t < s->h->threads; t++) {
		if (state.done[t] < s->h->count[t]) {
			ended = false;
			if (try_access(s, state, t))
				return true;
		}
		for (i = state.drained[t]; i < state.done[t]; i++)
			ended &= s->h->log[t][i].op != OP_WRITE;
		if (try_drain(s, state, t))
			return true;
	}
	if (!ended)
		return false;
	for (i = 0; i < s->h->pages; i++) {
		memcpy(&final, s->h->image[0] + i * HISTORY_PAGE, 8);
		if (state.memory[i] != final)
			return false;
	}
	return true;
}

/**
 * machine_can() - can an x86 machine produce this history?
 * @h:		at most 4 threads with a few accesses each, to the first 8 bytes
 *		of at most 2 pages
 */
bool machine_can(const struct history *h)
{
	static struct search *s;
	struct state start = {};

	if (!s)
		s = judge_alloc(1, sizeof(*s));
	s->h = h;
	s->number++;
	return try_all(s, start);
}
