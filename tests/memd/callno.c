// SPDX-License-Identifier: GPL-2.0-only
/*
 * memd-callno: which calls of a member may have been carried out before, by their
 * numbers (tools/memd/base/callno.c), over all that a member may do: go on, be silent, be cut
 * off for any number of messages, begin a new life.
 */
#include "tests/common/check.h"
#include "tools/memd/base/callno.h"

#define HALF	(1u << (WEFT_TXN_SEQ_BITS - 1))
#define SECOND	1000

static u32 masked(u32 seq)
{
	return seq & WEFT_TXN_SEQ_MASK;
}

/* Calls of each second, so many numbers apart. */
static void steadily(u32 first, u32 step, u32 calls)
{
	struct callno n;
	u64 now = 5000;
	u32 i;

	callno_begin(&n, masked(first), now);
	CHECK(callno_old(&n, masked(first)));
	CHECK(callno_old(&n, masked(first - 1)));
	for (i = 1; i < calls; i++) {
		u32 seq = masked(first + i * step);

		now += SECOND;
		callno_note(&n, seq, now);
		CHECK(!callno_old(&n, seq));
		/* the reply to the one before has had to go */
		if (i > 1) {
			callno_forget(&n, masked(first + (i - 1) * step));
			CHECK(callno_old(&n, masked(first + (i - 1) * step)));
			CHECK(callno_old(&n, masked(first + (i - 2) * step)));
		}
		CHECK(!callno_old(&n, seq));
	}
}

/* It calls, is not heard for @ms and @numbers, and calls again. */
static void cut_off(u32 numbers, u64 ms)
{
	struct callno n;
	u64 now = 5000;
	u32 seq = 100, i;

	callno_begin(&n, seq, now);
	for (i = 0; i < 10; i++)
		callno_note(&n, ++seq, now += SECOND);
	callno_forget(&n, seq - 3);
	now += ms;
	seq = masked(seq + numbers);
	callno_note(&n, seq, now);
	CHECK(!callno_old(&n, seq));
	/* and all is as before */
	callno_note(&n, masked(seq + 1), now + 1);
	CHECK(!callno_old(&n, masked(seq + 1)));
	callno_forget(&n, seq);
	CHECK(callno_old(&n, seq));
	CHECK(!callno_old(&n, masked(seq + 1)));
}

/* While somebody may still repeat what it has called, silence makes nothing new. */
static void not_yet(void)
{
	struct callno n;

	callno_begin(&n, 100, 5000);
	callno_note(&n, 101, 6000);
	callno_forget(&n, 101);
	callno_note(&n, 101, 6000 + CALLNO_SILENCE_MS);
	CHECK(callno_old(&n, 101));
	CHECK(CALLNO_SILENCE_MS >= 2 * WEFT_TICKS_FRESH * 1000 / WEFT_TICK_HZ);
}

int main(void)
{
	const u32 numbers[] = { 1, CALLNO_HORIZON, HALF - 1, HALF, HALF + 1, HALF + HALF / 2,
				2 * HALF - 1, 2 * HALF, 2 * HALF + 1 };
	struct callno none = { 0 };
	u32 i;

	steadily(0, 1, 1000);
	steadily(2 * HALF - 500, 1, 1000);
	steadily(7, CALLNO_HORIZON - 1, 1000);
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		cut_off(numbers[i], CALLNO_SILENCE_MS + 1);
		cut_off(numbers[i], 3600 * SECOND);
	}
	not_yet();
	CHECK(!callno_old(&none, 1));
	return check_result();
}
