// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel module does for locks, done here by standing between a program
 * and the C library: linked to a test, or preloaded behind libweft-preload.so.
 * What programs call is here; what is done for them, beside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tests/common/kernel/behind.h"
#include "tests/common/kernel/fake.h"
#include "tests/common/kernel/lock.h"
#include "tests/common/kernel/owner.h"
#include "tests/common/kernel/region.h"

_Bool fake_old, fake_keeps, fake_loses;
int fake_refuses;

/* WEFT_IOC_LOCK_FILE. */
static int fake_open(int fd)
{
	char name[64];

	if (fake_refuses > FAKE_REFUSES_NAMES) {
		errno = EMFILE;
		return -1;
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return behind_open(name, (fcntl(fd, F_GETFL) & O_ACCMODE) | O_CLOEXEC);
}

int ioctl(int fd, unsigned long request, ...)
{
	struct fake_region *r;
	void *argument;
	va_list args;
	int error;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (_IOC_TYPE(request) != WEFT_IOC_MAGIC || !fake_is_region(fd))
		return (int)syscall(SYS_ioctl, fd, request, argument);
	if (request == WEFT_IOC_LOCK_FILE)
		return fake_open(fd);
	r = fake_region_of(fd);
	error = fake_ioctl(r, fd, request, argument);
	errno = error;
	if (error)
		return -1;
	return request == WEFT_IOC_LOCK_ACQUIRE && fake_hears(r, argument) ?
	       WEFT_LOCK_OWNER_DIED : 0;
}

static void *map(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	struct fake_region *r;
	unsigned int owner;

	if (fake_loses && flags & MAP_FIXED) {
		syscall(SYS_munmap, address, length);
		errno = ENOMEM;
		return MAP_FAILED;
	}
	if ((uint64_t)offset < WEFT_LOCKS_WORDS || !fake_is_region(fd))
		return behind_mmap(address, length, prot, flags, fd, offset);
	/* Of us nobody asks for more than the whole, somewhere. */
	(void)address;
	(void)prot;
	(void)flags;
	r = fake_region_of(fd);
	if ((uint64_t)offset < WEFT_LOCKS_HOLDS)
		return fake_map_words(r, length, (uint64_t)offset - WEFT_LOCKS_WORDS);
	fake_lock(r->head);
	owner = fake_make_owner(r, fd);
	fake_unlock(r->head);
	if (!owner) {
		errno = ENOSPC;
		return MAP_FAILED;
	}
	return fake_map_holds(r, owner, length);
}

void *mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	return map(address, length, prot, flags, fd, offset);
}

void *mmap64(void *address, size_t length, int prot, int flags, int fd, off64_t offset)
{
	return map(address, length, prot, flags, fd, offset);
}

/* A mapping that cannot be unmapped, as one that is sealed, or when there is no memory. */
int munmap(void *address, size_t length)
{
	if (fake_keeps) {
		errno = ENOMEM;
		return -1;
	}
	return (int)syscall(SYS_munmap, address, length);
}

int open(const char *name, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	/* As the C library's is. */
	pthread_testcancel();
	if (fake_refuses && !strncmp(name, "/proc/self/fd/", 14)) {
		errno = EACCES;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

int ftruncate(int fd, off_t size)
{
	int error = (int)syscall(SYS_ftruncate, fd, size);

	if (!error && fake_is_region(fd))
		fake_shrunk(fake_region_of(fd), (uint64_t)size);
	return error;
}

int fstatfs(int fd, struct statfs *fs)
{
	/* Once: the loader's lock, which this takes, may be this thread's in a signal's handler. */
	static int (*real)(int fd, struct statfs *fs);
	int error;

	if (!real)
		real = behind("fstatfs");
	error = real(fd, fs);
	if (!error && fake_is_region(fd))
		fs->f_type = WEFT_SUPER_MAGIC;
	return error;
}

int statfs(const char *name, struct statfs *fs)
{
	int (*real)(const char *name, struct statfs *fs) = behind("statfs");
	int fd, error = real(name, fs);

	if (error)
		return error;
	fd = behind_open(name, O_PATH | O_CLOEXEC);
	if (fake_is_region(fd))
		fs->f_type = WEFT_SUPER_MAGIC;
	if (fd >= 0)
		syscall(SYS_close, fd);
	return 0;
}

/* --- For tests ---------------------------------------------------------------------- */

void fake_begin(const char *directory)
{
	setenv("WEFT_FAKE_DIR", directory, 1);
}

struct fake_counts *fake_counts(int fd)
{
	return &fake_region_of(fd)->head->counts;
}

_Atomic uint64_t *fake_word(int fd, uint64_t offset)
{
	struct fake_region *r = fake_region_of(fd);
	uint32_t *entry = fake_slot(r->head, offset);

	return *entry ? fake_word_at(r, *entry - 1) : NULL;
}

uint64_t fake_state(int fd, uint64_t offset)
{
	struct fake_region *r = fake_region_of(fd);
	uint32_t *entry = fake_slot(r->head, offset);
	uint64_t w = *fake_word_at(r, *entry - 1) & ~WEFT_WORD_READS;

	/* That readers may list it stays until somebody writes. */
	return fake_listed(r, *entry - 1) ? w : w & ~WEFT_WORD_LISTED;
}

uint64_t fake_bound(int fd, uint64_t offset)
{
	struct fake_region *r = fake_region_of(fd);
	uint32_t *entry = fake_slot(r->head, offset);

	return *entry ? r->head->slots[*entry - 1].bound : 0;
}

void fake_take_away(int fd, uint64_t offset, unsigned int left)
{
	_Atomic uint64_t *word = fake_word(fd, offset);

	atomic_fetch_and(word, ~WEFT_WORD_PERM);
	atomic_fetch_or(word, left);
}

void fake_node_dies(int fd, uint64_t offset)
{
	_Atomic uint64_t *word = fake_word(fd, offset);

	atomic_fetch_or(word, WEFT_WORD_DIED);
	atomic_fetch_and(word, ~WEFT_WORD_PERM);
}

void fake_set_policy(int fd, uint32_t policy)
{
	fake_region_of(fd)->head->policy = policy;
}
