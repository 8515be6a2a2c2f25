/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many messages a second one core takes through the directory.
 */
#ifndef WEFT_TESTS_DIFF_BENCH_H
#define WEFT_TESTS_DIFF_BENCH_H

#include <stdbool.h>

#include "types.h"

/**
 * bench() - measure and print
 * @spec: the program
 * @compiled: library that was made of it, or NULL
 * @messages: send as many to the directory and measure nothing, so that others can
 *	count what is done for them; 0: measure
 * @json: print JSON instead of text
 *
 * Return: 0, or 2 if it could not run.
 */
int bench(const char *spec, const char *compiled, u64 messages, bool json);

#endif /* WEFT_TESTS_DIFF_BENCH_H */
