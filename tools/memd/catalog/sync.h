/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SYNC: a node wants what it has written home to be on the disk.  front/calls.c calls it; calls
 * that wait at the same time share a flush (net/commit.h).
 */
#ifndef WEFT_MEMD_SYNC_H
#define WEFT_MEMD_SYNC_H

#include "net/commit.h"

/*
 * Answered are calls that came before that flush began, and so everything that was at home before
 * they were made.  If a flush of the file has failed once no SYNC succeeds any more in this life
 * of the process: the kernel may take for written what it could not write.
 */

/* The backing file is open, or there is none.  Return: 0 or -1 with errno. */
int sync_init(struct memd *m);

/* A SYNC call. */
enum answer sync_call(struct memd *m, struct request *q);

#endif /* WEFT_MEMD_SYNC_H */
