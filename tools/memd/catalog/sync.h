/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SYNC: a node wants what it has written home to be on the disk.  Whoever asks while one sync
 * of the file is under way waits for the next, and all of them for the same one: it makes no
 * difference to a disk how many they are.
 *
 * Answered are calls that came before that sync began, and so everything that was at home
 * before they were made.  If a sync of the file has failed once no SYNC succeeds any more in
 * this life of the process: the kernel may take for written what it could not write.
 */
#ifndef WEFT_MEMD_SYNC_H
#define WEFT_MEMD_SYNC_H

#include "net/commit.h"

/* The backing file is open, or there is none.  Return: 0 or -1 with errno. */
int sync_init(struct memd *m);

/* A SYNC call. */
enum answer sync_call(struct memd *m, struct request *q);

#endif /* WEFT_MEMD_SYNC_H */
