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

/* A call has been made: what it was to take away is gone, or put back as it has failed. */
static void settle(struct weft_taken *taken, bool back)
{
	static _Atomic bool said;

	if (weft_map_settle(taken, back))
		weft_complain(&said, "weft: locks in a region that could not be unmapped do not work on other machines any more: there is no memory to note where it is");
}

/*
 * What is to be replaced goes before, as others may get its place as soon as the call has
 * failed half way.  Who asks that nothing be replaced may do so while the locks are used.
 */
static int take_place(void *address, size_t length, int flags, struct weft_taken *taken)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	taken->n = 0;
	if (!(flags & MAP_FIXED) || flags & MAP_FIXED_NOREPLACE || !length ||
	    (uintptr_t)address & (page - 1))
		return 0;
	return weft_map_take((uintptr_t)address, length, taken);
}

static void *map(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	int saved = errno, error;
	static _Atomic bool said;
	struct weft_taken taken;
	void *p = MAP_FAILED;

	error = take_place(address, length, flags, &taken);
	if (error) {
		errno = error;
		return MAP_FAILED;
	}
	p = weft_next(mmap)(address, length, prot, flags, fd, offset);
	if (p == MAP_FAILED) {
		error = errno;
		settle(&taken, true);
		errno = error;
		return MAP_FAILED;
	}
	/* What was there is gone. */
	error = weft_map_remove((uintptr_t)p, length);
	if (!error && is_shared_file(flags, fd, offset) && weft_is_region(fd))
		error = weft_map_add(fd, (uintptr_t)p, length, (uint64_t)offset);
	settle(&taken, false);
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
	struct weft_taken taken;
	int error, rc;

	if (!length || (uintptr_t)address & ((uintptr_t)sysconf(_SC_PAGESIZE) - 1))
		return weft_next(munmap)(address, length);
	/* Before, as another thread may map something there as soon as it is gone. */
	error = weft_map_take((uintptr_t)address, length, &taken);
	if (error) {
		errno = error;
		return -1;
	}
	rc = weft_next(munmap)(address, length);
	error = errno;
	settle(&taken, rc);
	errno = error;
	return rc;
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

/* The mapping of a region, which @f is held of, is at @p now. */
static void moved(struct weft_file *f, uint64_t offset, void *p, size_t length)
{
	static _Atomic bool said;

	if (weft_map_put(f, (uintptr_t)p, length, offset))
		weft_complain(&said, "weft: locks in a region that was moved by mremap() do not work on other machines any more: there is no memory to note where it is");
}

WEFT_SHIM void *mremap(void *address, size_t length, size_t new_length, int flags, ...)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t old = (length + page - 1) & ~(page - 1);
	size_t new = (new_length + page - 1) & ~(page - 1);
	struct weft_taken taken = { 0 }, replaced = { 0 };
	uintptr_t from = (uintptr_t)address;
	void *wanted = NULL, *p;
	struct weft_file *f;
	struct moving m;
	uint64_t offset;
	va_list args;
	int error = 0;

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
		error = weft_map_take(m.address, m.length, &taken);
	if (!error)
		error = take_place(wanted, new, wanted ? MAP_FIXED : 0, &replaced);
	p = error ? MAP_FAILED : weft_next(mremap)(address, length, new_length, flags, wanted);
	if (!error)
		error = errno;
	settle(&taken, p == MAP_FAILED);
	settle(&replaced, p == MAP_FAILED);
	if (f && p != MAP_FAILED && !m.shrinks)
		moved(f, offset, p, new);
	else if (!f && p != MAP_FAILED && p != address)
		weft_map_remove((uintptr_t)p, new);
	if (f)
		weft_map_let_go(f);
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
