/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access to regions: for the nodes that its owner has named (weftctl region set NAME nodes=); of
 * these, for those that have opened it; for users as owner and mode say.  catalog.c calls it, at
 * the first blade.
 */
#ifndef WEFT_MEMD_ALLOW_H
#define WEFT_MEMD_ALLOW_H

#include "net/reply.h"
#include "lines/region.h"

/*
 * The first blade decides who may open it and tells the others.  All blades look at each request
 * for a line that comes to them.  The switch does not: it knows no regions.  So lines of a region
 * that is not for all nodes are not in the switch, see withdraw.h.
 */

/* OPEN, CLOSE */
enum answer allow_open(struct memd *m, struct request *q, struct region *r);
void allow_close(struct memd *m, struct region *r, u32 node);

/* A node has left or has a new life: it has nothing open any more. */
void allow_close_all(struct memd *m, u8 node);

/* A SETATTR of nodes. */
enum answer allow_set(struct memd *m, struct request *q, struct region *r);

#endif /* WEFT_MEMD_ALLOW_H */
