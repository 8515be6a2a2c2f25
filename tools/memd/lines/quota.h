/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits of one user in the rack: regions, memory for them, lock lines.  catalog.c asks before a
 * region is made or grows, lines.c before a lock line is made.
 */
#ifndef WEFT_MEMD_QUOTA_H
#define WEFT_MEMD_QUOTA_H

#include "types.h"

/*
 * Regions and their memory are counted by owner, at the first blade, from the table of regions
 * each time that somebody wants more, so that no count can be wrong.  Neither root's regions are
 * limited, nor who has the privilege (CAP_SYS_RESOURCE), as the node says.  The last of the
 * regions' places are for these.
 *
 * Numbers of regions are used once: a node or a file may have something of an old one for
 * as long as it likes.  There are 16 million, so who makes and removes regions for hours
 * would leave none for others.  The last sixteenth is for the privileged; of the rest one
 * user may use up, while this blade runs, as many as it leaves for all others.
 *
 * Lock lines are made for whoever may use a region; they are limited for each region, for
 * all regions of one owner (root's may have all but a part), and for the blade.
 */

struct memd;
struct region;

#define NUMBER_USERS	256u

/* Numbers of regions that a user has used up. */
struct number_use {
	u32 uid;	/* whose */
	/*
	 * How many, or more: who comes when all places are taken gets that of whoever has used
	 * the fewest, and these with it, so that nobody's are forgotten
	 */
	u32 n;
};

/* By whom numbers of regions were used up. */
struct numbers {
	u32 users;			/* places that are in use */
	struct number_use user[NUMBER_USERS];
};

/* When memory is known: limits that nobody has set. */
void quota_init(struct memd *m);

/**
 * quota_region() - one more region
 * @uid: of its owner
 * @unlimited: who makes it has the privilege
 *
 * Return: 0; EDQUOT: the owner has as many as it may, or has had so many that it has used
 * up its numbers; ENOSPC: there is no room, or number, but for the privileged.
 */
u16 quota_region(const struct memd *m, u32 uid, bool unlimited);

/* A number was used up for a region of this user. */
void quota_numbered(struct memd *m, u32 uid, bool unlimited);

/* Numbers that no region had yet. */
u32 quota_numbers_left(const struct memd *m);

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
