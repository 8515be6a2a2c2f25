// SPDX-License-Identifier: GPL-2.0-only
/*
 * What would get past the preload library: a plugin that is to be bound to the C library first,
 * and the locks of C11.  They and the locks of pthreads exclude each other.  And what does get past
 * it, as a program that is linked statically: what it has is not had here, nor the other way.
 *
 *	preload-past FILE [PLUGIN]
 *
 * FILE is one that is a region.  PLUGIN has plugin_trylock() and plugin_unlock(), which call
 * those of pthreads; without a slash it is looked for where this program's linker said.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>

#include "tests/common/child.h"
#include "tests/libweft/elsewhere.h"

static pthread_mutex_t *mutex;
static mtx_t *c11;
static cnd_t *changed;
static int (*libc_try)(pthread_mutex_t *m), (*libc_unlock)(pthread_mutex_t *m);
static int (*libc_timed)(pthread_mutex_t *m, const struct timespec *deadline);
static int (*try)(pthread_mutex_t *m), (*leave)(pthread_mutex_t *m);

static int try_mutex(void *m)
{
	int error = pthread_mutex_trylock(m);

	return error ? error : pthread_mutex_unlock(m);
}

static int try_c11(void *m)
{
	int result = mtx_trylock(m);

	return result == thrd_success ? mtx_unlock(m) : result;
}

static int try_plugin(void *m)
{
	int error = try(m);

	return error ? error : leave(m);
}

static void test_plugin(const char *name)
{
	void *plugin = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);

	CHECK(plugin, "%s", dlerror());
	*(void **)&try = dlsym(plugin, "plugin_trylock");
	*(void **)&leave = dlsym(plugin, "plugin_unlock");
	CHECK(try && leave);
	CHECK_EQ(try(mutex), 0);
	CHECK_EQ(elsewhere(try_mutex, mutex), EBUSY);
	CHECK_EQ(leave(mutex), 0);
	CHECK_EQ(pthread_mutex_lock(mutex), 0);
	CHECK_EQ(elsewhere(try_plugin, mutex), EBUSY);
	CHECK_EQ(pthread_mutex_unlock(mutex), 0);
	CHECK_EQ(elsewhere(try_plugin, mutex), 0);
}

static int wait_for_change(void *arg)
{
	int *value = arg;

	CHECK_EQ(mtx_lock(c11), thrd_success);
	while (!*value)
		CHECK_EQ(cnd_wait(changed, c11), thrd_success);
	CHECK_EQ(mtx_unlock(c11), thrd_success);
	return *value;
}

static void test_c11(void)
{
	struct timespec soon = clock_in_ms(CLOCK_REALTIME, 30);
	int value = 0, result;
	thrd_t t;

	CHECK_EQ(mtx_init(c11, mtx_timed), thrd_success);
	CHECK_EQ(mtx_lock(c11), thrd_success);
	CHECK_EQ(elsewhere(try_c11, c11), thrd_busy);
	/* It is one of pthreads, too. */
	CHECK_EQ(elsewhere(try_mutex, c11), EBUSY);
	CHECK_EQ(mtx_timedlock(c11, &soon), thrd_timedout);
	CHECK_EQ(mtx_unlock(c11), thrd_success);
	CHECK_EQ(pthread_mutex_lock((pthread_mutex_t *)c11), 0);
	CHECK_EQ(elsewhere(try_c11, c11), thrd_busy);
	CHECK_EQ(pthread_mutex_unlock((pthread_mutex_t *)c11), 0);
	CHECK_EQ(elsewhere(try_c11, c11), thrd_success);

	CHECK_EQ(cnd_init(changed), thrd_success);
	CHECK_EQ(thrd_create(&t, wait_for_change, &value), thrd_success);
	CHECK_EQ(mtx_lock(c11), thrd_success);
	soon = clock_in_ms(CLOCK_REALTIME, 30);
	CHECK_EQ(cnd_timedwait(changed, c11, &soon), thrd_timedout);
	value = 7;
	CHECK_EQ(cnd_broadcast(changed), thrd_success);
	CHECK_EQ(mtx_unlock(c11), thrd_success);
	CHECK_EQ(thrd_join(t, &result), thrd_success);
	CHECK_EQ(result, 7);
	mtx_destroy(c11);

	CHECK_EQ(mtx_init(c11, mtx_recursive), thrd_success);
	CHECK_EQ(mtx_lock(c11), thrd_success);
	CHECK_EQ(mtx_trylock(c11), thrd_success);
	CHECK_EQ(mtx_unlock(c11), thrd_success);
	CHECK_EQ(elsewhere(try_c11, c11), thrd_busy);
	CHECK_EQ(mtx_unlock(c11), thrd_success);
	CHECK_EQ(elsewhere(try_c11, c11), thrd_success);
	cnd_destroy(changed);
	mtx_destroy(c11);
}

