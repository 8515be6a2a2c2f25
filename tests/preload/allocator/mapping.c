// SPDX-License-Identifier: GPL-2.0-only
/*
 * A malloc() to be preloaded that does whatever an allocator may do, each time: it takes a
 * mutex, maps and unmaps memory; and it keeps its mutex over a fork.  Each block is a mapping of
 * its own, with a page before it that says how long it is.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	4096ul

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, *mutex = &first;
static size_t in_use;

static void lock(void)
{
	pthread_mutex_lock(mutex);
}

static void unlock(void)
{
	pthread_mutex_unlock(mutex);
}

/* The mutex moves to where memory is mapped now.  By the only thread. */
void mapping_move(void);
void mapping_move(void)
{
	pthread_mutex_t *m = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

	if (m == MAP_FAILED)
		abort();
	*m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	mutex = m;
}

static void *take(size_t size)
{
	char *p;

	if (size > SIZE_MAX / 2) {
		errno = ENOMEM;
		return NULL;
	}
	lock();
	p = mmap(NULL, PAGE + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p != MAP_FAILED)
		in_use++;
	unlock();
	if (p == MAP_FAILED)
		return NULL;
	memcpy(p, &size, sizeof(size));
	return p + PAGE;
}

static size_t size_of(const void *p)
{
	size_t size;

	memcpy(&size, (const char *)p - PAGE, sizeof(size));
	return size;
}

void *malloc(size_t size)
{
	return take(size);
}

void *calloc(size_t n, size_t size)
{
	return take(size && n > SIZE_MAX / size ? SIZE_MAX : n * size);
}

void free(void *p)
{
	int saved = errno;

	if (!p)
		return;
	lock();
	in_use--;
	munmap((char *)p - PAGE, PAGE + size_of(p));
	unlock();
	errno = saved;
}

void *realloc(void *p, size_t size)
{
	void *new = take(size);

	if (new && p) {
		memcpy(new, p, size < size_of(p) ? size : size_of(p));
		free(p);
	}
	return new;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	if (alignment <= PAGE)
		return take(size);
	errno = ENOMEM;
	return NULL;
}

void *memalign(size_t alignment, size_t size)
{
	return aligned_alloc(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	*p = aligned_alloc(alignment, size);
	return *p ? 0 : ENOMEM;
}

/* Before other libraries begin, as that of an allocator is that is needed by them. */
static __attribute__((constructor(101))) void begin(void)
{
	pthread_atfork(lock, unlock, unlock);
}
