// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast this machine's time stamp counter runs.  An emulated guest sees the same
 * counter; if it measures it itself while the host is busy, it finds a fraction of
 * the truth, and then its clock runs several times too fast.
 */
#include "rackio.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>

#include "tools/common/clock.h"

#define MEASURE_MS	100

struct sample {
	uint64_t tsc;
	uint64_t ns;
};

/* Both at one time: of some tries the one that was interrupted least. */
static struct sample now(void)
{
	struct sample best = { 0, 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = __rdtsc(), after;
		uint64_t ns = clock_ns(CLOCK_MONOTONIC_RAW);

		after = __rdtsc();
		if (after - before >= shortest)
			continue;
		shortest = after - before;
		best.tsc = before + shortest / 2;
		best.ns = ns;
	}
	return best;
}

/**
 * tsc_main() - weft-rackio tsc
 * @argc: number of arguments
 * @argv: arguments
 *
 * Prints the frequency in kHz.
 *
 * Return: 0, or RACK_TROUBLE if it cannot tell.
 */
int tsc_main(int argc, char **argv)
{
	struct sample begin = now(), end;

	(void)argc;
	(void)argv;
	pause_ms(MEASURE_MS);
	end = now();
	if (end.ns <= begin.ns || end.tsc <= begin.tsc)
		return RACK_TROUBLE;
	printf("%.0f\n", (double)(end.tsc - begin.tsc) * 1e6 / (double)(end.ns - begin.ns));
	return 0;
}
#else
int tsc_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return RACK_TROUBLE;
}
#endif
