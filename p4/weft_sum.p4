// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sum of a message's header, see kmod/core/wire.h.  InternetChecksum is what
 * PNA has for it; it writes 0xFFFF where others write 0, which is as good.
 */
#ifndef WEFT_SUM_P4
#define WEFT_SUM_P4

#include "weft_headers.p4"

/* What remains of a header that is what was sent: 0xFFFF. */
control Check(in headers_t hdr, out bit<16> rest)
{
	InternetChecksum() sum;

	apply {
		sum.clear();
		sum.add(hdr.weft);
		rest = sum.get();
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
	}
}

#endif /* WEFT_SUM_P4 */
