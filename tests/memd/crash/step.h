/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A step of a story: one thing that the node does, by chance, or some time in which it does
 * nothing.  What may come of it is promised (promise.h).
 */
#ifndef WEFT_TESTS_MEMD_CRASH_STEP_H
#define WEFT_TESTS_MEMD_CRASH_STEP_H

/* Take one; the blade runs, and the node has joined. */
void step_take(void);

#endif /* WEFT_TESTS_MEMD_CRASH_STEP_H */
