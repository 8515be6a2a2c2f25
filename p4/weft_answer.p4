// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts that many answers have in common.
 */
#ifndef WEFT_ANSWER_P4
#define WEFT_ANSWER_P4

#include "weft_headers.p4"

/* What the entry says: describe() of tools/directory/directory.c. */
control Describe(inout headers_t hdr, in metadata_t meta)
{
	apply {
		hdr.weft.status = meta.status;
		hdr.weft.provider = 0;
		hdr.weft.grant = meta.grant;
		hdr.weft.copyset = meta.copyset & meta.members;
		hdr.weft.holder = 0;
	}
}

/* Nobody else is asked for anything. */
control Grant(inout headers_t hdr, inout metadata_t meta)
{
	apply {
		hdr.weft.type = message_t.grant;
		meta.counter = WEFT_COUNT_GRANT;
		meta.to = destination_t.sender;
	}
}

/* Another transaction is busy with the line. */
control Refuse(inout headers_t hdr, inout metadata_t meta)
{
	apply {
		hdr.weft.holder = meta.lock;
		hdr.weft.info = WEFT_WHY_BUSY;
		hdr.weft.type = message_t.nack;
		meta.counter = WEFT_COUNT_BUSY;
		meta.to = destination_t.sender;
	}
}

/* Whoever sent this is not in the rack. */
control Stranger(inout headers_t hdr, inout metadata_t meta)
{
	apply {
		hdr.weft.flags = WEFT_F_SWITCH;
		hdr.weft.info = WEFT_WHY_NOT_MEMBER;
		hdr.weft.type = message_t.nack;
		meta.counter = WEFT_COUNT_STRANGER;
		meta.to = destination_t.sender;
	}
}

#endif /* WEFT_ANSWER_P4 */
