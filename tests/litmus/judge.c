// SPDX-License-Identifier: GPL-2.0-only
/*
 * Putting the nodes' results together and counting outcomes, and the selftest of
 * that: an outcome that x86 forbids must not slip through.
 *
 * The results travel through the memory that is being tested, so they carry a
 * sum: a stale page of them must not pass for a result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "litmus.h"

/**
 * result_size() - bytes of a result
 * @rounds:	number of rounds
 */
size_t result_size(uint64_t rounds)
{
	return sizeof(struct result) + rounds * SHAPE_CELLS;
}

static uint64_t sum_of(const struct result *r, uint64_t rounds)
{
	const uint8_t *p = (const uint8_t *)&r->rounds;
	const uint8_t *end = (const uint8_t *)r + result_size(rounds);
	uint64_t sum = 0xcbf29ce484222325ull;

	for (; p < end; p++)
		sum = (sum ^ *p) * 0x100000001b3ull;
	return sum;
}

/**
 * result_seal() - a node's result is complete
 * @r:		cells are filled
 * @rounds:	number of rounds
 * @shape:	number of the test
 */
void result_seal(struct result *r, uint64_t rounds, uint64_t shape)
{
	r->rounds = rounds;
	r->shape = shape;
	r->sum = sum_of(r, rounds);
}

/* One cell of one round: what all nodes that know it agree on. */
static const char *merge(const struct result *const *results, unsigned int count,
			 uint64_t round, unsigned int cell, uint8_t *value)
{
	unsigned int n;
	uint8_t v;

	*value = RESULT_ABSENT;
	for (n = 0; n < count; n++) {
		v = results[n]->cell[round][cell];
		if (v == RESULT_ABSENT)
			continue;
		if (v >= SHAPE_VALUES)
			return "a value was read that nobody wrote";
		if (*value != RESULT_ABSENT && *value != v)
			return "nodes disagree about a final value";
		*value = v;
	}
	return *value == RESULT_ABSENT ? "a value is missing in all results" : NULL;
}

/**
 * result_judge() - count the outcomes of a test
 * @s:		the test
 * @rounds:	number of rounds
 * @results:	of each node
 * @count:	number of nodes
 * @t:		filled
 */
void result_judge(const struct shape *s, uint64_t rounds,
		  const struct result *const *results, unsigned int count,
		  struct tally *t)
{
	uint8_t cell[SHAPE_CELLS];
	unsigned int i, outcome;
	uint64_t round;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < count; i++) {
		if (results[i]->rounds != rounds ||
		    results[i]->shape != (uint64_t)(s - shapes) ||
		    results[i]->sum != sum_of(results[i], rounds)) {
			t->error = "the result of a node is stale or damaged";
			return;
		}
	}
	for (round = 0; round < rounds; round++) {
		memset(cell, 0, sizeof(cell));
		for (i = 0; i < SHAPE_CELLS && !t->error; i++)
			if (i < s->regs || (s->finals && i >= SHAPE_REGS &&
					    i - SHAPE_REGS < s->vars))
				t->error = merge(results, count, round, i, &cell[i]);
		if (t->error)
			return;
		outcome = shape_outcome(s, cell);
		t->outcome[outcome]++;
		if (s->is_weak(cell) && !t->weak++)
			t->first = round;
	}
}

/* --- Selftest ------------------------------------------------------------- */

static unsigned int tests, failures;

static void report(bool ok, const char *shape, const char *what)
{
	printf("%s %u - %s: %s\n", ok ? "ok" : "not ok", ++tests, shape, what);
	failures += !ok;
}

/* Can a value be in that cell at all (0, or stored by the program)? */
static bool value_exists(const struct shape *s, const uint8_t *cell)
{
	bool exists[SHAPE_VARS][SHAPE_VALUES] = { { true }, { true } };
	unsigned int t, i;

	for (t = 0; t < s->threads; t++)
		for (i = 0; i < SHAPE_STEPS; i++)
			if (s->program[t][i].kind == STEP_STORE)
				exists[s->program[t][i].var][s->program[t][i].arg] = true;
	for (t = 0; t < s->threads; t++)
		for (i = 0; i < SHAPE_STEPS; i++)
			if (s->program[t][i].kind == STEP_LOAD &&
			    !exists[s->program[t][i].var][cell[s->program[t][i].arg]])
				return false;
	for (i = 0; s->finals && i < s->vars; i++)
		if (!exists[i][cell[SHAPE_REGS + i]] || !cell[SHAPE_REGS + i])
			return false;	/* something is stored to each variable */
	return true;
}

