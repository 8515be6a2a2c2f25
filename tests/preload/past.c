// SPDX-License-Identifier: GPL-2.0-only
/*
 * What would get past the preload library: a plugin that is to be bound to the C library first,
 * and the locks of C11.  They and the locks of pthreads exclude each other.
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
	if (argc > 2)
		test_plugin(argv[2]);
	return check_result();
}
