// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libweft asks of the C library that the preload library changes for the
 * program.  There, other functions take the place of these.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

__attribute__((weak)) void *weft_sys_mmap(void *address, size_t length, int prot, int flags,
					  int fd, off_t offset)
{
	return mmap(address, length, prot, flags, fd, offset);
}

__attribute__((weak)) int weft_sys_munmap(void *address, size_t length)
{
	return munmap(address, length);
}

__attribute__((weak)) int weft_sys_close(int fd)
{
	return close(fd);
}
