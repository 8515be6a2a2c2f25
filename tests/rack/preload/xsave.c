// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded to a user-mode kernel by tests/rack/test-uml.sh: ptrace() as on a processor whose
 * registers are larger than the kernel has room for.
 *
 * Environment: WEFT_XSAVE=large: PTRACE_SETREGSET of NT_X86_XSTATE takes LARGE bytes and
 * nothing less, and PTRACE_GETREGSET gives so many, the last ones of which are zero, as with
 * AMX that no program uses; none: it takes nothing at all; else it is the system's.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

#define LARGE	11008		/* bytes: with the tiles of AMX */

typedef long ptrace_call(enum __ptrace_request request, pid_t pid, void *addr, void *data);

static long get_large(ptrace_call *next, pid_t pid, struct iovec *asked)
{
	static char room[LARGE];
	struct iovec here = { room, sizeof(room) };
	long result;

	memset(room, 0, sizeof(room));
	result = next(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &here);
	if (result)
		return result;
	if (asked->iov_len > LARGE)
		asked->iov_len = LARGE;
	memcpy(asked->iov_base, room, asked->iov_len);
	return 0;
}

static long set_large(ptrace_call *next, pid_t pid, const struct iovec *given)
{
	struct iovec here = *given;

	if (given->iov_len < LARGE) {
		errno = EFAULT;
		return -1;
	}
	/* The kernel takes of it what this processor has. */
	return next(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &here);
}

long ptrace(enum __ptrace_request request, ...)
{
	static ptrace_call *next;
	void *addr, *data;
	const char *how = getenv("WEFT_XSAVE");
	va_list args;
	pid_t pid;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (!next)
		next = (ptrace_call *)dlsym(RTLD_NEXT, "ptrace");
	if (!how || (size_t)addr != NT_X86_XSTATE)
		return next(request, pid, addr, data);
	if (!strcmp(how, "none") && request == PTRACE_SETREGSET) {
		errno = EFAULT;
		return -1;
	}
	if (!strcmp(how, "large") && request == PTRACE_GETREGSET)
		return get_large(next, pid, data);
	if (!strcmp(how, "large") && request == PTRACE_SETREGSET)
		return set_large(next, pid, data);
	return next(request, pid, addr, data);
}
