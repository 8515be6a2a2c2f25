// SPDX-License-Identifier: GPL-2.0-only
/*
 * Masks that depend on a number in the message.  They are shifts here; a Tofino
 * cannot shift by a variable and looks them up in tables of constant entries.
 */
#ifndef WEFT_BITS_P4
#define WEFT_BITS_P4

#include "weft_headers.p4"

/* The sender's bit in a copyset; 0 if it is no node.  For src below 64 only. */
control NodeBit(in headers_t hdr, inout metadata_t meta)
{
	bit<8> position;

	apply {
		position = hdr.weft.src - WEFT_NODE_MIN;
		meta.node = 1;
		meta.node = meta.node << position;
	}
}

/*
 * The provider: one node of several, spread over them by the transaction number.
 * The first at or after a position that changes with every transaction, else the
 * first.
 */
control Pick(inout headers_t hdr, in bit<32> several)
{
	bit<32> first;
	bit<32> part;

	apply {
		part = hdr.weft.txn & 31;
		first = 0xFFFFFFFF;
		first = first << part;
		first = first & several;
		if (first == 0)
			first = several;
		part = 0;
		part = part - first;
		hdr.weft.provider = first & part;
	}
}

#endif /* WEFT_BITS_P4 */
