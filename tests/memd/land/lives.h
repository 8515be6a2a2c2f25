/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of what becomes of landings when a life of the node ends, by their names (main.c). */
#ifndef WEFT_TEST_LIVES_H
#define WEFT_TEST_LIVES_H

void case_dead(void);
void case_silent(void);
void case_anew(void);
void case_stays(void);

#endif
