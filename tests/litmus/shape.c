// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of litmus tests.  What each may not do is written down by hand here,
 * and compared with the model of the machine (model.c) by the selftest.
 */
#include "litmus.h"

#define ST(v, n) { STEP_STORE, v, n }
#define LD(v, r) { STEP_LOAD, v, r }
#define FENCE	 { STEP_FENCE, 0, 0 }
#define X 0
#define Y 1
/* Outcomes: four registers, then the final values. */
#define FINAL_X cell[SHAPE_REGS + X]
#define FINAL_Y cell[SHAPE_REGS + Y]

static bool weak_sb(const uint8_t *cell)
{
	return cell[0] == 0 && cell[1] == 0;
}

static bool weak_mp(const uint8_t *cell)
{
	return cell[0] == 1 && cell[1] == 0;
}

static bool weak_lb(const uint8_t *cell)
{
	return cell[0] == 1 && cell[1] == 1;
}

static bool weak_iriw(const uint8_t *cell)
{
	return cell[0] == 1 && cell[1] == 0 && cell[2] == 1 && cell[3] == 0;
}

static bool weak_22w(const uint8_t *cell)
{
	return FINAL_X == 1 && FINAL_Y == 1;
}

static bool weak_s(const uint8_t *cell)
{
	return cell[0] == 1 && FINAL_X == 2;
}

static bool weak_wrc(const uint8_t *cell)
{
	return cell[0] == 1 && cell[1] == 1 && cell[2] == 0;
}

static bool weak_corr(const uint8_t *cell)
{
	return cell[0] > cell[1] || cell[1] > cell[2] || cell[2] > cell[3];
}

/* Back to the initial value, or two readers with two orders of the writes. */
static bool weak_corr2(const uint8_t *cell)
{
	if ((cell[0] && !cell[1]) || (cell[2] && !cell[3]))
		return true;
	return cell[0] && cell[2] && cell[0] != cell[1] && cell[2] != cell[3] &&
		cell[0] != cell[2];
}

const struct shape shapes[] = {
	{ "SB", 2, 2, 2, false, false, "both loads 0", {
		{ ST(X, 1), LD(Y, 0) },
		{ ST(Y, 1), LD(X, 1) } }, weak_sb },
	{ "SB+mfence", 2, 2, 2, false, true, "both loads 0", {
		{ ST(X, 1), FENCE, LD(Y, 0) },
		{ ST(Y, 1), FENCE, LD(X, 1) } }, weak_sb },
	{ "MP", 2, 2, 2, false, true, "the flag, but not the message", {
		{ ST(X, 1), ST(Y, 1) },
		{ LD(Y, 0), LD(X, 1) } }, weak_mp },
	{ "LB", 2, 2, 2, false, true, "both loads 1", {
		{ LD(X, 0), ST(Y, 1) },
		{ LD(Y, 1), ST(X, 1) } }, weak_lb },
	{ "IRIW", 4, 4, 2, false, true, "readers disagree about the order of the stores", {
		{ ST(X, 1) },
		{ LD(X, 0), LD(Y, 1) },
		{ ST(Y, 1) },
		{ LD(Y, 2), LD(X, 3) } }, weak_iriw },
	{ "2+2W", 2, 0, 2, true, true, "both first stores are last", {
		{ ST(X, 1), ST(Y, 2) },
		{ ST(Y, 1), ST(X, 2) } }, weak_22w },
	{ "CoRR", 2, 4, 1, false, true, "a reader goes back", {
		{ ST(X, 1) },
		{ LD(X, 0), LD(X, 1), LD(X, 2), LD(X, 3) } }, weak_corr },
	{ "CoRR2", 4, 4, 1, false, true, "a reader goes back, or readers disagree", {
		{ ST(X, 1) },
		{ LD(X, 0), LD(X, 1) },
		{ ST(X, 2) },
		{ LD(X, 2), LD(X, 3) } }, weak_corr2 },
	{ "WRC", 3, 3, 2, false, true, "a store that was seen is not passed on", {
		{ ST(X, 1) },
		{ LD(X, 0), ST(Y, 1) },
		{ LD(Y, 1), LD(X, 2) } }, weak_wrc },
	{ "S", 2, 1, 2, true, true, "a store overtakes an earlier one that was seen", {
		{ ST(X, 2), ST(Y, 1) },
		{ LD(Y, 0), ST(X, 1) } }, weak_s },
};

const unsigned int shape_count = sizeof(shapes) / sizeof(*shapes);

/**
 * shape_cells() - numbers that make up an outcome
 * @s:		the test
 */
unsigned int shape_cells(const struct shape *s)
{
	return s->regs + (s->finals ? s->vars : 0);
}

/**
 * shape_outcomes() - number of outcomes that one can think of
 * @s:		the test
 */
unsigned int shape_outcomes(const struct shape *s)
{
	unsigned int i, n = 1;

	for (i = 0; i < shape_cells(s); i++)
		n *= SHAPE_VALUES;
	return n;
}

/**
 * shape_outcome() - the number of an outcome
 * @s:		the test
 * @cell:	registers and final values
 */
unsigned int shape_outcome(const struct shape *s, const uint8_t *cell)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->regs; i++)
		n = n * SHAPE_VALUES + cell[i];
	for (i = 0; s->finals && i < s->vars; i++)
		n = n * SHAPE_VALUES + cell[SHAPE_REGS + i];
	return n;
}

/**
 * shape_cell() - an outcome from its number
 * @s:		the test
 * @outcome:	its number
 * @cell:	filled
 */
void shape_cell(const struct shape *s, unsigned int outcome, uint8_t *cell)
{
	unsigned int i;

	for (i = 0; i < SHAPE_CELLS; i++)
		cell[i] = 0;
	for (i = s->finals ? s->vars : 0; i-- > 0; outcome /= SHAPE_VALUES)
		cell[SHAPE_REGS + i] = outcome % SHAPE_VALUES;
	for (i = s->regs; i-- > 0; outcome /= SHAPE_VALUES)
		cell[i] = outcome % SHAPE_VALUES;
}
