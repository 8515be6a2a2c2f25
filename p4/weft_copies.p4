// SPDX-License-Identifier: GPL-2.0-only
/*
 * One packet to several ports, on DPDK's SWX pipeline: mirrored copies, one for
 * each bit of a mask.  A mirroring session stands for a port: session k (1..32) for
 * that of node k, sessions 33.. for port 0 and so on.  Each copy of a packet needs
 * a slot of its own.
 *
 * The packet itself goes to a port that leads nowhere: SWX would send the copies
 * of a packet that was dropped without their headers.
 *
 * A Tofino replicates by multicast group, and prunes by mask in its egress.
 */
#ifndef WEFT_COPIES_P4
#define WEFT_COPIES_P4

const PortId_t PORT_NOWHERE = (PortId_t)63;

/*
 * Bit BIT of mask: session FIRST + BIT.  By variables: for constants p4c makes new
 * metadata fields each time, and SWX takes those beyond byte 255 for others.
 */
#define COPY(BIT, FIRST)						\
	part = mask & (1 << (BIT));					\
	if (part != 0) {						\
		slot = (MirrorSlotId_t)(BIT);				\
		session = (MirrorSessionId_t)((FIRST) + (BIT));		\
		mirror_packet(slot, session);				\
	}

/* Eight bits, quickly if none of them is set. */
#define COPY8(BIT, FIRST)						\
	part = mask & (0xFF << (BIT));					\
	if (part != 0) {						\
		COPY((BIT), FIRST) COPY((BIT) + 1, FIRST)		\
		COPY((BIT) + 2, FIRST) COPY((BIT) + 3, FIRST)		\
		COPY((BIT) + 4, FIRST) COPY((BIT) + 5, FIRST)		\
		COPY((BIT) + 6, FIRST) COPY((BIT) + 7, FIRST)		\
	}

/* To the ports of a mask. */
control CopyToPorts(in bit<64> mask)
{
	bit<64> part;
	MirrorSlotId_t slot;
	MirrorSessionId_t session;

	apply {
		COPY8(0, 33) COPY8(8, 33) COPY8(16, 33)
		COPY8(24, 33) COPY8(32, 33) COPY8(40, 33)
		send_to_port(PORT_NOWHERE);
	}
}

/* To the one node of a mask: its number by bisection. */
control CopyToNode(in bit<32> mask)
{
	bit<32> one;
	bit<16> number;
	MirrorSlotId_t slot;
	MirrorSessionId_t session;

	apply {
		one = mask;
		number = 1;
		if (one > 0xFFFF) {
			one = one >> 16;
			number = 17;
		}
		if (one > 0xFF) {
			one = one >> 8;
			number = number + 8;
		}
		if (one > 0xF) {
			one = one >> 4;
			number = number + 4;
		}
		if (one > 3) {
			one = one >> 2;
			number = number + 2;
		}
		if (one > 1)
			number = number + 1;
		slot = (MirrorSlotId_t)0;
		session = (MirrorSessionId_t)number;
		mirror_packet(slot, session);
	}
}

/* To the nodes of a mask. */
control CopyToNodes(in bit<32> mask)
{
	CopyToNode() copy;
	bit<32> part;
	MirrorSlotId_t slot;
	MirrorSessionId_t session;

	apply {
		part = mask - 1;
		part = part & mask;
		if (part == 0) {
			copy.apply(mask);
		} else {
			COPY8(0, 1) COPY8(8, 1) COPY8(16, 1) COPY8(24, 1)
		}
		send_to_port(PORT_NOWHERE);
	}
}

#undef COPY
#undef COPY8

#endif /* WEFT_COPIES_P4 */
