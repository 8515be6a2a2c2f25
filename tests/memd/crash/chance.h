/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chance: whatever happens at random in a story comes from here, so that a story that is
 * told again is the same one.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_CHANCE_H
#define WEFT_TESTS_MEMD_CRASH_CHANCE_H

#include "types.h"

/* Another row of numbers for each @story of a @seed. */
void chance_begin(u32 seed, u32 story);

/* From 0 to @n - 1; 0 if @n is 0. */
u32 chance_below(u32 n);

/* 64 bits. */
u64 chance_bits(void);

#endif /* WEFT_TESTS_MEMD_CRASH_CHANCE_H */
