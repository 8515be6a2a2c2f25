// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded to a user-mode kernel that does not run on processors with large registers:
 * makes PTRACE_SETREGSET of NT_X86_XSTATE take less than the whole of them.
 *
 * Linux takes the registers of a traced process only whole, as large as this processor's
 * XSAVE area is.  A user-mode kernel before about 6.13 has room for 4 KiB of them, and
 * panics at its first program where they are larger (AMX: Sapphire Rapids and newer).  What
 * it has no room for, it has not changed: that is read from the process, and written back
 * behind what the kernel has.
 *
 * Which kernel needs it is found out by booting it: tools/rack/accel.sh.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

#define XSTATE_ROOM	65536		/* bytes; five times those of AMX */

typedef long ptrace_call(enum __ptrace_request request, pid_t pid, void *addr, void *data);

/* set_whole() - the process gets the first bytes of its registers, and keeps the others */
static long set_whole(ptrace_call *next, pid_t pid, const struct iovec *first)
{
	/* One thread of such a kernel traces its programs, and this is too much for its stack. */
	static char room[XSTATE_ROOM];
	struct iovec whole = { room, sizeof(room) };

	if (next(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &whole))
		return -1;
	if (first->iov_len >= whole.iov_len) {
		errno = EFAULT;
		return -1;
	}
	memcpy(room, first->iov_base, first->iov_len);
	return next(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
	static ptrace_call *next;
	void *addr, *data;
	va_list args;
	pid_t pid;
	long result;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (!next)
		next = (ptrace_call *)dlsym(RTLD_NEXT, "ptrace");
	result = next(request, pid, addr, data);
	if (result && request == PTRACE_SETREGSET && (size_t)addr == NT_X86_XSTATE &&
	    errno == EFAULT)
		result = set_whole(next, pid, data);
	return result;
}
