/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The version of weft: here only.  The module, the programs, the library's .pc file,
 * DKMS and the Debian packages take it from this line, the Makefile with sed.
 * What has to fit together is WEFT_WIRE_VERSION and WEFT_GENL_VERSION.
 */
#ifndef _UAPI_WEFT_VERSION_H
#define _UAPI_WEFT_VERSION_H

#define WEFT_VERSION	"0.1"

#endif /* _UAPI_WEFT_VERSION_H */
