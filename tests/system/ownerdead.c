// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of all kinds whose owner dies, for tests/system/ownerdead.sh.  To be run with
 * libweft-preload.so, which has libweft's functions, too.
 *
 *	system-ownerdead make FILE
 *	system-ownerdead hold FILE	takes all, prints "held", has them until it is killed
 *	system-ownerdead die FILE	the same, and kills itself
 *	system-ownerdead take FILE KIND SECONDS
 *					within SECONDS; mends it, leaves it; prints what came
 *					of it, and after how many milliseconds
 *
 * KIND: robust, plain (mutexes), rwlock (of pthreads), read (the same), weft (of libweft),
 * broken (the robust mutex, which is left unmended).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/argument.h"
#include "tools/common/clock.h"
#include "tools/libweft/lock.h"

/* Each has a page of its own, on which its owner writes. */
struct page {
	union {
		pthread_mutex_t mutex;
		pthread_rwlock_t rwlock;
		weft_rwlock_t weft;
	};
	long written;
	char fill[4096 - sizeof(pthread_rwlock_t) - sizeof(long)];
};

static struct region {
	struct page robust, plain, rwlock, weft;
} *region;

static void fail(const char *what, int error)
{
	fprintf(stderr, "system-ownerdead: %s: %s\n", what, strerror(error));
	exit(2);
}

static void must(const char *what, int error)
{
	if (error)
		fail(what, error);
}

/* A function of libweft, in what is preloaded. */
static void *weft(const char *name)
{
	void *p = dlsym(RTLD_DEFAULT, name);

	if (!p)
		fail(name, ENOSYS);
	return p;
}

static int weft_mends(weft_rwlock_t *lock)
{
	int (*consistent)(weft_rwlock_t *lock);

	*(void **)&consistent = weft("weft_rwlock_consistent");
	return consistent(lock);
}

static int weft_leaves(weft_rwlock_t *lock)
{
	int (*unlock)(weft_rwlock_t *lock);

	*(void **)&unlock = weft("weft_rwlock_unlock");
	return unlock(lock);
}

static int weft_writes(weft_rwlock_t *lock, const struct timespec *t)
{
	int (*timedwrlock)(weft_rwlock_t *lock, const struct timespec *deadline);

	*(void **)&timedwrlock = weft("weft_rwlock_timedwrlock");
	return timedwrlock(lock, t);
}

static void map(const char *path, int flags)
{
	int fd = open(path, O_RDWR | flags, 0600);

	if (fd < 0 || (flags && ftruncate(fd, sizeof(*region))))
		fail(path, errno);
	region = mmap(NULL, sizeof(*region), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (region == MAP_FAILED)
		fail(path, errno);
}

static void make(void)
{
	pthread_mutexattr_t attr;

	must("attr", pthread_mutexattr_init(&attr));
	must("shared", pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	must("plain", pthread_mutex_init(&region->plain.mutex, &attr));
	must("robust", pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
	must("robust", pthread_mutex_init(&region->robust.mutex, &attr));
	must("rwlock", pthread_rwlock_init(&region->rwlock.rwlock, NULL));
}

static void hold(void)
{
	struct timespec t = clock_in_ms(CLOCK_REALTIME, 60000);

	must("robust", pthread_mutex_lock(&region->robust.mutex));
	must("plain", pthread_mutex_lock(&region->plain.mutex));
	must("rwlock", pthread_rwlock_wrlock(&region->rwlock.rwlock));
	must("weft", weft_writes(&region->weft.weft, &t));
	region->robust.written++;
	region->plain.written++;
	region->rwlock.written++;
	region->weft.written++;
	puts("held");
	fflush(stdout);
}

/* Return: what taking it came to. */
static int take(const char *kind, const struct timespec *t)
{
	int error;

	if (!strcmp(kind, "robust") || !strcmp(kind, "broken")) {
		error = pthread_mutex_timedlock(&region->robust.mutex, t);
		if (error == EOWNERDEAD && *kind == 'r')
			must("consistent", pthread_mutex_consistent(&region->robust.mutex));
		if (!error || error == EOWNERDEAD)
			must("unlock", pthread_mutex_unlock(&region->robust.mutex));
	} else if (!strcmp(kind, "plain")) {
		error = pthread_mutex_timedlock(&region->plain.mutex, t);
		if (!error)
			must("unlock", pthread_mutex_unlock(&region->plain.mutex));
	} else if (!strcmp(kind, "weft")) {
		error = weft_writes(&region->weft.weft, t);
		if (error == EOWNERDEAD)
			must("weft_rwlock_consistent", weft_mends(&region->weft.weft));
		if (!error || error == EOWNERDEAD)
			must("weft_rwlock_unlock", weft_leaves(&region->weft.weft));
	} else {
		error = *kind == 'r' && !strcmp(kind, "read") ?
			pthread_rwlock_timedrdlock(&region->rwlock.rwlock, t) :
			pthread_rwlock_timedwrlock(&region->rwlock.rwlock, t);
		if (!error)
			must("unlock", pthread_rwlock_unlock(&region->rwlock.rwlock));
	}
	return error;
}

int main(int argc, char **argv)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	struct timespec t;
	int error;

	if (argc < 3) {
		fputs("Usage: system-ownerdead make|hold|die FILE | take FILE KIND SECONDS\n",
		      stderr);
		return 2;
	}
	map(argv[2], !strcmp(argv[1], "make") ? O_CREAT | O_EXCL : 0);
	if (!strcmp(argv[1], "make")) {
		make();
	} else if (!strcmp(argv[1], "take") && argc == 5) {
		t = clock_in_ms(CLOCK_REALTIME, (long)(argument_real(argv[4]) * 1000));
		error = take(argv[3], &t);
		printf("%s: %s\n", argv[3], error ? strerrorname_np(error) : "taken");
		fprintf(stderr, "after %llu ms\n", (unsigned long long)
			(clock_ns(CLOCK_MONOTONIC) - begin) / 1000000);
	} else {
		hold();
		if (!strcmp(argv[1], "die"))
			kill(getpid(), SIGKILL);
		for (;;)
			pause();
	}
	return 0;
}
