// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded by a weft-memd (tests/system/disk.sh): files of this program cannot be read, or do
 * not get to the disk, while there is a file that says so.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NO_READS	"/run/disk-does-not-read"
#define NO_SYNCS	"/run/disk-does-not-sync"

static bool fails(const char *because)
{
	if (access(because, F_OK))
		return false;
	errno = EIO;
	return true;
}

static bool is_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

ssize_t pread(int fd, void *buf, size_t len, off_t at)
{
	if (is_file(fd) && fails(NO_READS))
		return -1;
	return syscall(SYS_pread64, fd, buf, len, at);
}

ssize_t pread64(int fd, void *buf, size_t len, off_t at)
{
	return pread(fd, buf, len, at);
}

int fdatasync(int fd)
{
	return is_file(fd) && fails(NO_SYNCS) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int msync(void *addr, size_t len, int flags)
{
	return fails(NO_SYNCS) ? -1 : (int)syscall(SYS_msync, addr, len, flags);
}
