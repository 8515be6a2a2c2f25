/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers on the command line of a test program.  What is none, or is not within its
 * limits, ends the program with status 2: a test does not run with a number that nobody
 * asked for.
 */
#ifndef WEFT_TESTS_COMMON_ARGUMENT_H
#define WEFT_TESTS_COMMON_ARGUMENT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/common/number.h"

static inline uint64_t argument(const char *text, uint64_t min, uint64_t max)
{
	uint64_t value;

	if (!number_u64(text, min, max, &value))
		return value;
	fprintf(stderr, "%s: '%s' is not a number from %llu to %llu\n",
		program_invocation_short_name, text, (unsigned long long)min,
		(unsigned long long)max);
	exit(2);
}

/* One of 32 bits, of any size. */
static inline uint32_t argument_u32(const char *text)
{
	return (uint32_t)argument(text, 0, UINT32_MAX);
}

/* Not below 0. */
static inline double argument_real(const char *text)
{
	double value;

	if (!number_real(text, 0, 1e15, &value))
		return value;
	fprintf(stderr, "%s: '%s' is not a number from 0\n", program_invocation_short_name,
		text);
	exit(2);
}

#endif /* WEFT_TESTS_COMMON_ARGUMENT_H */
