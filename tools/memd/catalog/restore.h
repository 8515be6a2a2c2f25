/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contents of blocks that are in the backing file, after a restart.  catalog/layer.c calls it,
 * before any other thread runs.
 */
#ifndef WEFT_MEMD_RESTORE_H
#define WEFT_MEMD_RESTORE_H

struct memd;

/* Regions are as they were, journal_restore().  Return: 0, or -1 with a sentence. */
int restore_blocks(struct memd *m, char *err);

#endif /* WEFT_MEMD_RESTORE_H */
