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
 * @frames: how many frames
 * @seed: which ones
 * @mutation: error in the model
 */
struct comparison {
	const char *spec;
	u64 frames;
	u64 seed;
	enum mutation mutation;
};

/**
 * compare() - run, and tell the first difference
 * @c: what
 *
 * Return: 0 if there is no difference and everything that can come of a frame was
 * seen, 1 if not, 2 if the test could not run.
 */
int compare(const struct comparison *c);

#endif /* WEFT_TESTS_DIFF_COMPARE_H */
