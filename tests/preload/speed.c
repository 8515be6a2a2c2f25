// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long locks take through the preload library, beside the C library's own,
 * which are called past it.
 *
 *	preload-speed FILE [TURNS]
 *
 * FILE is a new region.  Prints JSON: nanoseconds of one lock and unlock, the least
 * of many turns, and ratios: inside of regions, and outside of them while there is
 * one.  In one thread, and after there was a second one.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "tests/libweft/check.h"

#define SIZE	65536u
#define ROUNDS	2000	/* of a turn: short, so that some are not disturbed */

/* What is compared: each is called in the same way. */
struct functions {
	int (*read)(pthread_rwlock_t *l);
	int (*write)(pthread_rwlock_t *l);
	int (*unlock)(pthread_rwlock_t *l);
	int (*lock_mutex)(pthread_mutex_t *m);
	int (*unlock_mutex)(pthread_mutex_t *m);
};

static struct functions libc_own, shim;
static unsigned long turns = 1000;

static void find(struct functions *f, void *handle)
{
#define FIND(member, name) do {						\
	void *p_ = dlsym(handle, name);					\
									\
	CHECK(p_);							\
	memcpy(&f->member, &p_, sizeof(p_));				\
} while (0)
	FIND(read, "pthread_rwlock_rdlock");
	FIND(write, "pthread_rwlock_wrlock");
	FIND(unlock, "pthread_rwlock_unlock");
	FIND(lock_mutex, "pthread_mutex_lock");
	FIND(unlock_mutex, "pthread_mutex_unlock");
}

#define MEASURE(least, lock, unlock, l) do {				\
	double begin_ = seconds();					\
									\
	for (unsigned long i_ = 0; i_ < ROUNDS; i_++) {			\
		lock(l);						\
		unlock(l);						\
	}								\
	begin_ = (seconds() - begin_) * 1e9 / ROUNDS;			\
	if (begin_ < (least))						\
		(least) = begin_;					\
} while (0)

enum { READ, WRITE, MUTEX, KINDS };

static void print(const char *what, const double *ns, const double *than, const char *end)
{
	printf("  \"%s\": {\"read_ns\": %.1f, \"write_ns\": %.1f, \"mutex_ns\": %.1f, \"read_ratio\": %.2f, \"write_ratio\": %.2f, \"mutex_ratio\": %.2f}%s\n",
	       what, ns[READ], ns[WRITE], ns[MUTEX], ns[READ] / than[READ],
	       ns[WRITE] / than[WRITE], ns[MUTEX] / than[MUTEX], end);
}

static void measure(const char *what, char *region, const char *end)
{
	double own[KINDS] = { 1e9, 1e9, 1e9 }, in[KINDS] = { 1e9, 1e9, 1e9 };
	double out[KINDS] = { 1e9, 1e9, 1e9 };
	pthread_rwlockattr_t attr;
	pthread_mutexattr_t mutexattr;
	pthread_rwlock_t l, *inside = (pthread_rwlock_t *)region;
	pthread_mutex_t m, *mutex_inside = (pthread_mutex_t *)(region + 4096);
	unsigned long turn;

	CHECK(!pthread_rwlockattr_init(&attr));
	CHECK(!pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_rwlock_init(&l, &attr));
	CHECK(!pthread_mutexattr_init(&mutexattr));
	CHECK(!pthread_mutexattr_setpshared(&mutexattr, PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_mutex_init(&m, &mutexattr));
	CHECK(!pthread_mutex_init(mutex_inside, &mutexattr));
	/* In turn, so that what disturbs them disturbs all. */
	for (turn = 0; turn < turns; turn++) {
		MEASURE(own[READ], libc_own.read, libc_own.unlock, &l);
		MEASURE(out[READ], shim.read, shim.unlock, &l);
		MEASURE(in[READ], shim.read, shim.unlock, inside);
		MEASURE(own[WRITE], libc_own.write, libc_own.unlock, &l);
		MEASURE(out[WRITE], shim.write, shim.unlock, &l);
		MEASURE(in[WRITE], shim.write, shim.unlock, inside);
		MEASURE(own[MUTEX], libc_own.lock_mutex, libc_own.unlock_mutex, &m);
		MEASURE(out[MUTEX], shim.lock_mutex, shim.unlock_mutex, &m);
		MEASURE(in[MUTEX], shim.lock_mutex, shim.unlock_mutex, mutex_inside);
	}
	printf(" \"%s\": {\n", what);
	print("libc", own, own, ",");
	print("outside", out, own, ",");
	print("inside", in, own, "");
	printf(" }%s\n", end);
}

static void *nothing(void *arg)
{
	return arg;
}

int main(int argc, char **argv)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	pthread_t t;
	char *region;
	int fd;

	if (argc < 2) {
		fprintf(stderr, "usage: preload-speed FILE [TURNS]\n");
		return 2;
	}
	if (argc > 2)
		turns = strtoul(argv[2], NULL, 0);
	CHECK(libc);
	find(&libc_own, libc);
	find(&shim, RTLD_DEFAULT);
	fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, SIZE));
	region = map_region(fd, SIZE);
	puts("{");
	measure("one_thread", region, ",");
	CHECK(!pthread_create(&t, NULL, nothing, NULL));
	CHECK(!pthread_join(t, NULL));
	measure("threads", region, "");
	puts("}");
	return 0;
}
