// SPDX-License-Identifier: GPL-2.0-only
/*
 * Taking the lock of an entry: take_lock() of tools/directory/directory.c.  An earlier
 * copy of the same request may have it already.  Refused is who asks for a line
 * with which another transaction is busy.
 */
#ifndef WEFT_LOCK_P4
#define WEFT_LOCK_P4

#include "weft_headers.p4"
#include "weft_registers.p4"

control Take(in headers_t hdr, inout metadata_t meta)
{
	apply {
		if (meta.lock == 0) {
			meta.lock = hdr.weft.txn;
			meta.grant = meta.grant + WEFT_GRANT_STEP;
			lock.write(meta.slot, meta.lock);
			grant.write(meta.slot, meta.grant);
		}
	}
}

#endif /* WEFT_LOCK_P4 */
