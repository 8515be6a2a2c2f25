// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes out for a GETS or GETM that is not refused, after the registers have
 * been touched: gets() and getm() of kmod/core/directory.c.
 */
#ifndef WEFT_ACCESS_P4
#define WEFT_ACCESS_P4

#include "weft_headers.p4"
#include "weft_bits.p4"

/* The answer already tells what the entry says; it goes to the sender so far. */
control Access(inout headers_t hdr, inout metadata_t meta)
{
	Pick() pick;
	bit<32> others;
	bit<32> mine;
	bit<8> have;

	apply {
		others = hdr.weft.copyset | meta.node;
		others = others ^ meta.node;
		if (hdr.weft.type == message_t.gets) {
			hdr.weft.flags = WEFT_F_SWITCH | WEFT_F_BUSY;
			if (meta.shared) {
				hdr.weft.flags = WEFT_F_SWITCH;
				/* the home has the data, but may spare itself */
				if (meta.status != STATUS_S)
					others = 0;
			}
			if (others == 0) {
				hdr.weft.type = message_t.read;
				meta.to = destination_t.home;
				meta.counter = WEFT_COUNT_READ;
			} else {
				pick.apply(hdr, others);
				hdr.weft.type = message_t.fwd;
				meta.to = destination_t.nodes;
				meta.targets = hdr.weft.provider;
				meta.counter = WEFT_COUNT_FWD;
			}
		} else {
			/* an upgrade needs no data */
			have = hdr.weft.flags & WEFT_F_HAVE;
			mine = hdr.weft.copyset & meta.node;
			if (meta.status != STATUS_S || mine == 0)
				have = 0;
			hdr.weft.flags = WEFT_F_SWITCH | WEFT_F_BUSY;
			if (others != 0) {
				if (have == 0)
					pick.apply(hdr, others);
				hdr.weft.type = message_t.inv;
				meta.to = destination_t.nodes;
				meta.targets = others;
				meta.counter = WEFT_COUNT_INV;
			} else if (have == 0) {
				hdr.weft.flags = WEFT_F_SWITCH | WEFT_F_BUSY |
						 WEFT_F_EXCL;
				hdr.weft.type = message_t.read;
				meta.to = destination_t.home;
				meta.counter = WEFT_COUNT_READ;
			} else {
				hdr.weft.type = message_t.grant;
				meta.counter = WEFT_COUNT_GRANT;
			}
		}
	}
}
#endif /* WEFT_ACCESS_P4 */
