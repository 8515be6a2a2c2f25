// SPDX-License-Identifier: GPL-2.0-only
/*
 * GETM and PUT: getm() and put() of tools/directory/directory.c.
 */
#ifndef WEFT_GETM_P4
#define WEFT_GETM_P4

#include "weft_headers.p4"
#include "weft_answer.p4"
#include "weft_bits.p4"
#include "weft_lock.p4"

/* GETM with the lock: everybody else gives up the copy, one sends the data. */
control Getm(inout headers_t hdr, inout metadata_t meta, in bit<8> have, in bit<8> direct)
{
	Pick() pick;
	Grant() give;
	bit<32> others;

	apply {
		others = hdr.weft.copyset | meta.node;
		others = others ^ meta.node;
		hdr.weft.flags = WEFT_F_SWITCH | WEFT_F_BUSY;
		if (others != 0) {
			if (have == 0)
				pick.apply(hdr, others);
			hdr.weft.type = message_t.inv;
			meta.targets = others;
			meta.counter = WEFT_COUNT_INV;
			meta.to = destination_t.nodes;
		} else if (have == 0 && direct == 0) {
			hdr.weft.flags = WEFT_F_SWITCH | WEFT_F_BUSY | WEFT_F_EXCL;
			hdr.weft.type = message_t.read;
			meta.counter = WEFT_COUNT_READ;
			meta.to = destination_t.home;
		} else {
			give.apply(hdr, meta);
		}
	}
}

control GetmPut(inout headers_t hdr, inout metadata_t meta)
{
	Take() take;
	Describe() describe;
	Refuse() refuse;
	Getm() getm;
	Grant() give;
	bit<32> mine;
	bit<8> have;
	bit<8> direct;

	apply {
		/* what a node had that has died is the home's to judge */
		direct = hdr.weft.flags & WEFT_F_DIRECT;
		if (meta.status == STATUS_M)
			direct = 0;
		/* an upgrade needs no data: the requester has a copy */
		have = hdr.weft.flags & WEFT_F_HAVE;
		mine = meta.copyset & meta.node;
		if (meta.status != STATUS_S || mine == 0)
			have = 0;

		take.apply(hdr, meta);
		describe.apply(hdr, meta);
		if (meta.lock != hdr.weft.txn) {
			hdr.weft.flags = WEFT_F_SWITCH;
			refuse.apply(hdr, meta);
		} else if (hdr.weft.type == message_t.getm) {
			getm.apply(hdr, meta, have, direct);
		} else {
			hdr.weft.flags = WEFT_F_SWITCH | WEFT_F_BUSY;
			give.apply(hdr, meta);
		}
	}
}

#endif /* WEFT_GETM_P4 */
