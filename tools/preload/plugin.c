// SPDX-License-Identifier: GPL-2.0-only
/*
 * dlopen(): what is loaded finds our functions before those of the C library.
 */
#include <dlfcn.h>

#include "next.h"
#include "tools/libweft/internal.h"

/*
 * With RTLD_DEEPBIND it would find those first that it is linked with: its locks would not be
 * the program's, and nobody would know.
 *
 * The last call is a jump, as is tested: the C library looks where the call comes from, by the
 * address that it returns to, for the path that plugins are looked for in.
 */
WEFT_SHIM void *dlopen(const char *file, int mode)
{
	static _Atomic bool said;

	if (mode & RTLD_DEEPBIND)
		weft_complain(&said, "weft: a plugin is loaded without RTLD_DEEPBIND, with which its locks in regions would not be those of the program");
	return weft_next(dlopen)(file, mode & ~RTLD_DEEPBIND);
}
