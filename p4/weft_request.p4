// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request of a node for a line that is installed: weft_dir_handle() of
 * tools/directory/directory.c.
 */
#ifndef WEFT_REQUEST_P4
#define WEFT_REQUEST_P4

#include "weft_headers.p4"
#include "weft_answer.p4"
#include "weft_bits.p4"
#include "weft_end.p4"
#include "weft_getm.p4"
#include "weft_gets.p4"

control Request(inout headers_t hdr, inout metadata_t meta)
{
	NodeBit() node_bit;
	Gets() gets;
	GetmPut() getm_put;
	Commit() commit;
	Abort() abort;
	Describe() describe;
	Stranger() stranger;
	bit<32> part;
	bool foreign;

	apply {
		part = hdr.weft.txn >> WEFT_TXN_SEQ_BITS;
		foreign = false;
		if (part != (bit<32>)hdr.weft.src)
			foreign = true;
		/* a home ends what nodes have left over that are no members any more */
		if (hdr.weft.type == message_t.abort && hdr.weft.src >= WEFT_BLADE_MIN &&
		    hdr.weft.src <= WEFT_BLADE_MAX)
			foreign = false;
		if (foreign) {
			/* somebody else's transaction */
			meta.to = destination_t.nobody;
		} else {
			node_bit.apply(hdr, meta);
			part = meta.node & meta.members;
			if (part == 0 && hdr.weft.type != message_t.abort) {
				stranger.apply(hdr, meta);
			} else if (hdr.weft.type == message_t.gets) {
				gets.apply(hdr, meta);
			} else if (hdr.weft.type == message_t.commit) {
				commit.apply(hdr, meta);
			} else if (hdr.weft.type == message_t.query) {
				describe.apply(hdr, meta);
				hdr.weft.flags = WEFT_F_SWITCH;
				hdr.weft.holder = meta.lock;
				hdr.weft.type = message_t.info;
				meta.counter = WEFT_COUNT_QUERY;
				meta.to = destination_t.sender;
			} else if (hdr.weft.type == message_t.abort) {
				abort.apply(hdr, meta);
			} else {
				getm_put.apply(hdr, meta);
			}
		}
	}
}

#endif /* WEFT_REQUEST_P4 */
