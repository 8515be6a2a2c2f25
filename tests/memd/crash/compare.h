/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a blade has when it has started, against what was promised (promise.h): whatever is
 * not as it may be ends the program with a sentence.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_COMPARE_H
#define WEFT_TESTS_MEMD_CRASH_COMPARE_H

#include "types.h"

struct memd;

/**
 * struct compare_counts - what was seen, of all blades
 * @blocks: with contents that they may have
 * @older: of them, with older ones than the last
 * @zeros: of them, with zeros, which are older
 * @asked_there: regions whose CREATE was not answered, and which are there
 * @asked_not: that are not
 * @gone_back: regions that were to be removed, without an answer, and are there
 */
extern struct compare_counts {
	u64 blocks, older, zeros;
	u64 asked_there, asked_not, gone_back;
} compare_counts;

/*
 * @crashed: its machine has ended; else only its process has, and nothing may be lost.
 * @learn: from here on what it has is what is promised.
 */
void compare_blade(struct memd *b, bool crashed, bool learn);

#endif /* WEFT_TESTS_MEMD_CRASH_COMPARE_H */
