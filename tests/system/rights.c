// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who has a mapping that may be written has the right to its locks: the file need not be opened
 * again, by a user who may not, or by a name that is gone.  For tests/system/ownerdead.sh, as
 * root, with libweft-preload.so, which has libweft's functions, too.
 *
 *	system-rights PREFIX
 *
 * PREFIX: of the names of files that are not there yet.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "tests/common/child.h"
#include "tools/libweft/lock.h"
#include "weft.h"

#define NOBODY		65534
#define SIZE		4096
#define PATIENCE_MS	(20000L * check_scale())

static const char *prefix;

static int make(const char *name, mode_t mode)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s-%s", prefix, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, mode);
	CHECK(fd >= 0, "%s: %s", path, strerror(errno));
	CHECK(!ftruncate(fd, SIZE));
	return fd;
}

static void give_up_rights(void)
{
	CHECK(!setresgid(NOBODY, NOBODY, NOBODY));
	CHECK(!setresuid(NOBODY, NOBODY, NOBODY));
}

static void *map(int fd)
{
	void *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static void init_robust(pthread_mutex_t *m)
{
	pthread_mutexattr_t attr;

	CHECK(!pthread_mutexattr_init(&attr));
	CHECK(!pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
	CHECK_EQ(pthread_mutex_init(m, &attr), 0);
}

static void use_mutex(pthread_mutex_t *m)
{
	CHECK_EQ(pthread_mutex_lock(m), 0);
	CHECK_EQ(pthread_mutex_unlock(m), 0);
}

/* One's own file, whose mode lets nobody write it. */
static void own_read_only(void)
{
	give_up_rights();
	use_mutex(map(make("own", 0444)));
}

/* Root's file, which was open before; and once more in a child, which inherits that. */
static void others_open(void)
{
	int fd = make("open", 0600);
	pthread_mutex_t *m;
	pid_t pid;

	give_up_rights();
	m = map(fd);
	close(fd);
	use_mutex(m);
	CHECK_EQ(pthread_mutex_lock(m), 0);
	CHILD(pid, {
		CHECK_EQ(pthread_mutex_trylock(m), EBUSY);
		CHECK_EQ(pthread_mutex_unlock(m), EPERM);
	});
	child_ok(pid);
	CHECK_EQ(pthread_mutex_unlock(m), 0);
	CHILD(pid, use_mutex(m));
	child_ok(pid);
}

/* A lock file of @fd, or of what is mapped at @address, may only be read. */
static void check_reads(int fd, const void *address)
{
	int own = ioctl(fd, WEFT_IOC_LOCK_FILE, address);

	CHECK(own >= 0);
	CHECK_EQ(fcntl(own, F_GETFL) & O_ACCMODE, O_RDONLY);
	CHECK(write(own, "x", 1) < 0 && errno == EBADF);
	CHECK(!close(own));
}

/* What may only be read gives no right to write. */
static void open_to_read(void)
{
	int fd = make("read", 0644), ro;
	char path[256];
	void *p;

	close(fd);
	snprintf(path, sizeof(path), "%s-read", prefix);
	give_up_rights();
	ro = open(path, O_RDONLY);
	CHECK(ro >= 0);
	p = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, ro, 0);
	CHECK(p != MAP_FAILED);
	CHECK_EQ(pthread_rwlock_rdlock(p), 0);
	CHECK_EQ(pthread_rwlock_unlock(p), 0);
	CHECK_EQ(pthread_rwlock_wrlock(p), EACCES);
	check_reads(ro, NULL);
	check_reads(ro, p);
	CHECK(ioctl(ro, WEFT_IOC_LOCK_FILE, path) < 0 && errno == EINVAL);
}

/*
 * Mapped past the library, so that the file has to be found by its mapping: which is all that
 * is left of it.
 */
static void only_mapped(void)
{
	int (*wrlock)(weft_rwlock_t *lock), (*unlock)(weft_rwlock_t *lock), fd = make("gone", 0600);
	char path[256];
	void *p;

	*(void **)&wrlock = dlsym(RTLD_DEFAULT, "weft_rwlock_wrlock");
	*(void **)&unlock = dlsym(RTLD_DEFAULT, "weft_rwlock_unlock");
	CHECK(wrlock && unlock);
	p = (void *)syscall(SYS_mmap, NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
	CHECK(p != MAP_FAILED);
	close(fd);
	snprintf(path, sizeof(path), "%s-gone", prefix);
	CHECK(!unlink(path));
	give_up_rights();
	CHECK_EQ(wrlock(p), 0);
	CHECK_EQ(unlock(p), 0);
}

static void tell(int fd)
{
	CHECK_EQ(write(fd, "x", 1), 1);
}

static void hear(int fd)
{
	char c;

	CHECK_EQ(read(fd, &c, 1), 1);
}

/* Workers that got the open file from their parent: one is killed, the next one hears it. */
static void worker_dies(void)
{
	int fd = make("workers", 0600), from[2], to[2];
	struct timespec end;
	pthread_mutex_t *m;
	pid_t holder, next;

	CHECK(!pipe(from) && !pipe(to));
	CHILD(holder, {
		end_with_parent();
		give_up_rights();
		m = map(fd);
		init_robust(m);
		CHECK_EQ(pthread_mutex_lock(m), 0);
		tell(from[1]);
		for (;;)
			pause();
	});
	hear(from[0]);
	CHILD(next, {
		end_with_parent();
		give_up_rights();
		m = map(fd);
		CHECK_EQ(pthread_mutex_trylock(m), EBUSY);
		tell(from[1]);
		hear(to[0]);
		end = clock_in_ms(CLOCK_REALTIME, PATIENCE_MS);
		CHECK_EQ(pthread_mutex_timedlock(m, &end), EOWNERDEAD);
		CHECK_EQ(pthread_mutex_consistent(m), 0);
		CHECK_EQ(pthread_mutex_unlock(m), 0);
		use_mutex(m);
	});
	hear(from[0]);
	child_kill(holder);
	tell(to[1]);
	child_ok(next);
}

int main(int argc, char **argv)
{
	static void (*const parts[])(void) = {
		own_read_only, others_open, open_to_read, only_mapped, worker_dies,
	};
	unsigned int i;
	pid_t pid;

	CHECK(argc == 2);
	prefix = argv[1];
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		CHILD(pid, parts[i]());
		child_ok(pid);
	}
	return check_result();
}
