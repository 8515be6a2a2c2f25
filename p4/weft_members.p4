// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is in the rack: the nodes' bits, and the version of that list.  MEMBERS
 * replaces both unless it is older; its answer says what is known now.
 */
#ifndef WEFT_MEMBERS_P4
#define WEFT_MEMBERS_P4

#include "weft_headers.p4"

control Members(inout headers_t hdr, inout metadata_t meta)
{
	Register<bit<32>, bit<32>>(1) members_version;
	Register<bit<32>, bit<32>>(1) members;
	bit<32> version;

	apply {
		meta.members = members.read(0);
		if (meta.update) {
			version = members_version.read(0);
			if (hdr.weft.nonce >= version) {
				version = hdr.weft.nonce;
				meta.members = hdr.weft.copyset;
				members_version.write(0, version);
				members.write(0, meta.members);
			}
			hdr.weft.nonce = version;
			hdr.weft.copyset = meta.members;
			hdr.weft.type = message_t.members_ack;
		}
	}
}

#endif /* WEFT_MEMBERS_P4 */
