// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sum of a message's header, see kmod/core/wire.h.  InternetChecksum is what
 * PNA has for it; for it, 0xFFFF stands for 0 as well.
 */
#ifndef WEFT_SUM_P4
#define WEFT_SUM_P4

#include "weft_headers.p4"

/*
 * Is the header what was sent?  Also refused is a status that no message has:
 * nobody would accept what the switch tells of it later.
 */
control Check(in headers_t hdr, inout metadata_t meta)
{
	InternetChecksum() sum;
	bit<16> rest;

	apply {
		sum.clear();
		sum.add(hdr.weft);
		rest = sum.get();
		meta.damaged = false;
		if (rest != 0xFFFF || hdr.weft.status > STATUS_M)
			meta.damaged = true;
	}
}

/* The right sum for a header that was changed. */
control Mend(inout headers_t hdr)
{
	InternetChecksum() sum;

	apply {
		hdr.weft.hsum = 0;
		sum.clear();
		sum.add(hdr.weft);
		hdr.weft.hsum = sum.get();
		if (hdr.weft.hsum == 0xFFFF)
			hdr.weft.hsum = 0;
	}
}

#endif /* WEFT_SUM_P4 */
