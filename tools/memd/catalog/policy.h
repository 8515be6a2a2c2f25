/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies of regions at the first blade: who changes one is answered when it is on the disk and
 * everybody follows it: other blades, and all nodes that have the region open.  catalog.c calls
 * it.
 */
#ifndef WEFT_MEMD_POLICY_H
#define WEFT_MEMD_POLICY_H

#include "net/reply.h"

struct region;

/* A SETATTR of policies. */
enum answer policy_set(struct memd *m, struct request *q, struct region *r);

#endif /* WEFT_MEMD_POLICY_H */
