// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lock of an entry: the transaction that is busy with the line, or 0, and the
 * grant number, which is raised each time that the lock is taken and says whether
 * the line has an owner.
 *
 * One cell, because COMMIT and ABORT must find both as they expect them.
 */
#ifndef WEFT_LOCK_P4
#define WEFT_LOCK_P4

#include "weft_headers.p4"

/* For lines that have their slot, or have just lost it (meta.set). */
control Lock(in headers_t hdr, inout metadata_t meta)
{
	/* On a Tofino a pair: grant, lock. */
	Register<bit<64>, bit<64>>(WEFT_SWITCH_SLOTS) lock;
	bit<64> cell;
	bit<64> low;
	bit<32> owned;
	bool write;

	apply {
		write = false;
		meta.shared = false;
		meta.commit = false;
		cell = lock.read(meta.slot);
		meta.lock = cell[31:0];
		meta.grant = cell[63:32];

		if (meta.set) {			/* ADD, DROP */
			meta.lock = 0;
			meta.grant = meta.new_grant;
			write = true;
		} else if (meta.lock == 0) {
			if (hdr.weft.type == message_t.gets) {
				/* without an owner nobody need be asked first */
				owned = meta.grant & WEFT_GRANT_OWNED;
				if (owned == 0)
					meta.shared = true;
				else
					write = true;
			} else if (hdr.weft.type == message_t.getm ||
				   hdr.weft.type == message_t.put ||
				   hdr.weft.type == message_t.remove) {
				write = true;
			}
			if (write) {
				meta.lock = hdr.weft.txn;
				meta.grant = meta.grant + WEFT_GRANT_STEP;
			}
		} else if (meta.lock == hdr.weft.txn &&
			   meta.grant == hdr.weft.grant) {
			if (hdr.weft.type == message_t.commit) {
				meta.commit = true;
				meta.lock = 0;
				meta.grant = meta.new_grant;
				write = true;
			} else if (hdr.weft.type == message_t.abort) {
				meta.lock = 0;
				write = true;
			}
		}
		if (write) {
			cell = (bit<64>)meta.grant;
			cell = cell << 32;
			low = (bit<64>)meta.lock;
			cell = cell | low;
			lock.write(meta.slot, cell);
		}
		meta.granted = meta.shared;
		if (meta.lock == hdr.weft.txn)
			meta.granted = true;
	}
}

#endif /* WEFT_LOCK_P4 */
