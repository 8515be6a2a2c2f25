// SPDX-License-Identifier: GPL-2.0-only
/*
 * Masks that depend on a number in the message.  They are shifts here; a Tofino
 * cannot shift by a variable and looks them up in tables of 32 constant entries.
 */
#ifndef WEFT_BITS_P4
#define WEFT_BITS_P4

#include "weft_headers.p4"

/* The sender's bit in a copyset; 0 if it is no node.  For src below 64 only. */
control NodeBit(in headers_t hdr, out bit<32> node)
{
	bit<8> position;

	apply {
		position = hdr.weft.src - WEFT_NODE_MIN;
		node = 1;
		node = node << position;
	}
}

/*
 * The provider: one node of several, spread over them by the transaction number.
 * The first at or after a position that changes with every transaction, else the
 * first.
 */
control Pick(inout headers_t hdr, in bit<32> several)
{
	bit<32> position;
	bit<32> first;
	bit<32> negative;

	apply {
		position = hdr.weft.txn & 31;
		first = 0xFFFFFFFF;
		first = first << position;
		first = first & several;
		if (first == 0)
			first = several;
		negative = 0;
		negative = negative - first;
		hdr.weft.provider = first & negative;
	}
}

#endif /* WEFT_BITS_P4 */
