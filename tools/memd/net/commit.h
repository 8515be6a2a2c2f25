/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Group commit: deferred calls wait for the backing file to be on the disk.  Those that come while
 * one flush is under way wait for the next, and all of them for the same one.  The catalog has one
 * for its log (journal.c), and one for all of the file (sync.c).
 */
#ifndef WEFT_MEMD_COMMIT_H
#define WEFT_MEMD_COMMIT_H

#include "base/flush.h"
#include "base/timer.h"
#include "net/deferred.h"

struct commit_ops {
	/* The next flush begins: which part of the file it is about; @len 0: all of it. */
	void (*part)(struct memd *m, u64 *at, size_t *len);
	/* One is over.  Return: whether what it was about may not be on the disk. */
	bool (*over)(struct memd *m, bool failed);
	/* The next one begins because calls wait; or NULL. */
	void (*next)(struct memd *m);
};

struct commit {
	const struct commit_ops *ops;
	struct flush flush;
	struct timer timer;		/* to see whether it is over, if nothing says so */
	struct deferred_list waiting;	/* for the next flush */
	struct deferred_list running;	/* for the one that is under way */
};

/* The backing file is open, or there is none.  Return: 0 or -1 with errno. */
int commit_init(struct memd *m, struct commit *c, const struct commit_ops *ops);

/* The descriptor that wakes the event loop when a flush is over, or -1; the work to do then. */
static inline int commit_fd(const struct commit *c)
{
	return c->flush.wakes ? c->flush.wake : -1;
}

void commit_work(struct memd *m, struct commit *c);

/*
 * There is a file: @dc is held until what was written to it so far is on the disk, and the standby
 * has it, if there is one that follows.  Its error is EIO if that fails.
 */
void commit_hold(struct memd *m, struct commit *c, struct deferred *dc);

/* Flush until no call waits any more. */
void commit_exit(struct memd *m, struct commit *c);
void commit_close(struct commit *c);

#endif /* WEFT_MEMD_COMMIT_H */
