/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one user may have of the rack: regions, memory for them, lock lines.
 *
 * Regions and their memory are counted by owner, at the first blade, from the table of
 * regions each time that somebody wants more, so that no count can be wrong.  Neither
 * root's regions are limited, nor who has the privilege (CAP_SYS_RESOURCE), as the node
 * says.  The last of the regions' places are for these.
 *
 * Lock lines are made for whoever may use a region; they are limited for each region, for
 * all regions of one owner but root, and for the blade.
 */
#ifndef WEFT_MEMD_QUOTA_H
#define WEFT_MEMD_QUOTA_H

#include "types.h"

struct memd;
struct options;
struct region;

/* When memory is known: limits that nobody has set. */
void quota_init(struct memd *m);

/**
 * quota_region() - one more region
 * @uid: of its owner
 * @unlimited: who makes it has the privilege
 *
 * Return: 0; EDQUOT: the owner has as many as it may; ENOSPC: there is no room but for the
 * privileged.
 */
u16 quota_region(const struct memd *m, u32 uid, bool unlimited);

/**
 * quota_memory() - an owner's regions become larger
 * @more: bytes
 *
 * Return: 0 or EDQUOT.
 */
u16 quota_memory(const struct memd *m, u32 uid, bool unlimited, u64 more);

/* Whether a region may have one more lock line. */
bool quota_lock(struct memd *m, struct region *r);

/* Lock lines that all regions may have. */
u32 quota_locks(const struct memd *m);

#endif /* WEFT_MEMD_QUOTA_H */
