/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Membership at the first blade: nodes and blades that join and leave.  front/calls.c hands in
 * their calls, fence.c says which node has died.
 */
#ifndef WEFT_MEMD_JOIN_H
#define WEFT_MEMD_JOIN_H

#include "net/reply.h"

void join_init(struct memd *m);

/* JOIN, LEAVE, PEERS. */
enum answer join_call(struct memd *m, struct request *q);
enum answer join_leave(struct memd *m, struct request *q);
enum answer join_peers(struct memd *m, struct request *q);

/* Another blade is known from now on: to all others, and the switch. */
void join_tell_members(struct memd *m);

#endif /* WEFT_MEMD_JOIN_H */
