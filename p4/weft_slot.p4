// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot of a line: weft_line_slot() of kmod/core/types.h.  Only shifts by
 * constants, masks and exclusive or: what a Tofino's hash unit computes in one
 * step.
 */
#ifndef WEFT_SLOT_P4
#define WEFT_SLOT_P4

#include "weft_headers.p4"

/* Where the parts of a line's name stand in its 64 bits. */
#define REGION_BIT	(32 + WEFT_LINE_REGION_SHIFT)
#define KIND_BIT	(32 + WEFT_LINE_KIND_SHIFT)

control Slot(in headers_t hdr, out bit<64> slot)
{
	bit<64> part;

	/* Statements of one operation: p4c-dpdk makes one instruction of each. */
	apply {
		slot = hdr.weft.line;
		part = hdr.weft.line >> 16;
		slot = slot ^ part;
		/* region << 13, region << 6, kind << 11 */
		part = hdr.weft.line >> (REGION_BIT - 13);
		part = part & 0xE000;
		slot = slot ^ part;
		part = hdr.weft.line >> (REGION_BIT - 6);
		part = part & 0xFFC0;
		slot = slot ^ part;
		part = hdr.weft.line >> (KIND_BIT - 11);
		part = part & 0x7800;
		slot = slot ^ part;
		slot = slot & WEFT_SWITCH_SLOT_MASK;
	}
}

#endif /* WEFT_SLOT_P4 */
