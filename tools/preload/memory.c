// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the program maps and unmaps; and file descriptors, some of which are ours
 * and stay open whatever the program closes.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "next.h"
#include "tools/libweft/internal.h"

void *weft_sys_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	return weft_next(mmap)(address, length, prot, flags, fd, offset);
}

int weft_sys_munmap(void *address, size_t length)
{
	return weft_next(munmap)(address, length);
}

int weft_sys_close(int fd)
{
	return weft_next(close)(fd);
}

static bool is_shared_file(int flags, int fd, off_t offset)
{
	int type = flags & MAP_TYPE;

	return fd >= 0 && !(flags & MAP_ANONYMOUS) &&
	       (type == MAP_SHARED || type == MAP_SHARED_VALIDATE) &&
	       (uint64_t)offset < WEFT_LOCKS_WORDS;
}

static void *map(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	static _Atomic bool said;
	int saved = errno, error;
	void *p;

	p = weft_next(mmap)(address, length, prot, flags, fd, offset);
	if (p == MAP_FAILED)
		return p;
	if (!is_shared_file(flags, fd, offset) || !weft_is_region(fd)) {
		/* What was there is gone. */
		weft_map_remove((uintptr_t)p, length);
		errno = saved;
		return p;
	}
	error = weft_map_add(fd, (uintptr_t)p, length, (uint64_t)offset);
	if (error) {
		/* Its locks would be this machine's only, and nobody would know. */
		weft_complain(&said, "weft: a region was not mapped, as its locks would not work: %s: more open files or memory may have to be allowed",
			      strerrordesc_np(error));
		weft_next(munmap)(p, length);
		errno = error;
		return MAP_FAILED;
	}
	errno = saved;
	return p;
}

WEFT_SHIM void *mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	return map(address, length, prot, flags, fd, offset);
}

WEFT_SHIM void *mmap64(void *address, size_t length, int prot, int flags, int fd,
		       off64_t offset)
{
	return map(address, length, prot, flags, fd, offset);
}

WEFT_SHIM int munmap(void *address, size_t length)
{
	static _Atomic bool said;
	bool region;
	int error;

	if (!length || (uintptr_t)address & ((uintptr_t)sysconf(_SC_PAGESIZE) - 1))
		return weft_next(munmap)(address, length);
	/* Before, as another thread may map something there as soon as it is gone. */
	region = weft_inside(address);
	weft_map_remove((uintptr_t)address, length);
	if (!weft_next(munmap)(address, length))
		return 0;
	/* There are too many mappings to cut this one: it is all there. */
	error = errno;
	if (region && weft_map_scan((uintptr_t)address))
		weft_complain(&said, "weft: locks in a region that could not be unmapped do not work on other machines any more: its file cannot be opened");
	errno = error;
	return -1;
}

WEFT_SHIM void *mremap(void *address, size_t length, size_t new_length, int flags, ...)
{
	static _Atomic bool said;
	void *wanted = NULL, *p;
	uint64_t offset;
	bool region;
	va_list args;
	int fd, error;

	if (flags & MREMAP_FIXED) {
		va_start(args, flags);
		wanted = va_arg(args, void *);
		va_end(args);
	}
	region = weft_map_find((uintptr_t)address, length ? length : 1, &fd, &offset);
	if (region && length)
		weft_map_remove((uintptr_t)address, length);
	p = weft_next(mremap)(address, length, new_length, flags, wanted);
	error = errno;
	if (!region) {
		if (p != MAP_FAILED)
			weft_map_remove((uintptr_t)p, new_length);
		errno = error;
		return p;
	}
	/* What has not moved is where it was. */
	if (p == MAP_FAILED) {
		if (length)
			weft_map_add(fd, (uintptr_t)address, length, offset);
		errno = error;
	} else {
		error = weft_map_add(fd, (uintptr_t)p, new_length, offset);
		if (!error && flags & MREMAP_DONTUNMAP)
			error = weft_map_add(fd, (uintptr_t)address, length, offset);
		if (error)
			weft_complain(&said, "weft: locks in a region that was moved by mremap() do not work on other machines any more: there is no memory to note where it is");
	}
	weft_next(close)(fd);
	return p;
}

/* --- File descriptors ----------------------------------------------------------- */

WEFT_SHIM int close(int fd)
{
	if (weft_fd_ours(fd)) {
		errno = EBADF;
		return -1;
	}
	return weft_next(close)(fd);
}

WEFT_SHIM int dup2(int from, int to)
{
	int error;

	if (weft_fd_ours(to) && from != to) {
		error = weft_fd_move(to);
		if (error) {
			errno = error;
			return -1;
		}
	}
	return weft_next(dup2)(from, to);
}

WEFT_SHIM int dup3(int from, int to, int flags)
{
	int error;

	if (weft_fd_ours(to) && from != to) {
		error = weft_fd_move(to);
		if (error) {
			errno = error;
			return -1;
		}
	}
	return weft_next(dup3)(from, to, flags);
}

/* In pieces, around ours. */
WEFT_SHIM int close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int from = first, fd;
	int result = 0;

	/* As far as there are any of ours. */
	for (fd = first; fd <= last && fd < 65536; fd++) {
		if (!weft_fd_ours((int)fd))
			continue;
		if (fd > from)
			result = weft_next(close_range)(from, fd - 1, flags);
		from = fd + 1;
		if (result || from > last)
			return result;
	}
	return weft_next(close_range)(from, last, flags);
}

WEFT_SHIM void closefrom(int low)
{
	close_range(low < 0 ? 0 : (unsigned int)low, ~0u, 0);
}
