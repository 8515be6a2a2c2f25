// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of tools/common/random.h: it is the generator that it says it is, and what is
 * made of its numbers is spread evenly.
 */
#include "tests/common/check.h"
#include "tools/common/random.h"

#define DRAWS	100000

/* The first numbers of the reference implementation. */
static void reference(void)
{
	uint64_t state = 1234567;

	CHECK_EQ(random_u64(&state), 6457827717110365317ull);
	CHECK_EQ(random_u64(&state), 3203168211198807973ull);
	CHECK_EQ(random_u64(&state), 9817491932198370423ull);
	CHECK_EQ(random_u64(&state), 4593380528125082431ull);
	CHECK_EQ(random_u64(&state), 16408922859458223821ull);
}

/* Each of @n as often as the others, within six times the deviation that chance has. */
static void even(uint64_t seed, unsigned int n)
{
	unsigned int count[100] = { 0 }, i;
	double mean = (double)DRAWS / n;

	for (i = 0; i < DRAWS; i++) {
		uint64_t k = random_below(&seed, n);

		CHECK(k < n);
		count[k]++;
	}
	for (i = 0; i < n; i++)
		CHECK((count[i] - mean) * (count[i] - mean) <= 36 * mean);
}

static void below(void)
{
	uint64_t state = 0;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		even(i, 2);
		even(i, 7);
		even(i, 100);
	}
	for (i = 0; i < 1000; i++) {
		CHECK_EQ(random_below(&state, 0), 0);
		CHECK_EQ(random_below(&state, 1), 0);
		CHECK(random_below(&state, UINT64_MAX) < UINT64_MAX);
	}
}

static void unit(void)
{
	uint64_t state = 5;
	double sum = 0;
	unsigned int i;

	for (i = 0; i < DRAWS; i++) {
		double u = random_unit(&state);

		CHECK(u >= 0 && u < 1);
		sum += u;
	}
	CHECK(sum / DRAWS > 0.495 && sum / DRAWS < 0.505);
}

/* Streams that are near each other have nothing to do with each other. */
static void streams(void)
{
	uint64_t seed, stream, state;
	unsigned int bits[64] = { 0 }, i;

	for (seed = 0; seed < 40; seed++) {
		for (stream = 0; stream < 50; stream++) {
			state = random_stream(seed, stream);
			CHECK(state);
			state = random_u64(&state);
			for (i = 0; i < 64; i++)
				bits[i] += state >> i & 1;
		}
	}
	/* Of 2000; six times the deviation is 134. */
	for (i = 0; i < 64; i++)
		CHECK(bits[i] > 1000 - 134 && bits[i] < 1000 + 134);
}

int main(void)
{
	reference();
	below();
	unit();
	streams();
	return check_result();
}
