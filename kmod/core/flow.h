/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows: the UDP source port by which a message is sent.  Senders choose by it, receivers check
 * by it, on nodes and blades.  The switch hears members by the rack's port only, so requests to
 * a directory never leave by another one.
 */
#ifndef WEFT_CORE_FLOW_H
#define WEFT_CORE_FLOW_H

#include "types.h"
#include "weft_wire.h"

/*
 * Network cards put a flow (addresses and ports) into one of their queues, and switches send it by
 * one of several equal-cost paths.  Contents of blocks, the bulk of what is sent, are spread over
 * several flows by line: fragments of a block stay in order, and blocks that may share a datagram
 * share the flow.  Every member holds all of these ports at all of its addresses; the destination
 * is always the rack's port.
 */

#define WEFT_FLOWS	8	/* source ports: the rack's port and those after it */

/* May a message of this type use another flow than the first? */
static inline bool weft_flow_spreads(u8 type)
{
	return type == WEFT_MSG_DATA || type == WEFT_MSG_WB;
}

/*
 * The flow of a message about @line: 0..WEFT_FLOWS - 1, to be added to the rack's port.  A run of
 * 64 blocks has one flow, as it has one home (weft_line_home()).
 */
static inline u32 weft_flow(u8 type, u64 line)
{
	u32 run = (weft_line_region(line) << 8) ^ (u32)(weft_line_index(line) >> 6);

	if (!weft_flow_spreads(type))
		return 0;
	/* a prime number of flows, so that neither a blade nor a thread uses one only */
	return 1 + (run * 0x9E3779B1u >> 16) % (WEFT_FLOWS - 1);
}

/* Does a message of this type come from a right port?  @port: the rack's. */
static inline bool weft_flow_fits(u8 type, u16 from, u16 port)
{
	return from == port || (weft_flow_spreads(type) && (u16)(from - port) < WEFT_FLOWS);
}

#endif /* WEFT_CORE_FLOW_H */
