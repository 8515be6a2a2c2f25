/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What blades say: whatever is written to stderr is kept, that of the blade and, apart from it,
 * that of another one which is only tried.  Checks that fail say so there as well.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_WORDS_H
#define WEFT_TESTS_MEMD_CRASH_WORDS_H

#include <stdbool.h>

/* From now on it is kept, and nowhere to be seen. */
void words_keep(void);

/* The blade has said nothing yet. */
void words_begin(void);

/* What is said is another blade's, which has said nothing yet; it is the blade's again. */
void words_begin_apart(void);
void words_end_apart(void);

/* The one whose words are being kept has said that. */
bool words_have(const char *text);

/* Print all that it has said. */
void words_print(void);

#endif /* WEFT_TESTS_MEMD_CRASH_WORDS_H */
