/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The catalog in the backing file: a log of what changed, begun anew with all
 * that there is when half of it is full; and everything back after a restart.
 *
 * Without a backing file all of these succeed and do nothing.
 */
#ifndef WEFT_MEMD_JOURNAL_H
#define WEFT_MEMD_JOURNAL_H

#include "lines/region.h"
#include "net/commit.h"

struct journal {
	struct commit commit;	/* who waits for the log to be on the disk */
	/* Records may be missing on the disk: none behind them counts until the log begins anew */
	bool hole;
	u64 mend_at;		/* not before this millisecond */
};

/* The backing file is open, or there is none.  Return: 0 or -1 with errno. */
int journal_init(struct memd *m);

/**
 * journal_hold() - an answer waits until what was noted so far is on the disk, and the standby
 *	has it, if there is one that follows
 * @dc: held until then; its error is EIO if that fails
 *
 * Return: true if it is held; false: there is no file.
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
