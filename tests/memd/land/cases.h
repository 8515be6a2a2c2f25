/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of blocks that land while the node and the blade live, by their names (main.c). */
#ifndef WEFT_TEST_CASES_H
#define WEFT_TEST_CASES_H

void case_lands(void);
void case_udp(void);
void case_unlocked(void);
void case_removed(void);

#endif
