// SPDX-License-Identifier: GPL-2.0-only
/*
 * The line that has a slot, 0 for none (no line is called 0: region 0 does not
 * exist).  A fresh ADD takes an empty slot, a fresh DROP empties that of its line.
 */
#ifndef WEFT_TAG_P4
#define WEFT_TAG_P4

#include "weft_headers.p4"

control Tag(in headers_t hdr, inout metadata_t meta)
{
	/* On a Tofino a pair of 32-bit halves. */
	Register<bit<64>, bit<64>>(WEFT_SWITCH_SLOTS) tag;
	bit<64> was;

	apply {
		meta.here = false;
		meta.set = false;
		was = tag.read(meta.slot);
		if (was == hdr.weft.line) {
			meta.here = true;
			if (hdr.weft.type == message_t.drop && meta.fresh) {
				tag.write(meta.slot, 0);
				meta.here = false;
				meta.set = true;
			}
		} else if (was == 0) {
			if (hdr.weft.type == message_t.add && meta.fresh) {
				tag.write(meta.slot, hdr.weft.line);
				meta.here = true;
				meta.set = true;
			}
		}
	}
}

#endif /* WEFT_TAG_P4 */
