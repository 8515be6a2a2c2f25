/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The catalog and membership: calls that only the first blade serves.
 */
#ifndef WEFT_MEMD_CATALOG_H
#define WEFT_MEMD_CATALOG_H

#include "front/calls.h"

struct job;
struct region;

/* Membership: JOIN, LEAVE, PEERS; join.c. */
enum answer catalog_join(struct memd *m, struct request *q);
enum answer catalog_leave(struct memd *m, struct request *q);
enum answer catalog_peers(struct memd *m, struct request *q);

/* All others have heard that a node is dead: it is no member any more. */
void catalog_node_died(struct memd *m, u32 id);

/* Everything else. */
enum answer catalog_call(struct memd *m, struct request *q);

/**
 * catalog_blades() - whether all blades are there
 *
 * Return: 0; EAGAIN: not yet, let the caller ask again; EHOSTDOWN.
 */
u16 catalog_blades(struct memd *m);

/* A node has left or has a new life: it has nothing open any more. */
void catalog_close_all(struct memd *m, u8 node);

/* Tell another blade of a region.  @job may be NULL. */
void catalog_tell(struct memd *m, u8 blade, const struct region *r, u64 size,
		  struct job *job);

/* ... all that have joined. */
void catalog_tell_all(struct memd *m, const struct region *r, u64 size, struct job *job);

/* Another blade is known from now on: to all others, and the switch. */
void catalog_tell_members(struct memd *m);

/* What nodes are told of a region.  For which nodes it is: what was last decided. */
void catalog_attributes(const struct region *r, struct weft_call *reply);

/* A region is gone: free everything that belongs to it. */
void catalog_destroy(struct memd *m, struct region *r);

/* All nodes have said what they have open: regions that nobody can reach go. */
void catalog_settle(struct memd *m);

/* A blade does not answer; or @err: what it was told failed there. */
void catalog_blade_lost(struct memd *m, u8 blade, u16 err);

#endif /* WEFT_MEMD_CATALOG_H */
