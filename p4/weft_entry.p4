// SPDX-License-Identifier: GPL-2.0-only
/*
 * Status and copyset of a line.  Read by all; written by a GETS that needs no lock
 * (it joins the copyset), by COMMIT, and when the slot gets or loses its line.
 */
#ifndef WEFT_ENTRY_P4
#define WEFT_ENTRY_P4

#include "weft_headers.p4"

/* Leaves what the entry said before in meta. */
control Entry(in headers_t hdr, inout metadata_t meta)
{
	Register<bit<8>, bit<64>>(WEFT_SWITCH_SLOTS) status;
	Register<bit<32>, bit<64>>(WEFT_SWITCH_SLOTS) copyset;
	bit<32> joined;

	apply {
		meta.status = status.read(meta.slot);
		meta.copyset = copyset.read(meta.slot);
		if (meta.shared) {
			joined = meta.copyset | meta.node;
			status.write(meta.slot, STATUS_S);
			copyset.write(meta.slot, joined);
		} else if (meta.commit) {
			status.write(meta.slot, hdr.weft.status);
			copyset.write(meta.slot, hdr.weft.copyset);
		} else if (meta.set) {
			if (hdr.weft.type == message_t.add) {
				status.write(meta.slot, hdr.weft.status);
				copyset.write(meta.slot, hdr.weft.copyset);
			} else {
				status.write(meta.slot, STATUS_I);
				copyset.write(meta.slot, 0);
			}
		}
	}
}

#endif /* WEFT_ENTRY_P4 */
