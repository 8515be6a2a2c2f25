/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many messages a second one core takes through the directory.
 */
#ifndef WEFT_TESTS_DIFF_BENCH_H
#define WEFT_TESTS_DIFF_BENCH_H

#include <stdbool.h>

/**
 * bench() - measure and print
 * @spec: the program
 * @compiled: library that was made of it, or NULL
 * @json: print JSON instead of text
 *
 * Return: 0, or 2 if it could not run.
 */
int bench(const char *spec, const char *compiled, bool json);

#endif /* WEFT_TESTS_DIFF_BENCH_H */
