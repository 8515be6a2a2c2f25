/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The node that is played, the only one of the rack: it joins, makes calls and takes the answers,
 * of which promise.h is told.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_NODE_H
#define WEFT_TESTS_MEMD_CRASH_NODE_H

#include "blade.h"

#define NODE		1u
#define NODE_ADDR	0x0A570000u	/* and its number */

/* SYNCs that were answered; those of this life of the blade. */
extern u64 node_syncs, node_syncs_of_life;

/* A life of the blade begins, which has not been asked for anything. */
void node_begin(void);

/* Start the blade's timers, and join. */
void node_join(void);

/* A call, or the answer to one. */
void node_send(u8 type, u32 txn, const struct weft_call *c);

/* What has become of a call. */
enum outcome node_outcome(u32 txn, struct weft_call *reply);

/* What is answered by now is promised. */
void node_take_answers(void);

/* So many milliseconds pass, for the blade and its disk as well. */
void node_wait(u32 ms);

/* Its fsync(), of all that is at home; nothing if too many are not answered. */
void node_sync(void);

#endif /* WEFT_TESTS_MEMD_CRASH_NODE_H */
