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
 * @json: print JSON instead of text
 *
 * Return: 0 if the goals are met, 1 if not, 2 if it could not run.
 */
int bench(const char *spec, bool json);

#endif /* WEFT_TESTS_DIFF_BENCH_H */
