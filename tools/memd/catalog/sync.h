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

#include "net/deferred.h"
#include "base/flush.h"
#include "base/timer.h"

struct deferred;

/**
 * struct sync - who waits for the file to be on the disk
 * @flush: brings it there
 * @timer: looks whether it is over
 * @waiting: deferred calls that the next @flush is for
 * @syncing: deferred calls that @flush is for
 */
struct sync {
	struct flush flush;
	struct timer timer;
	struct deferred_list waiting;
	struct deferred_list syncing;
};

/* The backing file is open, or there is none.  Return: 0 or -1 with errno. */
int sync_init(struct memd *m);

/* What wakes us when a sync is over, or -1; and what is to be done then. */
static inline int sync_fd(const struct sync *s)
{
	return s->flush.wakes ? s->flush.wake : -1;
}

void sync_work(struct memd *m);

/* A SYNC call. */
enum answer sync_call(struct memd *m, struct request *q);

/* Who waits still does not any more. */
void sync_exit(struct memd *m);
void sync_close(struct memd *m);

#endif /* WEFT_MEMD_SYNC_H */