/*
 * What the table calls forbidden is what the model cannot do, in both
 * directions.  (2+2W and S end in one of the stored values, as said above.)
 */
static void test_table(const struct shape *s)
{
	static bool possible[729];
	uint8_t cell[SHAPE_CELLS];
	unsigned int i, weak = 0;
	bool ok = true;

	model_outcomes(s, possible);
	for (i = 0; i < shape_outcomes(s); i++) {
		shape_cell(s, i, cell);
		ok &= shape_outcome(s, cell) == i;
		if (!value_exists(s, cell)) {
			ok &= !possible[i];
			continue;
		}
		weak += s->is_weak(cell);
		if (s->forbidden)
			ok &= possible[i] == !s->is_weak(cell);
		else
			ok &= possible[i];
	}
	report(ok && weak, s->name, s->forbidden ?
	       "forbidden is what the model cannot do" :
	       "all outcomes are possible in the model");
}

/* A forbidden outcome in one round of many, spread over the nodes' results. */
static void test_judge(const struct shape *s)
{
	const uint64_t rounds = 1000, bad = 617;
	struct result *results[2];
	static struct tally t;
	uint8_t good_cell[SHAPE_CELLS], weak_cell[SHAPE_CELLS], *cell;
	static bool possible[729];
	unsigned int i, k, good = 0, weak = 0;
	uint64_t round;

	model_outcomes(s, possible);
	for (i = 0; i < shape_outcomes(s); i++) {
		shape_cell(s, i, good_cell);
		if (s->is_weak(good_cell) && value_exists(s, good_cell))
			weak = i;
		else if (possible[i])
			good = i;
	}
	shape_cell(s, good, good_cell);
	shape_cell(s, weak, weak_cell);
	for (k = 0; k < 2; k++) {
		results[k] = malloc(result_size(rounds));
		if (!results[k])
			exit(2);
		memset(results[k], RESULT_ABSENT, result_size(rounds));
		for (round = 0; round < rounds; round++)
			for (i = 0; i < SHAPE_CELLS; i++)
				/* Registers on one node each, finals on both. */
				if (i >= SHAPE_REGS || i % 2 == k)
					results[k]->cell[round][i] = good_cell[i];
		result_seal(results[k], rounds, s - shapes);
	}
	result_judge(s, rounds, (const struct result *const *)results, 2, &t);
	report(!t.error && !t.weak && t.outcome[good] == rounds, s->name,
	       "right rounds are found right");

	for (k = 0; k < 2; k++) {
		cell = results[k]->cell[bad];
		for (i = 0; i < SHAPE_CELLS; i++)
			if (cell[i] != RESULT_ABSENT)
				cell[i] = weak_cell[i];
	}
	result_judge(s, rounds, (const struct result *const *)results, 2, &t);
	report(t.error, s->name, "a changed result is noticed");
	for (k = 0; k < 2; k++)
		result_seal(results[k], rounds, s - shapes);
	result_judge(s, rounds, (const struct result *const *)results, 2, &t);
	report(!t.error && t.weak == 1 && t.first == bad, s->name,
	       "one weak outcome in 1000 is found");

	i = s->regs ? 0 : SHAPE_REGS;
	results[0]->cell[bad][i] = RESULT_ABSENT;
	if (!s->regs)
		results[1]->cell[bad][i] = RESULT_ABSENT;
	for (k = 0; k < 2; k++)
		result_seal(results[k], rounds, s - shapes);
	result_judge(s, rounds, (const struct result *const *)results, 2, &t);
	report(t.error, s->name, "a missing value is noticed");
	results[0]->cell[bad][i] = 7;
	result_seal(results[0], rounds, s - shapes);
	result_judge(s, rounds, (const struct result *const *)results, 2, &t);
	report(t.error, s->name, "a strange value is noticed");
	if (s->finals) {
		results[0]->cell[bad][SHAPE_REGS] = 1;
		results[1]->cell[bad][SHAPE_REGS] = 2;
		for (k = 0; k < 2; k++)
			result_seal(results[k], rounds, s - shapes);
		result_judge(s, rounds, (const struct result *const *)results, 2, &t);
		report(t.error, s->name, "nodes that disagree are noticed");
	}
	free(results[0]);
	free(results[1]);
}

/**
 * litmus_selftest() - test the detector
 *
 * Prints a line a test; returns 0 if all are well.
 */
int litmus_selftest(void)
{
	unsigned int i;

	for (i = 0; i < shape_count; i++) {
		test_table(&shapes[i]);
		test_judge(&shapes[i]);
	}
	printf("1..%u\n", tests);
	return failures != 0;
}
