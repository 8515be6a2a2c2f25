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

/* The system call.  Which addresses it takes from what is there, and when. */
struct moving {
	uintptr_t address;	/* taken before, as others may get them as soon as it is done */
	size_t length;		/* 0: none are taken */
	bool shrinks;
};

/*
 * While other threads use the locks of a mapping, it may grow and shrink where it
 * is: what stays is in the table all the time.  Lengths are whole pages.
 */
static struct moving what_goes(uintptr_t address, size_t length, size_t new_length, int flags)
{
	struct moving m = { .address = address };

	if (new_length <= length && !(flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))) {
		m.shrinks = true;
		m.address += new_length;
		m.length = length - new_length;
	} else if (flags & MREMAP_MAYMOVE && !(flags & MREMAP_DONTUNMAP)) {
		m.length = length;
	}
	return m;
}

/* What has been done to the mapping of a region, which @f is held of. */
static void moved(struct weft_file *f, uint64_t offset, const struct moving *m,
		  uintptr_t address, void *p, size_t new_length)
{
	static _Atomic bool said;
	int error = 0;

	/* What has not moved is where it was. */
	if (p == MAP_FAILED && m->length)
		error = weft_map_put(f, m->address, m->length, offset + (m->address - address));
	else if (p != MAP_FAILED && !m->shrinks)
		error = weft_map_put(f, (uintptr_t)p, new_length, offset);
	if (error)
		weft_complain(&said, "weft: locks in a region that was moved by mremap() do not work on other machines any more: there is no memory to note where it is");
	weft_map_let_go(f);
}

WEFT_SHIM void *mremap(void *address, size_t length, size_t new_length, int flags, ...)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t old = (length + page - 1) & ~(page - 1);
	size_t new = (new_length + page - 1) & ~(page - 1);
	uintptr_t from = (uintptr_t)address;
	void *wanted = NULL, *p;
	struct weft_file *f;
	struct moving m;
	uint64_t offset;
	va_list args;
	int error;

	if (flags & MREMAP_FIXED) {
		va_start(args, flags);
		wanted = va_arg(args, void *);
		va_end(args);
	}
	/* These fail, and what is mapped stays. */
	if (from & (page - 1) || !new)
		return weft_next(mremap)(address, length, new_length, flags, wanted);
	/* A length of 0 asks for the same pages once more. */
	f = weft_map_hold(from, old ? old : 1, &offset);
	m = what_goes(from, old, new, flags);
	/* Of something else only what shrinking cuts off can be ours. */
	if (m.length && (f || m.shrinks))
		weft_map_remove(m.address, m.length);
	p = weft_next(mremap)(address, length, new_length, flags, wanted);
	error = errno;
	if (f)
		moved(f, offset, &m, from, p, new);
	else if (p != MAP_FAILED && p != address)
		weft_map_remove((uintptr_t)p, new);
	errno = error;
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
