/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * C code for a P4 program that does not go through DPDK's instructions.
 *
 * What DPDK writes (compiled.h) is a call for each instruction, and each reads and
 * writes eight bytes of memory, whatever the size of a variable: a variable that is
 * read after its neighbour was written waits until that write has left the processor.
 * Here variables of the program are variables in C, so that most of them are in
 * registers; and a packet goes through the whole program at once.
 *
 * Tables, registers, mirroring sessions and ports stay those of DPDK's pipeline, and
 * so does what an instruction does (tests/diff compares).
 */
#ifndef WEFT_SWITCHD_TRANSLATE_H
#define WEFT_SWITCHD_TRANSLATE_H

#include <stdio.h>

#include "spec.h"

/**
 * translate() - write the C code
 * @spec: the program
 * @out: where to; goes before compiled.inc, which has what it calls
 * @err: which instruction is not known here
 *
 * Return: 0 or a negative errno; then @out is no C code.
 */
int translate(const struct spec *spec, FILE *out, char *err);

#endif /* WEFT_SWITCHD_TRANSLATE_H */
