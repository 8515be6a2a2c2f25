// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot of a line, weft_line_slot() of kmod/core/types.h, and what stands in it.
 * A Tofino's hash unit computes the number in one step.
 */
#ifndef WEFT_SLOT_P4
#define WEFT_SLOT_P4

#include "weft_headers.p4"
#include "weft_registers.p4"

control Slot(in headers_t hdr, inout metadata_t meta)
{
	bit<64> part;

	/* Statements of one operation: one instruction each in a software switch. */
	apply {
		meta.slot = hdr.weft.line;
		part = hdr.weft.line >> 16;
		meta.slot = meta.slot ^ part;
		part = part >> 9;
		meta.slot = meta.slot ^ part;
		part = part >> 2;
		meta.slot = meta.slot ^ part;
		part = part >> 7;
		meta.slot = meta.slot ^ part;
		meta.slot = meta.slot & WEFT_SWITCH_SLOT_MASK;
		meta.kind = part & KIND_MASK;

		meta.members = members.read(0);
		meta.tag = tag.read(meta.slot);
		meta.lock = lock.read(meta.slot);
		meta.grant = grant.read(meta.slot);
		meta.status = status.read(meta.slot);
		meta.copyset = copyset.read(meta.slot);
	}
}

#endif /* WEFT_SLOT_P4 */
