/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regions that go: those that were removed, when no node has them open any more.  The catalog
 * calls it; lines/trim.c takes the blocks away.
 */
#ifndef WEFT_MEMD_REMOVE_H
#define WEFT_MEMD_REMOVE_H

struct deferred;
struct memd;
struct region;

/* It is gone: free everything that belongs to it, when it is not busy any more. */
void remove_region(struct memd *m, struct region *r);

/* ... if nobody can reach it any more; those who have it open have all said so. */
void remove_unused(struct memd *m, struct region *r);

/* All nodes have said what they have open: the same of all regions. */
void remove_all_unused(struct memd *m);

/* A change that kept it busy is over: who wanted that hears so, and it goes if it was to. */
void remove_end_change(struct memd *m, struct deferred *dc);

#endif /* WEFT_MEMD_REMOVE_H */
