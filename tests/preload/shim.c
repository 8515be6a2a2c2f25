// SPDX-License-Identifier: GPL-2.0-only
/*
 * What only concerns the preload library: finding out what is mapped where, files
 * of its own among the program's, and what it refuses.
 *
 *	preload-shim DIRECTORY
 *
 * DIRECTORY is one in which files are regions.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/syscall.h>

#include "tests/common/child.h"
#include "tests/libweft/elsewhere.h"

#define PAGE	4096ul
#define SIZE	(64 * PAGE)

extern char **environ;

static const char *directory;
static int fd, other_fd;
static char *shared;

static int try_write(void *lock)
{
	int error = pthread_rwlock_trywrlock(lock);

	return error ? error : pthread_rwlock_unlock(lock);
}

/* The two addresses are one lock, or two. */
static void check_same(void *a, void *b, bool same)
{
	CHECK_EQ(pthread_rwlock_wrlock(a), 0);
	CHECK_EQ(elsewhere(try_write, b), same ? EBUSY : 0);
	CHECK_EQ(pthread_rwlock_unlock(a), 0);
	CHECK_EQ(elsewhere(try_write, b), 0);
}

static char *map_at(void *address, size_t length, int flags, int file, off_t offset)
{
	char *p = mmap(address, length, PROT_READ | PROT_WRITE, flags, file, offset);

	CHECK(p != MAP_FAILED);
	return p;
}

