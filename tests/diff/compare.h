/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The same frames through the P4 program and through the model.
 */
#ifndef WEFT_TESTS_DIFF_COMPARE_H
#define WEFT_TESTS_DIFF_COMPARE_H

#include "generate.h"
#include "rig.h"

/**
 * struct comparison - a run
 * @spec: the program
 * @compiled: library that was made of it, or NULL
 * @frames: how many frames
 * @seed: which ones
 * @mutation: error in the model
 * @quiet: print nothing
 */
struct comparison {
	const char *spec;
	const char *compiled;
	u64 frames;
	u64 seed;
	enum mutation mutation;
	bool quiet;
};

enum comparison_result {
	COMPARE_SAME = 0,
	COMPARE_DIFFERENT = 1,
	COMPARE_TROUBLE = 2,	/* could not run */
	COMPARE_TOO_FEW = 3,	/* the same, but not everything was seen */
};

/**
 * compare() - run, and tell the first difference
 * @c: what
 *
 * Return: see enum comparison_result.
 */
enum comparison_result compare(const struct comparison *c);

/**
 * compare_mutations() - does a run find each of the errors in mutate.h?
 * @c: what; without @mutation and @quiet
 *
 * Return: COMPARE_SAME if it does, COMPARE_DIFFERENT if not, COMPARE_TROUBLE.
 */
enum comparison_result compare_mutations(const struct comparison *c);

#endif /* WEFT_TESTS_DIFF_COMPARE_H */
