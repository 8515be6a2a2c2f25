/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A region's attributes for nodes and other blades, in replies and in calls of ours.  The catalog
 * calls it; it changes nothing.
 */
#ifndef WEFT_MEMD_TELL_H
#define WEFT_MEMD_TELL_H

#include "types.h"

struct deferred;
struct memd;
struct region;
struct weft_call;

/* Fill in a region's attributes for nodes.  The nodes that may use it: as last decided. */
void tell_attributes(const struct region *r, struct weft_call *call);

/**
 * tell_nodes_of() - for which nodes it is, as those are told who have to act by it
 *
 * These are other blades, and nodes that are to lose it: also while that is not decided.  All
 * others hear what was before, see tell_attributes(): it may stay so.
 */
void tell_nodes_of(const struct region *r, struct weft_call *call);

/* Tell another blade of a region.  @dc may be NULL. */
void tell_blade(struct memd *m, u8 blade, const struct region *r, u64 size, struct deferred *dc);

/* ... all that have joined. */
void tell_blades(struct memd *m, const struct region *r, u64 size, struct deferred *dc);

/* ... of the size that it has, or will have: then others have been told of that. */
void tell_blades_now(struct memd *m, const struct region *r, struct deferred *dc);

/* All nodes have said so: other blades hear who has which region open. */
void tell_all_opens(struct memd *m);

/* Nodes @nodes hear that a region has CHANGED, as @call says. */
void tell_changed(struct memd *m, u32 nodes, struct weft_call *call, struct deferred *dc);

#endif /* WEFT_MEMD_TELL_H */
