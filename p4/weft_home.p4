// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes out for a message by which a home installs or removes a line, after
 * the registers have been touched: add(), drop() and the part of remove_line() for
 * a line that is not here, of kmod/core/directory.c.
 */
#ifndef WEFT_HOME_P4
#define WEFT_HOME_P4

#include "weft_headers.p4"

control Home(inout headers_t hdr, inout metadata_t meta)
{
	apply {
		meta.to = destination_t.sender;
		meta.changed = true;
		hdr.weft.nonce = meta.generation;
		hdr.weft.flags = 0;
		if (meta.here)
			hdr.weft.flags = WEFT_F_INSTALLED;
		if (hdr.weft.type == message_t.add) {
			hdr.weft.info = WEFT_WHY_GEN;
			if (meta.fresh)
				hdr.weft.info = WEFT_WHY_FULL;
			meta.counter = WEFT_COUNT_ADD_REFUSED;
			if (meta.here)
				meta.counter = WEFT_COUNT_ADD;
			hdr.weft.type = message_t.add_ack;
		} else if (hdr.weft.type == message_t.drop) {
			hdr.weft.type = message_t.drop_ack;
			meta.counter = WEFT_COUNT_DROP;
		} else {
			hdr.weft.status = STATUS_I;
			hdr.weft.copyset = 0;
			hdr.weft.grant = 0;
			hdr.weft.provider = 0;
			hdr.weft.holder = 0;
			hdr.weft.type = message_t.remove_ack;
			meta.counter = WEFT_COUNT_REMOVE;
		}
	}
}

#endif /* WEFT_HOME_P4 */
