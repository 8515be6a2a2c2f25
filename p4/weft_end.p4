// SPDX-License-Identifier: GPL-2.0-only
/*
 * COMMIT and ABORT: the ends of a busy transaction, in weft_dir_handle() of
 * tools/directory/directory.c.  They count only for the taking of the lock that they
 * name.
 */
#ifndef WEFT_END_P4
#define WEFT_END_P4

#include "weft_headers.p4"
#include "weft_registers.p4"

/* The grant number that goes with a status. */
control WithOwned(in headers_t hdr, inout metadata_t meta)
{
	apply {
		meta.grant = hdr.weft.grant | WEFT_GRANT_OWNED;
		if (hdr.weft.status != STATUS_M)
			meta.grant = meta.grant ^ WEFT_GRANT_OWNED;
	}
}

control Commit(inout headers_t hdr, inout metadata_t meta)
{
	WithOwned() with_owned;
	bit<32> told;

	apply {
		if (meta.lock == hdr.weft.txn && meta.grant == hdr.weft.grant) {
			with_owned.apply(hdr, meta);
			lock.write(meta.slot, 0);
			grant.write(meta.slot, meta.grant);
			status.write(meta.slot, hdr.weft.status);
			copyset.write(meta.slot, hdr.weft.copyset);
		}
		hdr.weft.flags = WEFT_F_SWITCH;
		hdr.weft.type = message_t.commit_ack;
		meta.counter = WEFT_COUNT_COMMIT;
		meta.to = destination_t.sender;
		/* whoever retains what the sender has now */
		told = hdr.weft.provider & meta.members;
		told = told | meta.node;
		if (told != meta.node) {
			meta.targets = told;
			meta.to = destination_t.nodes;
		}
	}
}

control Abort(in headers_t hdr, inout metadata_t meta)
{
	apply {
		if (meta.lock == hdr.weft.txn && meta.grant == hdr.weft.grant)
			lock.write(meta.slot, 0);
		meta.counter = WEFT_COUNT_ABORT;
		meta.to = destination_t.nobody;
	}
}

#endif /* WEFT_END_P4 */
