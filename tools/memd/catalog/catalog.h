/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The catalog and membership: calls that only the first blade serves.
 */
#ifndef WEFT_MEMD_CATALOG_H
#define WEFT_MEMD_CATALOG_H

#include "net/reply.h"

struct job;
struct region;

/* Everything else. */
enum answer catalog_call(struct memd *m, struct request *q);

/* A node has left or has a new life: it has nothing open any more. */
void catalog_close_all(struct memd *m, u8 node);

/* Tell another blade of a region.  @job may be NULL. */
void catalog_tell(struct memd *m, u8 blade, const struct region *r, u64 size,
		  struct job *job);

/* ... all that have joined. */
void catalog_tell_all(struct memd *m, const struct region *r, u64 size, struct job *job);

/* What nodes are told of a region.  For which nodes it is: what was last decided. */
void catalog_attributes(const struct region *r, struct weft_call *reply);

/* A region is gone: free everything that belongs to it. */
void catalog_destroy(struct memd *m, struct region *r);

/* All nodes have said what they have open: regions that nobody can reach go. */
void catalog_settle(struct memd *m);

#endif /* WEFT_MEMD_CATALOG_H */
