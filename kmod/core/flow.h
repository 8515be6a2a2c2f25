/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows: the UDP source port by which a message is sent.
 *
 * Network cards put what comes by one flow (addresses and ports) into one of their queues, and
 * switches send it by one of several ways of equal cost.  So the bulk of what is sent, contents
 * of blocks, goes by several flows, chosen by line: the pieces of a block stay in order, and
 * blocks that may share a datagram do.  All else comes from the rack's port itself: it is small,
 * and the switch's directory hears members by that one only.
 *
 * Each member holds all of these ports at all of its addresses, so that what comes from one of
 * them is a member's.  Everything is sent to the rack's port.
 */
#ifndef WEFT_CORE_FLOW_H
#define WEFT_CORE_FLOW_H

#include "types.h"
#include "weft_wire.h"

#define WEFT_FLOWS	8	/* source ports: the rack's, and those after it */

/* May a message of that type come by another flow than the first? */
static inline bool weft_flow_spreads(u8 type)
{
	return type == WEFT_MSG_DATA || type == WEFT_MSG_WB;
}

/**
 * weft_flow() - by which flow to send a message
 * @line: that it is about
 *
 * Runs of 64 blocks have one flow, as they have one home (weft_line_home()).
 *
 * Return: 0 .. WEFT_FLOWS - 1, to be added to the rack's port.
 */
static inline u32 weft_flow(u8 type, u64 line)
{
	u32 run = (weft_line_region(line) << 8) ^ (u32)(weft_line_index(line) >> 6);

	if (!weft_flow_spreads(type))
		return 0;
	/* a prime number of them, so that neither blades nor threads take all of one */
	return 1 + (run * 0x9E3779B1u >> 16) % (WEFT_FLOWS - 1);
}

/* Does a message of that type come from the right port?  @port: the rack's. */
static inline bool weft_flow_fits(u8 type, u16 from, u16 port)
{
	return from == port ||
	       (weft_flow_spreads(type) && (u16)(from - port) < WEFT_FLOWS);
}

#endif /* WEFT_CORE_FLOW_H */
