/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of blocks that the node's card reads by deeds (landing.h), by their names (main.c). */
#ifndef WEFT_TEST_DEEDS_H
#define WEFT_TEST_DEEDS_H

void case_deeds(void);
void case_no_deeds(void);

#endif
