// SPDX-License-Identifier: GPL-2.0-only
/*
 * MEMBERS: replaces what the switch knows of the rack, unless it is older, and
 * tells what it knows now.  Versions go round, so that there is always a newer one.
 */
#ifndef WEFT_MEMBERS_P4
#define WEFT_MEMBERS_P4

#include "weft_headers.p4"
#include "weft_registers.p4"

control Members(inout headers_t hdr, inout metadata_t meta)
{
	bit<32> version;
	bit<32> ahead;

	apply {
		version = members_version.read(0);
		ahead = hdr.weft.nonce - version;
		if (ahead <= WEFT_NEWER_MAX) {
			version = hdr.weft.nonce;
			meta.members = hdr.weft.copyset;
			members_version.write(0, version);
			members.write(0, meta.members);
		}
		hdr.weft.nonce = version;
		hdr.weft.copyset = meta.members;
		hdr.weft.type = message_t.members_ack;
		meta.counter = WEFT_COUNT_MEMBERS;
		meta.to = destination_t.sender;
	}
}

#endif /* WEFT_MEMBERS_P4 */
