// SPDX-License-Identifier: GPL-2.0-only
/*
 * PASS of a line that is installed: pass() of tools/directory/directory.c.  The owner
 * answers a request that has not come yet; lock and grant are compared and replaced
 * in one go.
 */
#ifndef WEFT_PASS_P4
#define WEFT_PASS_P4

#include "weft_headers.p4"
#include "weft_registers.p4"
#include "weft_answer.p4"
#include "weft_bits.p4"

control Pass(inout headers_t hdr, inout metadata_t meta)
{
	NodeBit() node_bit;
	Describe() describe;
	Stranger() stranger;
	bit<32> part;

	/* Few variables: a software switch has room for 256 bytes of them. */
	apply {
		node_bit.apply(hdr, meta);
		/* any number, as it is not the transaction's */
		if (hdr.weft.src > WEFT_NODE_MAX)
			meta.node = 0;
		meta.node = meta.node & meta.members;
		if (meta.node == 0) {
			stranger.apply(hdr, meta);
		} else {
			/* the receiver; then nodes that have the line */
			part = hdr.weft.txn >> WEFT_TXN_SEQ_BITS;
			part = part - WEFT_NODE_MIN;
			meta.targets = 1;
			meta.targets = meta.targets << part;
			meta.targets = meta.targets & meta.members;
			meta.counter = WEFT_COUNT_NOT_PASSED;
			meta.to = destination_t.nobody;
			if (meta.targets != 0) {
				if (meta.lock == 0 && meta.grant == hdr.weft.grant) {
					meta.lock = hdr.weft.txn;
					meta.grant = meta.grant + WEFT_GRANT_STEP;
					lock.write(meta.slot, meta.lock);
					grant.write(meta.slot, meta.grant);
				}
				hdr.weft.grant = hdr.weft.grant + WEFT_GRANT_STEP;
				if (meta.lock == hdr.weft.txn && meta.grant == hdr.weft.grant) {
					/* to whom the owner has lent the line */
					part = hdr.weft.holder & meta.members;
					describe.apply(hdr, meta);
					hdr.weft.holder = part;
					hdr.weft.flags = WEFT_F_SWITCH | WEFT_F_BUSY;
					hdr.weft.type = message_t.passed;
					meta.counter = WEFT_COUNT_PASSED;
					meta.to = destination_t.node;
				}
			}
		}
	}
}

#endif /* WEFT_PASS_P4 */
