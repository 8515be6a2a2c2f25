// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-TSO, tried in all orders: threads with first-in-first-out store buffers
 * over one memory.  Tells which outcomes of a litmus test are possible.
 */
#include <string.h>

#include "litmus.h"

/* Stores done[t] > drained[t] of thread t are still in its buffer. */
struct machine {
	uint8_t done[SHAPE_THREADS];
	uint8_t drained[SHAPE_THREADS];
	uint8_t memory[SHAPE_VARS];
	uint8_t cell[SHAPE_CELLS];
};

static bool is_store(const struct shape *s, unsigned int t, unsigned int i)
{
	return s->program[t][i].kind == STEP_STORE;
}

static bool buffer_empty(const struct shape *s, const struct machine *m, unsigned int t)
{
	unsigned int i;

	for (i = m->drained[t]; i < m->done[t]; i++)
		if (is_store(s, t, i))
			return false;
	return true;
}

/* The oldest store of a thread goes to memory. */
static void drain(const struct shape *s, struct machine *m, unsigned int t)
{
	while (!is_store(s, t, m->drained[t]))
		m->drained[t]++;
	m->memory[s->program[t][m->drained[t]].var] =
		s->program[t][m->drained[t]].arg;
	m->drained[t]++;
}

/* The next instruction of a thread; false if it has to wait. */
static bool execute(const struct shape *s, struct machine *m, unsigned int t)
{
	const struct step *step = &s->program[t][m->done[t]];
	unsigned int i;
	uint8_t value;

	if (step->kind == STEP_FENCE && !buffer_empty(s, m, t))
		return false;
	if (step->kind == STEP_LOAD) {
		value = m->memory[step->var];
		for (i = m->drained[t]; i < m->done[t]; i++)
			if (is_store(s, t, i) && s->program[t][i].var == step->var)
				value = s->program[t][i].arg;
		m->cell[step->arg] = value;
	}
	m->done[t]++;
	return true;
}

static void go_on(const struct shape *s, struct machine m, bool *possible)
{
	struct machine next;
	bool ended = true;
	unsigned int t;

	for (t = 0; t < s->threads; t++) {
		if (s->program[t][m.done[t]].kind != STEP_END) {
			ended = false;
			next = m;
			if (execute(s, &next, t))
				go_on(s, next, possible);
		}
		if (!buffer_empty(s, &m, t)) {
			ended = false;
			next = m;
			drain(s, &next, t);
			go_on(s, next, possible);
		}
	}
	if (ended) {
		memcpy(m.cell + SHAPE_REGS, m.memory, sizeof(m.memory));
		possible[shape_outcome(s, m.cell)] = true;
	}
}

/**
 * model_outcomes() - which outcomes are possible
 * @s:		the test
 * @possible:	set for each outcome
 */
void model_outcomes(const struct shape *s, bool *possible)
{
	struct machine start = {};

	memset(possible, 0, shape_outcomes(s) * sizeof(*possible));
	go_on(s, start, possible);
}
