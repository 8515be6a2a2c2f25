// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a node learns of a line that it reads and then writes, each time that it has it:
 * when it begins to ask to write at once, and when it stops.
 */
#include "line.h"
#include "tests/common/check.h"

static struct weft_migratory m;

/* One visit that begins with a read of the program; returns whether it was a guess. */
static bool visit(bool writes)
{
	bool guess = weft_migratory_ask(&m) == WEFT_M;

	weft_migratory_came(&m, guess ? WEFT_CAME_GUESSED : WEFT_CAME_READ);
	if (writes && guess)
		weft_migratory_wrote(&m);
	else if (writes)
		weft_migratory_came(&m, WEFT_CAME_UPGRADE);
	CHECK_EQ(weft_migratory_ends(&m, true), writes || !guess);
	return guess;
}

/* Visits that read and write, until one is a guess. */
static unsigned int until_guess(void)
{
	unsigned int n;

	for (n = 0; !visit(true); n++)
		CHECK(n < 2 * WEFT_MIGRATORY_MOST);
	return n;
}

static void is_learnt(void)
{
	m = (struct weft_migratory){ };
	CHECK_EQ(until_guess(), WEFT_MIGRATORY_FIRST);
	for (unsigned int i = 0; i < 1000; i++)
		CHECK(visit(true));
}

static void only_reading_is_not(void)
{
	m = (struct weft_migratory){ };
	for (unsigned int i = 0; i < 1000; i++)
		CHECK(!visit(false));
	/* one of two is no habit */
	for (unsigned int i = 0; i < 1000; i++)
		CHECK(!visit(i & 1));
}

/* A producer has its copy when it writes, and a node that only writes reads nothing. */
static void only_writing_is_not(void)
{
	m = (struct weft_migratory){ };
	for (unsigned int i = 0; i < 1000; i++) {
		weft_migratory_came(&m, i & 1 ? WEFT_CAME_WRITE : WEFT_CAME_UPGRADE);
		weft_migratory_wrote(&m);
		CHECK(weft_migratory_ends(&m, true));
		CHECK_EQ(weft_migratory_ask(&m), WEFT_S);
	}
}

/* A line that goes to be written, and is taken: what was written before does not count. */
static void a_visit_ends(void)
{
	m = (struct weft_migratory){ };
	until_guess();
	weft_migratory_came(&m, WEFT_CAME_GUESSED);
	weft_migratory_wrote(&m);
	CHECK(weft_migratory_ends(&m, true));
	weft_migratory_came(&m, WEFT_CAME_GUESSED);
	CHECK(!weft_migratory_ends(&m, true));
	/* over is over */
	CHECK(weft_migratory_ends(&m, true));
}

/* A wrong one now and then is no reason to stop; many are, and soon. */
static void is_forgotten(void)
{
	unsigned int wrong;

	m = (struct weft_migratory){ };
	until_guess();
	for (unsigned int i = 0; i < 1000; i++)
		CHECK(visit(i % 4 || i < 8));
	for (unsigned int i = 0; i < 1000; i++)
		visit(true);
	for (wrong = 0; visit(false); wrong++)
		CHECK(wrong < 6);
	CHECK(wrong >= 2);
	for (unsigned int i = 0; i < 1000; i++)
		CHECK(!visit(false));
}

static void wrong_guesses_cost_less_and_less(void)
{
	/* visits between guesses, as each time that it is learnt the program stops to write */
	static const unsigned int between[] = { 2, 3, 6, 12, 24, 16, 16, 16 };

	m = (struct weft_migratory){ };
	for (unsigned int i = 0; i < sizeof(between) / sizeof(*between); i++) {
		for (unsigned int k = 0; k < between[i]; k++)
			CHECK(!visit(true));
		CHECK(visit(false));
	}
	/* right ones make up for it, slowly */
	until_guess();
	for (unsigned int i = 0; i < WEFT_MIGRATORY_MOST; i++)
		CHECK(visit(true));
	while (visit(false))
		;
	CHECK_EQ(until_guess(), 2 * WEFT_MIGRATORY_FIRST);
}

static void eviction_says_nothing(void)
{
	m = (struct weft_migratory){ };
	for (unsigned int i = 0; i < 1000; i++) {
		weft_migratory_came(&m, WEFT_CAME_READ);
		weft_migratory_came(&m, WEFT_CAME_UPGRADE);
		CHECK(weft_migratory_ends(&m, false));
		CHECK_EQ(weft_migratory_ask(&m), WEFT_S);
	}
	until_guess();
	weft_migratory_came(&m, WEFT_CAME_READ);
	CHECK(weft_migratory_ends(&m, false));
	CHECK_EQ(weft_migratory_ask(&m), WEFT_M);
	/* but that it was for nothing */
	weft_migratory_came(&m, WEFT_CAME_GUESSED);
	CHECK(!weft_migratory_ends(&m, false));
	CHECK_EQ(weft_migratory_ask(&m), WEFT_S);
}

int main(void)
{
	is_learnt();
	only_reading_is_not();
	only_writing_is_not();
	a_visit_ends();
	is_forgotten();
	wrong_guesses_cost_less_and_less();
	eviction_says_nothing();
	return check_result();
}
