/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cases that are too rare to be met by chance: what may be left of a log, a disk that fails, the
 * second blade of a rack, a file that is new.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_CASES_H
#define WEFT_TESTS_MEMD_CRASH_CASES_H

/* Try all of them, one after the other. */
void cases_try(void);

#endif /* WEFT_TESTS_MEMD_CRASH_CASES_H */
