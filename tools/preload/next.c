// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding the functions behind this library.
 *
 * Other libraries may call ours before our constructor has run: each is looked for
 * when it is called first, at the latest.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "next.h"
#include "tools/libweft/internal.h"

static void *find(const char *name)
{
	static _Atomic bool said;
	void *p = NULL;

	/*
	 * Of these the C library has an older kind as well, of another layout, and
	 * dlsym() would return that.
	 */
	if (!strncmp(name, "pthread_cond_", 13))
		p = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	if (!p)
		p = dlsym(RTLD_NEXT, name);
	if (!p) {
		weft_complain(&said, "weft: the C library has no %s(), which the program calls", name);
		abort();
	}
	return p;
}

static const char * const names[WEFT_NEXT_COUNT] = {
#define X(result, name, parameters, arguments) [WEFT_NEXT_##name] = #name,
	WEFT_NEXT(X)
#undef X
};

#define FIRST(result, name, parameters, arguments)			\
	static result first_##name parameters				\
	{								\
		weft_nexts[WEFT_NEXT_##name] = find(#name);		\
		return weft_next(name) arguments;			\
	}

WEFT_NEXT(FIRST)

void *weft_nexts[WEFT_NEXT_COUNT] = {
#define X(result, name, parameters, arguments) [WEFT_NEXT_##name] = (void *)first_##name,
	WEFT_NEXT(X)
#undef X
};

static __attribute__((constructor)) void resolve(void)
{
	int i;

	weft_patient = true;
	/* One that is not there is complained of when it is called. */
	for (i = 0; i < WEFT_NEXT_COUNT; i++)
		if (dlsym(RTLD_NEXT, names[i]))
			weft_nexts[i] = find(names[i]);
}

/* --- What the functions for things inside regions share ------------------------ */

bool weft_inside(const void *address)
{
	uint64_t offset;

	return weft_near(address) && weft_mapped((uintptr_t)address, &offset);
}