static int try_past(void *m)
{
	return libc_try(m);
}

static int wait_past(void *m)
{
	struct timespec soon = clock_in_ms(CLOCK_REALTIME, 30);

	return libc_timed(m, &soon);
}

/* It is free, and stays so. */
static void check_free(pthread_mutex_t *m)
{
	CHECK_EQ(elsewhere(try_past, m), EBUSY);
	CHECK_EQ(elsewhere(try_mutex, m), 0);
	CHECK_EQ(elsewhere(wait_past, m), ETIMEDOUT);
	CHECK_EQ(elsewhere(try_mutex, m), 0);
	CHECK_EQ(elsewhere(try_past, m), EBUSY);
}

/* @m is new, or was last left past us. */
static void check_past(pthread_mutex_t *m)
{
	struct timespec soon = clock_in_ms(CLOCK_REALTIME, 30);

	CHECK_EQ(libc_try(m), 0);
	CHECK_EQ(elsewhere(try_mutex, m), EBUSY);
	CHECK_EQ(pthread_mutex_timedlock(m, &soon), ETIMEDOUT);
	CHECK_EQ(libc_unlock(m), 0);
	CHECK_EQ(pthread_mutex_lock(m), 0);
	CHECK_EQ(elsewhere(try_past, m), EBUSY);
	CHECK_EQ(elsewhere(wait_past, m), ETIMEDOUT);
	CHECK_EQ(pthread_mutex_unlock(m), 0);
	check_free(m);
}

static void test_past(pthread_mutex_t *m)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	pthread_mutexattr_t attr;
	int kind;

	*(void **)&libc_try = dlsym(libc, "pthread_mutex_trylock");
	*(void **)&libc_timed = dlsym(libc, "pthread_mutex_timedlock");
	*(void **)&libc_unlock = dlsym(libc, "pthread_mutex_unlock");
	CHECK(libc_try && libc_timed && libc_unlock);
	CHECK(!pthread_mutexattr_init(&attr));
	CHECK(!pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	/* Zeros are one, of before anybody knew of it. */
	check_past(m++);
	for (kind = PTHREAD_MUTEX_NORMAL; kind <= PTHREAD_MUTEX_ERRORCHECK; kind++) {
		CHECK(!pthread_mutexattr_settype(&attr, kind));
		CHECK_EQ(pthread_mutex_init(m, &attr), 0);
		check_free(m++);
	}
	CHECK(!pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
	CHECK_EQ(pthread_mutex_init(m, &attr), 0);
	check_free(m);
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	char *region;
	int fd;

	CHECK(argc >= 2);
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, 4096));
	region = map_region(fd, 4096);
	mutex = (pthread_mutex_t *)region;
	c11 = (mtx_t *)(region + 512);
	changed = (cnd_t *)(region + 1024);
	CHECK(!pthread_mutexattr_init(&attr));
	CHECK(!pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	CHECK_EQ(pthread_mutex_init(mutex, &attr), 0);
	test_c11();
	test_past((pthread_mutex_t *)(region + 2048));
	if (argc > 2)
		test_plugin(argv[2]);
	return check_result();
}
