// SPDX-License-Identifier: GPL-2.0-only
/* To the disk, see flush.h. */
#include "base/flush.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/wake.h"

int flush_write(int fd, const void *buf, size_t len, u64 at)
{
	const u8 *p = buf;
	ssize_t n;

	while (len) {
		n = pwrite(fd, p, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		at += (u64)n;
		len -= (size_t)n;
	}
	return 0;
}

int flush_part(int fd, u64 at, size_t len)
{
	u64 from = at - at % (u64)sysconf(_SC_PAGESIZE);
	void *p;
	int ret, err;

	/* fdatasync() would wait for all blocks that were written lately, too */
	len += (size_t)(at - from);
	p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)from);
	if (p == MAP_FAILED)
		return fdatasync(fd);
	ret = msync(p, len, MS_SYNC);
	err = errno;
	munmap(p, len);
	errno = err;
	return ret;
}

static void *run(void *arg)
{
	struct flush *f = arg;
	bool wakes = f->wakes;
	int wake = f->wake;

	f->err = (f->len ? flush_part(f->fd, f->at, f->len) : fdatasync(f->fd)) ? errno : 0;
	atomic_store(&f->over, true);
	if (wakes)
		wake_up(wake);
	return NULL;
}

int flush_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	char folder[PATH_MAX];
	int fd, ret;

	if (len >= sizeof(folder)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(folder, path, len);
	folder[len] = 0;
	fd = open(len ? folder : slash ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = fsync(fd);
	/* a file system that has no such thing is one that needs no such thing */
	if (ret && errno == EINVAL)
		ret = 0;
	close(fd);
	return ret;
}

int flush_open(struct flush *f, int fd, bool wakes)
{
	char path[32];

	/* not by its name, which may be another file's by now */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	f->opened = f->fd >= 0;
	if (!f->opened || !wakes)
		return f->opened ? 0 : -1;
	f->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	f->wakes = f->wake >= 0;
	return f->wakes ? 0 : -1;
}

void flush_close(struct flush *f)
{
	if (f->wakes)
		close(f->wake);
	f->wakes = false;
	if (f->opened)
		close(f->fd);
	f->opened = false;
}

void flush_begin(struct flush *f, u64 at, size_t len)
{
	f->running = true;
	f->at = at;
	f->len = len;
	atomic_store(&f->over, false);
	f->threaded = !pthread_create(&f->thread, NULL, run, f);
	if (!f->threaded)
		run(f);
}

int flush_end(struct flush *f)
{
	if (f->threaded)
		pthread_join(f->thread, NULL);
	f->running = false;
	f->threaded = false;
	errno = f->err;
	return f->err ? -1 : 0;
}
