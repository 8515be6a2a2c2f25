/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The catalog in the backing file: a log of what changed, begun anew with all
 * that there is when half of it is full; and everything back after a restart.
 *
 * Without a backing file all of these succeed and do nothing.
 */
#ifndef WEFT_MEMD_JOURNAL_H
#define WEFT_MEMD_JOURNAL_H

#include "region.h"

/**
 * journal_region() - a region is new, or loses its name
 * @unlinked: it has none
 *
 * Return: 0 or -1, logged.
 */
int journal_region(struct memd *m, const struct region *r, bool unlinked);

/* Its attributes changed. */
int journal_attributes(struct memd *m, const struct region *r);

/* It is gone. */
int journal_gone(struct memd *m, u32 id);

/* A node became a member, or is none any more: on disk when this returns. */
int journal_member(struct memd *m, u32 id);

/**
 * journal_restore() - regions and members as they were; contents are restore.c's
 * @err: receives a sentence
 */
int journal_restore(struct memd *m, char *err);
int restore_blocks(struct memd *m, char *err);

#endif /* WEFT_MEMD_JOURNAL_H */
