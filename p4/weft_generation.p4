// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generation of a slot, which ADD and DROP have to name and then raise, so
 * that a late copy of one changes nothing.  The control plane lets all of them
 * start with a number that it never gave before.
 */
#ifndef WEFT_GENERATION_P4
#define WEFT_GENERATION_P4

#include "weft_headers.p4"

/* For ADD, REMOVE and DROP. */
control Generation(in headers_t hdr, inout metadata_t meta)
{
	Register<bit<32>, bit<64>>(WEFT_SWITCH_SLOTS) generation;

	apply {
		meta.fresh = false;
		meta.generation = generation.read(meta.slot);
		if (hdr.weft.type != message_t.remove &&
		    meta.generation == hdr.weft.nonce) {
			meta.fresh = true;
			meta.generation = meta.generation + 1;
			generation.write(meta.slot, meta.generation);
		}
	}
}

#endif /* WEFT_GENERATION_P4 */
