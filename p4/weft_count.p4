// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters: WEFT_COUNT_*, one cell for each.  A message adds one to the counter
 * of what came of it; COUNT reads the one that it names.
 */
#ifndef WEFT_COUNT_P4
#define WEFT_COUNT_P4

#include "weft_headers.p4"

/* For meta.counter other than COUNT_NOTHING. */
control Count(inout headers_t hdr, in metadata_t meta)
{
	Register<bit<32>, bit<32>>(WEFT_COUNTERS) counters;
	bit<32> value;

	apply {
		value = counters.read(meta.counter);
		if (hdr.weft.type == message_t.count_ack) {
			hdr.weft.holder = value;
		} else {
			value = value + 1;
			counters.write(meta.counter, value);
		}
	}
}

#endif /* WEFT_COUNT_P4 */
