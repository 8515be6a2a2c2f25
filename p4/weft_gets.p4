// SPDX-License-Identifier: GPL-2.0-only
/*
 * GETS: gets() of tools/directory/directory.c.  If the line has no owner and nobody is
 * busy with it, the requester just joins the copyset; else it needs the lock.
 *
 * That there is an owner is said by the status, and also by a bit of the grant
 * number: a Tofino, which comes by the lock before the status, needs the bit.
 */
#ifndef WEFT_GETS_P4
#define WEFT_GETS_P4

#include "weft_headers.p4"
#include "weft_registers.p4"
#include "weft_answer.p4"
#include "weft_bits.p4"
#include "weft_lock.p4"

/* The data comes from one of the nodes in a mask, or from the home. */
control Provide(inout headers_t hdr, inout metadata_t meta, in bit<32> from)
{
	Pick() pick;

	apply {
		if (from != 0) {
			pick.apply(hdr, from);
			hdr.weft.type = message_t.fwd;
			meta.targets = hdr.weft.provider;
			meta.counter = WEFT_COUNT_FWD;
			meta.to = destination_t.node;
		} else {
			hdr.weft.type = message_t.read;
			meta.counter = WEFT_COUNT_READ;
			meta.to = destination_t.home;
		}
	}
}

control Gets(inout headers_t hdr, inout metadata_t meta)
{
	Take() take;
	Describe() describe;
	Refuse() refuse;
	Provide() provide;
	Grant() give;
	bit<32> joined;
	bit<32> from;
	bit<8> direct;

	apply {
		direct = hdr.weft.flags & WEFT_F_DIRECT;
		joined = meta.copyset | meta.node;
		from = joined & meta.members;
		from = from ^ meta.node;
		if (meta.lock == 0 && meta.status != STATUS_M) {
			status.write(meta.slot, STATUS_S);
			copyset.write(meta.slot, joined);
			describe.apply(hdr, meta);
			hdr.weft.flags = WEFT_F_SWITCH;
			/* copies count only as long as they are the home's data */
			if (meta.status != STATUS_S)
				from = 0;
			/* what others have, too, the home has as well */
			if (direct != 0)
				give.apply(hdr, meta);
			else
				provide.apply(hdr, meta, from);
		} else {
			take.apply(hdr, meta);
			describe.apply(hdr, meta);
			if (meta.lock != hdr.weft.txn) {
				hdr.weft.flags = WEFT_F_SWITCH;
				refuse.apply(hdr, meta);
			} else {
				hdr.weft.flags = WEFT_F_SWITCH | WEFT_F_BUSY;
				provide.apply(hdr, meta, from);
			}
		}
	}
}

#endif /* WEFT_GETS_P4 */
