// SPDX-License-Identifier: GPL-2.0-only
/* Sequence numbers by ranges: no two alike, whoever gives them out, and when. */
#include <stdlib.h>

#include "seq.h"
#include "tests/common/check.h"
#include "tools/common/random.h"

#define PROCESSORS	8

static struct weft_seq_range range[PROCESSORS];
static u64 given;

/* As kmod/net/node.c does it. */
static u64 next(u32 processor)
{
	struct weft_seq_range *r = &range[processor];

	if (!weft_seq_usable(r, given)) {
		weft_seq_refill(r, given);
		given += WEFT_SEQ_RANGE;
	}
	return r->next++;
}

static void begin(u64 from)
{
	u32 i;

	given = from;
	for (i = 0; i < PROCESSORS; i++)
		range[i] = (struct weft_seq_range){ 0, 0 };
}

/* Processors and calls take numbers at random: each once, and few are left out. */
static void no_two_are_alike(void)
{
	u32 n = 200000, i, alike = 0;
	u64 random = 1, from = 0xFFFFFF00u;	/* 32 bits would come round on the way */
	u8 *seen = calloc(2 * n, 1);

	begin(from);
	for (i = 0; i < n; i++) {
		u32 who = random_below(&random, PROCESSORS + 1);
		u64 at = (who < PROCESSORS ? next(who) : given++) - from;

		if (at >= 2 * n || seen[at]++)
			alike++;
	}
	CHECK_EQ(alike, 0);
	CHECK(given - from < n + PROCESSORS * WEFT_SEQ_RANGE + 1);
	free(seen);
}

/* One processor has the rest of a range, and the others give out all numbers there are. */
static void none_comes_round(void)
{
	u64 old, i, span = 1ull << WEFT_TXN_SEQ_BITS;

	begin(0);
	old = next(0);
	for (i = 0; i < span - 2; i++)
		next(1);
	/* what it has left begins behind @old, and 1 is just being given the same */
	CHECK(((next(0) ^ (old + 1)) & (span - 1)) != 0);
	CHECK(next(0) > span - WEFT_SEQ_RANGE);
	/* nor with all that 32 bits could count in between */
	begin(5);
	old = next(0);
	given += 1ull << 32;
	CHECK(next(0) >= 5 + (1ull << 32));
}

/* A processor that is not idle for long uses all of its range. */
static void none_is_wasted(void)
{
	u32 i;

	begin(77);
	next(0);
	given += WEFT_SEQ_OLD - WEFT_SEQ_RANGE;
	for (i = 1; i < WEFT_SEQ_RANGE; i++)
		CHECK_EQ(next(0), 77 + i);
	CHECK_EQ(next(0), 77 + WEFT_SEQ_OLD);
}

int main(void)
{
	no_two_are_alike();
	none_comes_round();
	none_is_wasted();
	return check_result();
}
