/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A deliberately simple x86 machine, for the checker's selftest: memory, and a
 * first-in-first-out store buffer for each thread.
 */
#ifndef WEFT_TESTS_STRESS_MACHINE_H
#define WEFT_TESTS_STRESS_MACHINE_H

#include "history.h"

/* machine.c */
void machine_run(struct history *h, uint64_t *random);
bool machine_can(const struct history *h);

#endif /* WEFT_TESTS_STRESS_MACHINE_H */
