// SPDX-License-Identifier: GPL-2.0-only
/*
 * One packet to several ports, on DPDK's SWX pipeline: mirrored copies.  A
 * mirroring session stands for a port, each copy of a packet needs a slot of its
 * own.  A Tofino replicates by multicast group, and prunes by mask in its egress.
 *
 * Sessions (tools/switchd/p4names.h has the same):
 *
 *	2^(k-1)			node k, 1 to 16: its bit in a copyset
 *	0xFFFF ^ 2^(k-17)	node k, 17 to 32
 *	0x180 + p		port p
 *
 * The packet itself goes to a port that leads nowhere: SWX would send the copies
 * of a packet that was dropped without their headers.
 *
 * Slots and sessions are variables: of constants p4c makes new metadata fields each
 * time, and SWX takes those beyond byte 255 for others.
 */
#ifndef WEFT_COPIES_P4
#define WEFT_COPIES_P4

const PortId_t PORT_NOWHERE = (PortId_t)63;

/* A copy for bit BIT of the variable "mask".  The last two arguments are macros. */
#define COPY(BIT, SLOT, SESSION)					\
	part = mask & (1 << (BIT));					\
	if (part != 0) {						\
		slot = SLOT(BIT);					\
		session = SESSION(BIT);					\
		mirror_packet(slot, session);				\
	}

/* Eight bits, quickly if none of them is set. */
#define COPY8(BIT, SLOT, SESSION)					\
	part = mask & (0xFF << (BIT));					\
	if (part != 0) {						\
		COPY((BIT), SLOT, SESSION)				\
		COPY((BIT) + 1, SLOT, SESSION)				\
		COPY((BIT) + 2, SLOT, SESSION)				\
		COPY((BIT) + 3, SLOT, SESSION)				\
		COPY((BIT) + 4, SLOT, SESSION)				\
		COPY((BIT) + 5, SLOT, SESSION)				\
		COPY((BIT) + 6, SLOT, SESSION)				\
		COPY((BIT) + 7, SLOT, SESSION)				\
	}

#define PORT_SLOT(BIT)	(BIT)
#define NODE_SLOT(BIT)	((BIT) + 2)
#define LOW_NODE(BIT)	(1 << (BIT))
#define HIGH_NODE(BIT)	(0xFFFF ^ (1 << ((BIT) - 16)))
#define PORT(BIT)	(0x180 + (BIT))

/* To the ports of a mask. */
control CopyToPorts(in bit<64> mask)
{
	bit<64> part;
	bit<32> session;
	bit<8> slot;

	apply {
		COPY8(0, PORT_SLOT, PORT) COPY8(8, PORT_SLOT, PORT)
		COPY8(16, PORT_SLOT, PORT) COPY8(24, PORT_SLOT, PORT)
		COPY8(32, PORT_SLOT, PORT) COPY8(40, PORT_SLOT, PORT)
		send_to_port(PORT_NOWHERE);
	}
}

/* To the one node of a mask. */
control CopyToNode(in bit<32> node, in bit<8> slot)
{
	bit<32> session;

	apply {
		session = node;
		if (session > 0xFFFF) {
			session = session >> 16;
			session = session ^ 0xFFFF;
		}
		mirror_packet(slot, session);
		send_to_port(PORT_NOWHERE);
	}
}

/* To the nodes of a mask: the first two one by one, there are rarely more. */
control CopyToNodes(in bit<32> nodes)
{
	CopyToNode() copy;
	bit<32> mask;
	bit<32> part;
	bit<32> session;
	bit<8> slot;

	apply {
		mask = nodes;
		part = 0;
		part = part - mask;
		part = part & mask;
		mask = mask ^ part;
		slot = 0;
		copy.apply(part, slot);
		if (mask != 0) {
			part = 0;
			part = part - mask;
			part = part & mask;
			mask = mask ^ part;
			slot = 1;
			copy.apply(part, slot);
			if (mask != 0) {
				COPY8(0, NODE_SLOT, LOW_NODE)
				COPY8(8, NODE_SLOT, LOW_NODE)
				COPY8(16, NODE_SLOT, HIGH_NODE)
				COPY8(24, NODE_SLOT, HIGH_NODE)
			}
		}
	}
}

#undef COPY
#undef COPY8
#undef PORT_SLOT
#undef NODE_SLOT
#undef LOW_NODE
#undef HIGH_NODE
#undef PORT

#endif /* WEFT_COPIES_P4 */
