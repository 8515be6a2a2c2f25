/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much of this node's memory the locks of one user may take.
 *
 * Whoever may read a region may open locks of it, a million of them, and each is memory
 * of the kernel that nothing can take back.  It counts for the user whose program first
 * used locks through the open file: a lock as long as it has a slot, that is until the
 * last file of the region that uses locks is closed; what a file needs until that one is
 * closed.  Who has CAP_SYS_RESOURCE is neither counted nor limited.
 *
 * The guards of locks (guard.h) do not count: a block belongs to one lock at most, so
 * that they are bounded by the sizes of the regions, to less than a hundredth of them.
 */
#ifndef WEFT_LOCKQUOTA_H
#define WEFT_LOCKQUOTA_H

#include <linux/types.h>

/* Whether this thread's locks count. */
bool weft_lockquota_counts(void);

/**
 * weft_lockquota_take() - memory for locks of a user
 * @uid: in the initial user namespace
 *
 * Process context.  Return: 0; -EDQUOT: the user has as much as it may; -ENOSPC: all
 * users together have; -ENOMEM.
 */
int weft_lockquota_take(uid_t uid, size_t bytes);

/* The memory is free again. */
void weft_lockquota_return(uid_t uid, size_t bytes);

/* When the module goes: nothing is taken any more. */
void weft_lockquota_exit(void);

#endif /* WEFT_LOCKQUOTA_H */
