// SPDX-License-Identifier: GPL-2.0-only
/* The C library behind the played kernel; see behind.h. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "behind.h"

void *behind(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	if (!p) {
		fprintf(stderr, "fake: no %s\n", name);
		abort();
	}
	return p;
}

int behind_lock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *mutex);

	if (!real)
		real = behind("pthread_mutex_lock");
	return real(mutex);
}

int behind_unlock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *mutex);

	if (!real)
		real = behind("pthread_mutex_unlock");
	return real(mutex);
}

int behind_recover(pthread_mutex_t *mutex)
{
	int (*real)(pthread_mutex_t *mutex) = behind("pthread_mutex_consistent");

	return real(mutex);
}

int behind_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	int (*real)(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr) =
		behind("pthread_mutex_init");

	return real(mutex, attr);
}

void *behind_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	long p = syscall(SYS_mmap, address, length, prot, flags, fd, offset);

	return p == -1 ? MAP_FAILED : (void *)p;
}

void *behind_memory(size_t size)
{
	void *p = behind_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int behind_open(const char *name, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, name, flags, 0600);
}
