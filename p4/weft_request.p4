// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes out for a message about a line that is installed, after the registers
 * have been touched: weft_dir_handle() and remove_line() of kmod/core/directory.c.
 */
#ifndef WEFT_REQUEST_P4
#define WEFT_REQUEST_P4

#include "weft_headers.p4"
#include "weft_access.p4"

/* The part of an answer that tells what the entry says. */
control Describe(inout headers_t hdr, in metadata_t meta)
{
	apply {
		hdr.weft.status = meta.status;
		hdr.weft.copyset = meta.copyset & meta.members;
		hdr.weft.grant = meta.grant;
		hdr.weft.provider = 0;
		hdr.weft.holder = 0;
	}
}

/* For the requests of members, and for REMOVE. */
control Request(inout headers_t hdr, inout metadata_t meta)
{
	Describe() describe;
	Access() access;

	apply {
		meta.to = destination_t.sender;
		meta.changed = true;
		if (hdr.weft.type == message_t.commit) {
			hdr.weft.flags = WEFT_F_SWITCH;
			hdr.weft.type = message_t.commit_ack;
			meta.counter = WEFT_COUNT_COMMIT;
		} else if (hdr.weft.type == message_t.abort) {
			meta.to = destination_t.nobody;
			meta.counter = WEFT_COUNT_ABORT;
		} else {
			describe.apply(hdr, meta);
			if (hdr.weft.type == message_t.query) {
				hdr.weft.flags = WEFT_F_SWITCH;
				hdr.weft.holder = meta.lock;
				hdr.weft.type = message_t.info;
				meta.counter = WEFT_COUNT_QUERY;
			} else if (meta.granted == false) {
				hdr.weft.flags = WEFT_F_SWITCH;
				if (hdr.weft.type == message_t.remove)
					hdr.weft.flags = 0;
				hdr.weft.holder = meta.lock;
				hdr.weft.info = WEFT_WHY_BUSY;
				hdr.weft.type = message_t.nack;
				meta.counter = WEFT_COUNT_BUSY;
			} else if (hdr.weft.type == message_t.put) {
				hdr.weft.flags = WEFT_F_SWITCH | WEFT_F_BUSY;
				hdr.weft.type = message_t.grant;
				meta.counter = WEFT_COUNT_GRANT;
			} else if (hdr.weft.type == message_t.remove) {
				hdr.weft.flags = WEFT_F_INSTALLED | WEFT_F_BUSY;
				hdr.weft.nonce = meta.generation;
				hdr.weft.type = message_t.remove_ack;
				meta.counter = WEFT_COUNT_REMOVE;
			} else {
				access.apply(hdr, meta);
			}
		}
	}
}

#endif /* WEFT_REQUEST_P4 */
