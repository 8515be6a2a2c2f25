/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mutants: blades, each of which does one thing wrong, that stories are to find.  What a mutant
 * does is here, but for answers that are taken before they are given (node.c).  Each function
 * does nothing unless it is about the mutant that the blade is.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_MUTANT_H
#define WEFT_TESTS_MEMD_CRASH_MUTANT_H

#include "disk.h"

enum mutant {
	NONE, NO_FLUSH, NO_LOG_SYNC, NO_START_SYNC, NO_SUPER_SYNC, CLEAR_FIRST, FREE_FIRST,
	NO_SUMS, NO_MARK, ANSWER_FIRST, SYNC_FIRST, SYNC_JOINS, MUTANTS,
};

extern enum mutant mutant;	/* that the blade is */
extern const char *const mutant_names[MUTANTS];	/* what it does wrong */

/* Whether a sync of the disk is left out (disk_leaves_out). */
bool mutant_leaves_out(bool all, u64 from);

/* Records on a disk say of each frame what it has. */
void mutant_mend_sums(const struct disk *d);

/* The records of a block whose first frame was @frame, 0 for none, go at once. */
void mutant_clear(u32 frame);

/* Frames that rest are free. */
void mutant_free(void);

/* A SYNC that waits for the next sync waits for that which is under way. */
void mutant_join_sync(void);

#endif /* WEFT_TESTS_MEMD_CRASH_MUTANT_H */
