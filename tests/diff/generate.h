/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random frames for the switch: sequences of messages that make sense, because
 * they look at the state of the model (right generations, transactions that have
 * the lock, members), mixed with such that do not, and with all kinds of damage.
 */
#ifndef WEFT_TESTS_DIFF_GENERATE_H
#define WEFT_TESTS_DIFF_GENERATE_H

#include "model.h"

#define N_LINES		40
/* They share slots, so that they are in each other's way. */
#define N_SLOTS		12

/**
 * struct generator - where frames come from
 * @model: the state that they depend on
 * @state: of the random numbers
 * @line: the lines
 * @seq: last sequence number of each member
 * @old_txn: transactions that were used before
 */
struct generator {
	const struct model *model;
	u64 state;
	u64 line[N_LINES];
	u32 seq[64];
	u32 old_txn[64];
};

void generator_init(struct generator *g, const struct model *model, u64 seed);

/**
 * generate() - the next frame
 * @g: the generator
 * @frame: at least FRAME_ROOM bytes
 *
 * Return: its length.
 */
u32 generate(struct generator *g, u8 *frame);

#endif /* WEFT_TESTS_DIFF_GENERATE_H */
