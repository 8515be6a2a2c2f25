/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A story: one disk from its beginning, and the lives of the blade that it has.  Each ends
 * somehow, and the next one begins with what is left.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_STORY_H
#define WEFT_TESTS_MEMD_CRASH_STORY_H

#include "types.h"

enum ending { STOPPED, KILLED, POWER, ENDINGS };

/* How many lives ended like this; with the machine, while they began. */
extern u32 story_ended[ENDINGS], story_ended_early;

/* So many stories, of a seed. */
void story_tell(u32 seed, u32 n);

#endif /* WEFT_TESTS_MEMD_CRASH_STORY_H */
