/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The catalog in the backing file: a log of what changed, begun anew with all
 * that there is when half of it is full; and everything back after a restart.
 *
 * Without a backing file all of these succeed and do nothing.
 */
#ifndef WEFT_MEMD_JOURNAL_H
#define WEFT_MEMD_JOURNAL_H

#include "base/flush.h"
#include "lines/region.h"
#include "net/deferred.h"

struct deferred;

/**
 * struct journal - who waits for the log to be on the disk
 * @flush: brings it there
 * @timer: looks whether it is
 * @waiting: deferred calls of which it is not known when the next @flush begins
 * @noting: deferred calls whose records are in what @flush is about
 * @hole: what was noted may not be on the disk and is not known to be: nothing that is noted
 *	behind it is certain before the log has begun anew
 * @mend_at: not before this millisecond
 */
struct journal {
	struct flush flush;
	struct timer timer;
	struct deferred_list waiting;
	struct deferred_list noting;
	bool hole;
	u64 mend_at;
};

/* The backing file is open, or there is none.  Return: 0 or -1 with errno. */
int journal_init(struct memd *m);

/* What wakes us when a sync of the log is over, and what is to be done then. */
static inline int journal_fd(const struct journal *j)
{
	return j->flush.wakes ? j->flush.wake : -1;
}

void journal_work(struct memd *m);

/* Who waits still does not any more. */
void journal_exit(struct memd *m);
void journal_close(struct memd *m);

/**
 * journal_hold() - an answer waits until what was noted so far is on the disk, and the standby
 *	has it, if there is one that follows
 * @dc: held until then; its error is EIO if that fails
 *
 * Whoever waits at that time waits for one sync of the log, beside which everything goes
 * on.  Return: true if it is held; false: there is no file.
 */
bool journal_hold(struct memd *m, struct deferred *dc);

/**
 * journal_region() - a region is new, or loses its name
 * @unlinked: it has none
 *
 * Return: 0 or -1, logged.
 */
int journal_region(struct memd *m, const struct region *r, bool unlinked);

/* Its attributes changed. */
int journal_attributes(struct memd *m, const struct region *r);

/* Its policy, or who may use it, changed; or it is new and has one: after its region. */
int journal_policy(struct memd *m, const struct region *r);

/* A blade was added, or is used or not. */
int journal_blade(struct memd *m, u32 id);

/* It is gone. */
int journal_gone(struct memd *m, u32 id);

/* A node became a member, or is none any more: on disk when this returns. */
int journal_member(struct memd *m, u32 id);

/**
 * journal_restore() - regions and members as they were; contents are restore.c's
 * @err: receives a sentence
 */
int journal_restore(struct memd *m, char *err);

#endif /* WEFT_MEMD_JOURNAL_H */