static void test_mappings(void)
{
	char *a = map_at(NULL, SIZE, MAP_SHARED, fd, 0);
	char *b = map_at(NULL, SIZE, MAP_SHARED, fd, 0);
	char *c = map_at(NULL, SIZE, MAP_SHARED_VALIDATE, fd, 16 * PAGE), *p;

	check_same(a + 8, b + 8, true);
	check_same(a + 17 * PAGE, c + PAGE, true);
	check_same(a + 8, b + 16, false);

	/* Something else in the middle: another region, then memory, then nothing. */
	CHECK(map_at(b + 4 * PAGE, PAGE, MAP_SHARED | MAP_FIXED, other_fd, 0) == b + 4 * PAGE);
	check_same(a + 4 * PAGE, b + 4 * PAGE, false);
	check_same(a + 3 * PAGE, b + 3 * PAGE, true);
	check_same(a + 5 * PAGE, b + 5 * PAGE, true);
	p = map_at(NULL, PAGE, MAP_SHARED, other_fd, 0);
	check_same(p, b + 4 * PAGE, true);
	CHECK(map_at(b + 4 * PAGE, PAGE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	      b + 4 * PAGE);
	check_same(a + 4 * PAGE, b + 4 * PAGE, false);
	CHECK_EQ(pthread_rwlock_wrlock((void *)(b + 4 * PAGE)), 0);
	/* An ordinary lock now, in memory. */
	CHECK(*(long *)(b + 4 * PAGE) || *(long *)(b + 4 * PAGE + 24));
	CHECK_EQ(pthread_rwlock_unlock((void *)(b + 4 * PAGE)), 0);
	CHECK(!munmap(b + 4 * PAGE, PAGE));
	CHECK(map_at(b + 4 * PAGE, PAGE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 4 * PAGE) ==
	      b + 4 * PAGE);
	check_same(a + 4 * PAGE, b + 4 * PAGE, true);
	CHECK(!munmap(p, PAGE));

	/* Failing to unmap, or to replace, changes nothing. */
	CHECK(munmap(b + 1, PAGE));
	CHECK(mmap(b, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, PAGE) ==
	      MAP_FAILED);
	check_same(a, b, true);

	/* A private mapping is a copy: its locks are this process's. */
	p = map_at(NULL, SIZE, MAP_PRIVATE, fd, 0);
	check_same(a, p, false);
	CHECK(!munmap(p, SIZE));
	CHECK(!munmap(c, SIZE));
	CHECK(!munmap(b, SIZE));
	CHECK(!munmap(a, SIZE));
}

static char *hold_place(char *address, int pages)
{
	char *p = map_at(address, (size_t)pages * PAGE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	CHECK(p == address);
	return p;
}

static void test_mremap(void)
{
	char *a = map_at(NULL, SIZE, MAP_SHARED, fd, 0);
	char *b = map_at(NULL, 4 * PAGE, MAP_SHARED, fd, 8 * PAGE), *p, *place, *other;

	/* Grows, at another place. */
	place = map_at(NULL, SIZE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	p = mremap(b, 4 * PAGE, 16 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	CHECK(p == place);
	/* Something else is where it was: at once, before others take the place. */
	b = hold_place(b, 4);
	check_same(a + 8 * PAGE, p, true);
	check_same(a + 20 * PAGE, p + 12 * PAGE, true);
	check_same(a + 8 * PAGE, b, false);
	/* A piece of the middle goes back there. */
	CHECK(mremap(p + 4 * PAGE, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, b) == b);
	hold_place(p + 4 * PAGE, 4);
	check_same(a + 12 * PAGE, b, true);
	check_same(a + 8 * PAGE, p, true);
	check_same(a + 16 * PAGE, p + 8 * PAGE, true);
	/* Shrinks. */
	CHECK(mremap(b, 4 * PAGE, PAGE, 0) == b);
	hold_place(b + PAGE, 3);
	check_same(a + 12 * PAGE, b, true);
	/* Once more, beside the old one. */
	CHECK(mremap(b, 0, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + 4 * PAGE) == p + 4 * PAGE);
	check_same(b, p + 4 * PAGE, true);
	/* What fails. */
	CHECK(mremap(b + 1, PAGE, PAGE, 0) == MAP_FAILED);
	CHECK(mremap(p + 8 * PAGE, 4 * PAGE, PAGE, ~0) == MAP_FAILED);
	CHECK(mremap(p + 8 * PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + 8 * PAGE) ==
	      MAP_FAILED);
	check_same(a + 16 * PAGE, p + 8 * PAGE, true);
	check_same(a + 19 * PAGE, p + 11 * PAGE, true);
	check_same(a + 12 * PAGE, b, true);
	/* Two pieces that follow each other are one. */
	place = map_at(NULL, 4 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	map_at(place, PAGE, MAP_SHARED | MAP_FIXED, fd, 24 * PAGE);
	map_at(place + PAGE, PAGE, MAP_SHARED | MAP_FIXED, fd, 25 * PAGE);
	CHECK(mremap(place, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place + 2 * PAGE) ==
	      place + 2 * PAGE);
	hold_place(place, 2);
	check_same(a + 24 * PAGE, place + 2 * PAGE, true);
	check_same(a + 25 * PAGE, place + 3 * PAGE, true);
	check_same(a + 24 * PAGE, place, false);
	/* Cut off from more than one, what is left stays. */
	other = map_at(NULL, PAGE, MAP_SHARED, other_fd, 0);
	map_at(place + 3 * PAGE, PAGE, MAP_SHARED | MAP_FIXED, other_fd, 0);
	check_same(other, place + 3 * PAGE, true);
	CHECK(mremap(place, 4 * PAGE, 3 * PAGE, 0) == place);
	hold_place(place + 3 * PAGE, 1);
	check_same(a + 24 * PAGE, place + 2 * PAGE, true);
	check_same(other, place + 3 * PAGE, false);
	CHECK(!munmap(other, PAGE));
	CHECK(mremap(place + 2 * PAGE, 2 * PAGE, PAGE, 0) == place + 2 * PAGE);
	check_same(a + 24 * PAGE, place + 2 * PAGE, true);
	CHECK(!munmap(place, 4 * PAGE));
	CHECK(!munmap(p, SIZE));
	CHECK(!munmap(b, 4 * PAGE));
	CHECK(!munmap(a, SIZE));
}

/* What the played kernel is to do from now on; nothing if there is none. */
static bool set(const char *name, bool value)
{
	bool *flag = dlsym(RTLD_DEFAULT, name);

	if (flag)
		*flag = value;
	return flag;
}

/* A call fails that was to take away several mappings: locks in all of them are what they were. */
static void test_failures(void)
{
	char *a = map_at(NULL, SIZE, MAP_SHARED, fd, 0);
	char *b = map_at(NULL, SIZE, MAP_SHARED, other_fd, 0);
	int gone = make_region(directory, "gone-shim", SIZE);
	char *c = map_at(NULL, SIZE, MAP_SHARED, gone, 0);
	char *place = map_at(NULL, 8 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[256];

	snprintf(path, sizeof(path), "%s/gone-shim", directory);
	CHECK(!unlink(path) && !close(gone));
	map_at(place, 2 * PAGE, MAP_SHARED | MAP_FIXED, fd, PAGE);
	map_at(place + 3 * PAGE, 2 * PAGE, MAP_SHARED | MAP_FIXED, other_fd, PAGE);
	CHECK(mremap(c + PAGE, 0, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place + 5 * PAGE) ==
	      place + 5 * PAGE);
	if (set("fake_keeps", true)) {
		CHECK(munmap(place + PAGE, 5 * PAGE) && errno == ENOMEM);
		set("fake_keeps", false);
	}
	CHECK(mremap(place, 8 * PAGE, PAGE, ~MREMAP_FIXED) == MAP_FAILED);
	CHECK(mmap(place, 8 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, INT_MAX, 0) == MAP_FAILED);
	check_same(a + PAGE, place, true);
	check_same(a + 2 * PAGE, place + PAGE, true);
	check_same(b + PAGE, place + 3 * PAGE, true);
	check_same(b + 2 * PAGE, place + 4 * PAGE, true);
	check_same(c + PAGE, place + 5 * PAGE, true);
	check_same(c + 2 * PAGE, place + 6 * PAGE, true);
	/* One that has failed half way: something else is there soon. */
	if (set("fake_loses", true)) {
		CHECK(mmap(place + PAGE, 3 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) ==
		      MAP_FAILED);
		set("fake_loses", false);
		CHECK((char *)syscall(SYS_mmap, place + PAGE, 3 * PAGE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0L) ==
		      place + PAGE);
		check_same(a + PAGE, place, true);
		check_same(a + 2 * PAGE, place + PAGE, false);
		check_same(b + PAGE, place + 3 * PAGE, false);
		check_same(b + 2 * PAGE, place + 4 * PAGE, true);
	}
	CHECK(!munmap(place, 8 * PAGE));
	CHECK(!munmap(a, SIZE));
	CHECK(!munmap(b, SIZE));
	CHECK(!munmap(c, SIZE));
}

/*
 * The only mapping of a region shrinks and grows where it is, while other threads
 * use the locks in what stays.
 */
static _Atomic int inside, stop;
static _Atomic unsigned long turns[2];

static void *use_lock(void *arg)
{
	_Atomic unsigned long *n = arg;
	pthread_mutex_t *m = (pthread_mutex_t *)shared;

	do {
		CHECK_EQ(pthread_mutex_lock(m), 0);
		CHECK_EQ(inside++, 0);
		CHECK_EQ(--inside, 0);
		CHECK_EQ(pthread_mutex_unlock(m), 0);
		++*n;
	} while (!stop);
	return NULL;
}

static _Atomic pid_t waiter;

static void *wait_for_lock(void *arg)
{
	waiter = gettid();
	CHECK_EQ(pthread_rwlock_wrlock((void *)(shared + 2000)), 0);
	return arg;
}

/* A thread waits meanwhile for what another process holds, and gets it. */
static void check_waiting(void)
{
	int held[2], go[2];
	pthread_t t;
	pid_t pid;
	char c;

	CHECK(!pipe(held) && !pipe(go));
	CHILD(pid, {
		CHECK_EQ(pthread_rwlock_wrlock((void *)(shared + 2000)), 0);
		CHECK_EQ(write(held[1], "x", 1), 1);
		CHECK_EQ(read(go[0], &c, 1), 1);
		CHECK_EQ(pthread_rwlock_unlock((void *)(shared + 2000)), 0);
		CHECK_EQ(read(go[0], &c, 1), 1);
		CHECK_EQ(pthread_rwlock_trywrlock((void *)(shared + 2000)), EBUSY);
	});
	CHECK_EQ(read(held[0], &c, 1), 1);
	CHECK(!pthread_create(&t, NULL, wait_for_lock, NULL));
	UNTIL(waiter && is_asleep(waiter));
	CHECK(mremap(shared, 4 * PAGE, 3 * PAGE, MREMAP_MAYMOVE) == shared);
	CHECK(mremap(shared, 3 * PAGE, 4 * PAGE, 0) == shared);
	CHECK_EQ(write(go[1], "x", 1), 1);
	CHECK(!pthread_join(t, NULL));
	CHECK_EQ(write(go[1], "x", 1), 1);
	child_ok(pid);
	CHECK_EQ(pthread_rwlock_unlock((void *)(shared + 2000)), 0);
	CHECK(!close(held[0]) && !close(held[1]) && !close(go[0]) && !close(go[1]));
}

static void test_mremap_in_use(void)
{
	int file = make_region(directory, "in-use-shim", SIZE), i;
	pthread_t t[2];

	shared = map_at(NULL, 4 * PAGE, MAP_SHARED, file, 0);
	check_waiting();
	for (i = 0; i < 2; i++)
		CHECK(!pthread_create(&t[i], NULL, use_lock, &turns[i]));
	/* Nothing else may take the room that is to be grown into. */
	UNTIL(turns[0] && turns[1]);
	for (i = 0; i < 200; i++) {
		CHECK(mremap(shared, 4 * PAGE, 3 * PAGE, i & 1 ? MREMAP_MAYMOVE : 0) == shared);
		CHECK(mremap(shared, 3 * PAGE, 4 * PAGE, 0) == shared);
		CHECK(mremap(shared, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE) == shared);
		/* What fails changes nothing. */
		CHECK(mremap(shared, 4 * PAGE, SIZE << 20, 0) == MAP_FAILED);
	}
	stop = 1;
	for (i = 0; i < 2; i++)
		CHECK(!pthread_join(t[i], NULL));
	CHECK(!munmap(shared, 4 * PAGE));
	close(file);
}

static void take(char *lock)
{
	CHECK_EQ(pthread_rwlock_wrlock((void *)lock), 0);
	CHECK_EQ(pthread_rwlock_unlock((void *)lock), 0);
	/* New ones need the file. */
	CHECK_EQ(pthread_rwlock_wrlock((void *)(lock + 3000)), 0);
	CHECK_EQ(pthread_rwlock_unlock((void *)(lock + 3000)), 0);
}

/* The program closes everything, and takes every number; locks go on. */
static void test_files(void)
{
	int before = open_files(), i;
	char *a = map_at(NULL, SIZE, MAP_SHARED, fd, 0);
	pid_t pid;

	CHECK_EQ(elsewhere(try_write, a), 0);
	CHECK_EQ(open_files(), before + 1);
	CHILD(pid, {
		for (i = 3; i < 2048; i++)
			close(i);
		take(a);
	});
	child_ok(pid);
	CHILD(pid, {
		CHECK(!close_range(3, ~0u, 0));
		take(a);
		closefrom(3);
		take(a);
	});
	child_ok(pid);
	CHILD(pid, {
		for (i = 3; i < 1500 && dup2(1, i) == i; i++)
			;
		/* As far as the limit allows. */
		CHECK(i > 970);
		take(a);
		for (i = 3; i < 1000; i++)
			CHECK(dup3(1, i, O_CLOEXEC) == i);
		take(a);
	});
	child_ok(pid);
	CHECK(!munmap(a, SIZE));
	CHECK_EQ(open_files(), before);
}

/* Files that were open when this program began. */
static int inherited;

/* What a program that is started finds open: no more than this one did. */
static void test_exec(void)
{
	char *a = map_at(NULL, SIZE, MAP_SHARED, fd, 0);
	char count[80];
	char *bare[] = { "sh", "-c", count, NULL };
	pid_t pid;

	snprintf(count, sizeof(count), "test $(ls /proc/self/fd | wc -l) -le %d", 4 + inherited);
	CHECK_EQ(elsewhere(try_write, a), 0);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(other_fd, F_SETFD, FD_CLOEXEC);
	CHECK(!posix_spawn(&pid, "/bin/sh", NULL, NULL, bare, environ));
	child_ok(pid);
	CHECK(!munmap(a, SIZE));
}

/*
 * A thread that is to be cancelled.  What it calls here are no cancellation points,
 * though files are opened and closed by it.
 */
static _Atomic int uncancelled;
static pid_t child_of_cancelled;

static void *map_cancelled(void *arg)
{
	char *a, *b;

	CHECK(!pthread_cancel(pthread_self()));
	a = map_at(NULL, SIZE, MAP_SHARED, other_fd, 0);
	uncancelled = 1;
	b = map_at(NULL, 4 * PAGE, MAP_SHARED, fd, 0);
	CHECK_EQ(pthread_rwlock_wrlock((void *)b), 0);
	CHECK_EQ(pthread_rwlock_unlock((void *)b), 0);
	CHECK(mremap(b, 4 * PAGE, PAGE, 0) == b);
	uncancelled = 2;
	CHILD(child_of_cancelled, {
		int state;

		/* It may be cancelled as before. */
		CHECK(!pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state));
		CHECK_EQ(state, PTHREAD_CANCEL_ENABLE);
		CHECK_EQ(pthread_rwlock_wrlock((void *)b), 0);
	});
	uncancelled = 3;
	CHECK(!munmap(a, SIZE));
	CHECK(!munmap(b, 4 * PAGE));
	uncancelled = 4;
	pthread_testcancel();
	return arg;
}

static void test_cancelled(void)
{
	pthread_t t;
	void *result;

	CHECK(!pthread_create(&t, NULL, map_cancelled, NULL));
	CHECK(!pthread_join(t, &result));
	CHECK_EQ(uncancelled, 4);
	CHECK(result == PTHREAD_CANCELED);
	child_ok(child_of_cancelled);
	CHECK(!munmap(map_at(NULL, SIZE, MAP_SHARED, fd, 0), SIZE));
}

/* The page of a semaphore goes while a thread waits for it: that fails as a look does. */
static sigjmp_buf gone;

static void leave_page(int signal)
{
	(void)signal;
	siglongjmp(gone, 1);
}

static void *cut(void *file)
{
	/* the process's first thread */
	UNTIL(is_asleep(getpid()));
	CHECK(!ftruncate(*(int *)file, PAGE));
	return NULL;
}

static void test_sem_gone(void)
{
	int file = make_region(directory, "cut-shim", 4 * PAGE);
	struct sigaction action = { .sa_handler = leave_page };
	char *a = map_at(NULL, 4 * PAGE, MAP_SHARED, file, 0);
	pthread_t t;
	pid_t pid;

	CHILD(pid, {
		sigset_t blocked;

		CHECK(!sigaction(SIGBUS, &action, NULL));
		if (!sigsetjmp(gone, 1)) {
			CHECK(!pthread_create(&t, NULL, cut, &file));
			sem_wait((sem_t *)(a + 2 * PAGE));
			CHECK(false);
		}
		CHECK(!sigprocmask(SIG_BLOCK, NULL, &blocked));
		CHECK(sigisemptyset(&blocked));
	});
	child_ok(pid);
	CHECK(!munmap(a, 4 * PAGE));
	close(file);
}

/* What cannot work says so. */
static void test_refused(void)
{
	char *a = map_at(NULL, SIZE, MAP_SHARED, fd, 0);
	pthread_mutex_t *m = (pthread_mutex_t *)(a + 512);
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec t = clock_in_ms(CLOCK_REALTIME, 10);
	pthread_mutexattr_t attr;
	int ceiling;

	CHECK(!pthread_mutexattr_init(&attr));
	CHECK(!pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT));
	CHECK_EQ(pthread_mutex_init(m, &attr), ENOTSUP);
	CHECK(!pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT));
	CHECK_EQ(pthread_mutex_init(m, &attr), ENOTSUP);
	CHECK_EQ(pthread_mutex_getprioceiling(m, &ceiling), EINVAL);
	CHECK_EQ(pthread_mutex_lock(m), 0);
	CHECK_EQ(pthread_cond_wait(&c, m), ENOTSUP);
	CHECK_EQ(pthread_cond_timedwait(&c, m, &t), ENOTSUP);
	CHECK_EQ(pthread_cond_clockwait(&c, m, CLOCK_REALTIME, &t), ENOTSUP);
	CHECK_EQ(pthread_mutex_destroy(m), EBUSY);
	CHECK_EQ(pthread_mutex_unlock(m), 0);
	CHECK_EQ(pthread_mutex_destroy(m), 0);
	CHECK(!munmap(a, SIZE));
}

/* A process that has mapped a region, but not locked anything, has children. */
static void test_children_first(void)
{
	char *a = map_at(NULL, SIZE, MAP_SHARED, fd, 0);
	struct timespec t = clock_in_ms(CLOCK_REALTIME, 60000);
	int ends[2];
	pid_t pid;
	char c;

	CHECK(!pipe(ends));
	CHILD(pid, {
		CHECK_EQ(pthread_rwlock_wrlock((void *)(a + 2000)), 0);
		CHECK_EQ(pthread_rwlock_rdlock((void *)(a + 2100)), 0);
		CHECK_EQ(write(ends[1], "x", 1), 1);
		pause();
	});
	CHECK_EQ(read(ends[0], &c, 1), 1);
	child_kill(pid);
	CHECK_EQ(pthread_rwlock_timedwrlock((void *)(a + 2000), &t), 0);
	CHECK_EQ(pthread_rwlock_unlock((void *)(a + 2000)), 0);
	CHECK_EQ(pthread_rwlock_timedwrlock((void *)(a + 2100), &t), 0);
	CHECK_EQ(pthread_rwlock_unlock((void *)(a + 2100)), 0);
	close(ends[0]);
	close(ends[1]);
	CHECK(!munmap(a, SIZE));
}

/* Destructors of the thread still use a robust mutex, in whatever order they run. */
static pthread_key_t early, late;
static pthread_mutex_t *robust;
static int in_destructor[2];

static void destroy(void *arg)
{
	long n = (long)arg;

	in_destructor[n] = pthread_mutex_unlock(&robust[n]);
}

static void *with_destructors(void *arg)
{
	CHECK(!pthread_setspecific(early, (void *)0));
	CHECK(!pthread_setspecific(late, (void *)1));
	CHECK_EQ(pthread_mutex_lock(&robust[1]), 0);
	CHECK_EQ(pthread_mutex_lock(&robust[2]), 0);
	return arg;
}

static void test_destructors(void)
{
	char *a = map_at(NULL, SIZE, MAP_SHARED, fd, 0);
	pthread_mutexattr_t attr;
	pthread_t t;
	int i;

	robust = (pthread_mutex_t *)(a + 1024);
	CHECK(!pthread_mutexattr_init(&attr));
	CHECK(!pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
	for (i = 0; i < 3; i++)
		CHECK_EQ(pthread_mutex_init(&robust[i], &attr), 0);
	CHECK(!pthread_key_create(&early, destroy));
	/* Our library's key lies between the two, if this is the first use of locks. */
	CHECK_EQ(pthread_mutex_lock(&robust[0]), 0);
	CHECK_EQ(pthread_mutex_unlock(&robust[0]), 0);
	CHECK(!pthread_key_create(&late, destroy));
	CHECK(!pthread_create(&t, NULL, with_destructors, NULL));
	CHECK(!pthread_join(t, NULL));
	CHECK_EQ(in_destructor[1], 0);
	CHECK_EQ(pthread_mutex_lock(&robust[1]), 0);
	CHECK_EQ(pthread_mutex_lock(&robust[2]), EOWNERDEAD);
	CHECK_EQ(pthread_mutex_consistent(&robust[2]), 0);
	CHECK_EQ(pthread_mutex_unlock(&robust[2]), 0);
	CHECK_EQ(pthread_mutex_unlock(&robust[1]), 0);
	CHECK(!munmap(a, SIZE));
}

/* Its name is gone before it is mapped. */
static void test_unlinked(void)
{
	char path[256], *a, *b;
	int file = make_region(directory, "gone", SIZE);
	pid_t pid;

	snprintf(path, sizeof(path), "%s/gone", directory);
	CHECK(!unlink(path));
	a = map_at(NULL, SIZE, MAP_SHARED, file, 0);
	b = map_at(NULL, SIZE, MAP_SHARED, file, 0);
	close(file);
	check_same(a, b, true);
	CHECK_EQ(pthread_rwlock_wrlock((void *)a), 0);
	CHILD(pid, {
		CHECK_EQ(pthread_rwlock_trywrlock((void *)a), EBUSY);
		check_same(a + 8, b + 8, true);
	});
	child_ok(pid);
	CHECK_EQ(pthread_rwlock_unlock((void *)a), 0);
	CHECK(!munmap(a, SIZE));
	CHECK(!munmap(b, SIZE));
}

/* Many pieces, and all of them taken away at once. */
static void test_many_pieces(void)
{
	char *a = map_at(NULL, SIZE, MAP_SHARED, fd, 0);
	char *p = map_at(NULL, 1000 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	for (i = 0; i < 1000; i++)
		map_at(p + i * PAGE, PAGE, MAP_SHARED | MAP_FIXED, i & 1 ? fd : other_fd,
		       (off_t)(i % 64 * PAGE));
	for (i = 1; i < 1000; i += 2)
		check_same(p + i * PAGE + 64, a + i % 64 * PAGE + 64, true);
	CHECK(!munmap(p + 100 * PAGE, 800 * PAGE));
	hold_place(p + 100 * PAGE, 800);
	check_same(p + 99 * PAGE, a + 99 % 64 * PAGE, true);
	check_same(p + 901 * PAGE, a + 901 % 64 * PAGE, true);
	map_at(p, 1000 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (i = 1; i < 1000; i += 2)
		check_same(p + i * PAGE + 64, a + i % 64 * PAGE + 64, false);
	CHECK(!munmap(p, 1000 * PAGE));
	CHECK(!munmap(a, SIZE));
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: preload-shim DIRECTORY\n");
		return 2;
	}
	check_limit(400);
	inherited = open_files();
	directory = argv[1];
	fd = make_region(directory, "shim", SIZE);
	other_fd = make_region(directory, "other-shim", SIZE);
	test_children_first();
	test_destructors();
	test_mappings();
	test_mremap();
	test_failures();
	test_mremap_in_use();
	test_cancelled();
	test_sem_gone();
	test_files();
	test_exec();
	test_refused();
	test_unlinked();
	test_many_pieces();
	return check_result();
}
