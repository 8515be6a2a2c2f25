/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Litmus tests: small programs of a few threads, and what they may not do.
 */
#ifndef WEFT_TESTS_LITMUS_H
#define WEFT_TESTS_LITMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHAPE_THREADS	4
#define SHAPE_STEPS	4
#define SHAPE_REGS	4
#define SHAPE_VARS	2
#define SHAPE_VALUES	3	/* 0, 1, 2 */
#define SHAPE_CELLS	(SHAPE_REGS + SHAPE_VARS)

enum step_kind { STEP_END, STEP_STORE, STEP_LOAD, STEP_FENCE };

/**
 * struct step - an instruction
 * @kind:	&enum step_kind
 * @var:	0 = x, 1 = y
 * @arg:	value to store, or register to load to
 */
struct step {
	uint8_t kind;
	uint8_t var;
	uint8_t arg;
};

/**
 * struct shape - a litmus test
 * @name:	as in the literature
 * @threads:	number of threads
 * @regs:	number of registers of all threads
 * @vars:	number of variables
 * @finals:	the final values of the variables are part of the outcome
 * @weak:	what @is_weak tells: 'forbidden' by x86, or allowed and of interest
 * @forbidden:	x86-TSO forbids the weak outcome
 * @program:	the threads
 * @is_weak:	is this outcome (registers, then final values) the weak one?
 */
struct shape {
	const char *name;
	uint8_t threads;
	uint8_t regs;
	uint8_t vars;
	bool finals;
	bool forbidden;
	const char *weak;
	struct step program[SHAPE_THREADS][SHAPE_STEPS + 1];
	bool (*is_weak)(const uint8_t *cell);
};

/* shape.c */
extern const struct shape shapes[];
extern const unsigned int shape_count;
unsigned int shape_cells(const struct shape *s);
unsigned int shape_outcomes(const struct shape *s);
unsigned int shape_outcome(const struct shape *s, const uint8_t *cell);
void shape_cell(const struct shape *s, unsigned int outcome, uint8_t *cell);

/* model.c */
void model_outcomes(const struct shape *s, bool *possible);

/* judge.c: one block of results a node */

#define RESULT_ABSENT	0xff	/* another node knows this cell */

/**
 * struct result - what one node saw in all rounds of a test
 * @sum:	over all that follows
 * @rounds:	number of rounds
 * @shape:	number of the test
 * @cell:	outcome of each round, RESULT_ABSENT where it is not known here
 */
struct result {
	uint64_t sum;
	uint64_t rounds;
	uint64_t shape;
	uint8_t cell[][SHAPE_CELLS];
};

/**
 * struct tally - how often each outcome was seen
 * @weak:	rounds with the weak outcome
 * @first:	number of the first of them
 * @outcome:	rounds by outcome
 * @error:	what makes the results useless, or NULL
 */
struct tally {
	uint64_t weak;
	uint64_t first;
	uint64_t outcome[729];
	const char *error;
};

size_t result_size(uint64_t rounds);
void result_seal(struct result *r, uint64_t rounds, uint64_t shape);
void result_judge(const struct shape *s, uint64_t rounds,
		  const struct result *const *results, unsigned int count,
		  struct tally *t);
int litmus_selftest(void);

#endif /* WEFT_TESTS_LITMUS_H */
