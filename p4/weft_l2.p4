// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forwarding by Ethernet address, as any switch does it.  The control plane learns
 * the stations; frames for all others go to all ports but the one that they came
 * from, those for a station behind that port to none.
 */
#ifndef WEFT_L2_P4
#define WEFT_L2_P4

#include "weft_headers.p4"
#include "weft_copies.p4"

control Forward(in headers_t hdr, in PortId_t from)
{
	CopyToPorts() copy;
	bit<32> to;
	bit<64> others;

	action l2_forward(bit<32> port)
	{
		to = port;
	}

	action l2_unknown()
	{
	}

	table l2 {
		key = {
			hdr.ethernet.destination: exact;
		}
		actions = {
			l2_forward;
			@defaultonly l2_unknown;
		}
		const default_action = l2_unknown();
		size = 1024;
	}

	action set_flood(bit<64> mask)
	{
		others = mask;
	}

	action flood_nowhere()
	{
		others = 0;
	}

	table flood {
		key = {
			from: exact;
		}
		actions = {
			set_flood;
			@defaultonly flood_nowhere;
		}
		const default_action = flood_nowhere();
		size = 64;
	}

	apply {
		to = 0;
		if (l2.apply().hit) {
			if (to == (bit<32>)from)
				drop_packet();
			else
				send_to_port((PortId_t)to);
		} else {
			flood.apply();
			copy.apply(others);
		}
	}
}

#endif /* WEFT_L2_P4 */
