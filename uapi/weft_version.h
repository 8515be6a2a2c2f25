/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The version of weft, for the module, the programs, the library's .pc file, DKMS and the Debian
 * packages; the Makefile reads it with sed.  Machines have to agree on WEFT_WIRE_VERSION, a
 * module and its programs on WEFT_GENL_VERSION, not on this.
 */
#ifndef _UAPI_WEFT_VERSION_H
#define _UAPI_WEFT_VERSION_H

#define WEFT_VERSION	"0.1"

#endif /* _UAPI_WEFT_VERSION_H */
