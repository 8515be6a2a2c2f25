/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions of the .spec, made fit for DPDK 22.11: which ones it has, and a
 * way around one that it gets wrong.
 */
#ifndef WEFT_SWITCHD_INSTRUCTION_H
#define WEFT_SWITCHD_INSTRUCTION_H

#include <rte_swx_pipeline.h>

#include "fail.h"

/* A field of 64 bits of the metadata, for instruction_fit(). */
#define INSTRUCTION_FIELD	"switchd_constant"

/**
 * instruction_fit() - the text of one instruction for DPDK
 * @word: its words, with the label, if any
 * @n: how many
 * @text: the instruction, or two instructions that do the same; two of them
 *	use the metadata field INSTRUCTION_FIELD
 * @err: why DPDK would refuse it
 *
 * Return: number of instructions, 1 or 2, or a negative errno.
 */
int instruction_fit(const char *const word[], unsigned int n,
		    char text[2][RTE_SWX_INSTRUCTION_SIZE], char *err);

#endif /* WEFT_SWITCHD_INSTRUCTION_H */
