// SPDX-License-Identifier: GPL-2.0-only
/* A disk that remembers, see disk.h. */
#include "disk.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/common/check.h"

#define MAPPINGS	8u
#define FILES		256u	/* numbers of open files */
#define PAGE		4096u

struct disk *disk_recorded;
u64 disk_time;
bool disk_dead, disk_fails, disk_longer;
u32 disk_folders;
void (*disk_waited)(void);
void (*disk_synced)(u64 time, u64 from, u64 to);
bool (*disk_leaves_out)(bool all, u64 from);

static struct task {
	void *(*fn)(void *arg);
	void *arg;
	u64 time;
} tasks[DISK_TASKS];

static u64 task_time;	/* of what is done just now, 0: not a task */

static struct mapping {
	const u8 *p;
	size_t len;
	u64 at;
	int fd;
} mappings[MAPPINGS];

static u32 errors;		/* how often it has failed, */
static u32 heard[FILES];	/* and of how many of them each open file knows */

/* --- sectors ------------------------------------------------------------------- */

static bool disk_is(int fd)
{
	struct stat a, b;

	return disk_recorded && !fstat(fd, &a) && !fstat(disk_recorded->fd, &b) &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static struct sector *disk_sector(struct disk *d, u64 at)
{
	u32 low = 0, high = d->n, mid;
	struct sector *s;

	while (low < high) {
		mid = (low + high) / 2;
		if (d->sector[mid]->at == at)
			return d->sector[mid];
		if (d->sector[mid]->at < at)
			low = mid + 1;
		else
			high = mid;
	}
	s = calloc(1, sizeof(*s));
	CHECK(s && d->n < DISK_SECTORS_MAX);
	s->at = at;
	memmove(&d->sector[low + 1], &d->sector[low], (d->n - low) * sizeof(s));
	d->sector[low] = s;
	d->n++;
	return s;
}

static void add_content(struct sector *s, const u8 *data)
{
	struct content *c = malloc(sizeof(*c)), **p = &s->since;

	CHECK(c);
	for (; *p; p = &(*p)->next)
		;
	memcpy(c->data, data, DISK_SECTOR);
	c->time = disk_time;
	c->next = NULL;
	*p = c;
	s->lost = false;
}

/* What the kernel took for written is to be written again when something else of its page is. */
static void find_again(u64 from, u64 to)
{
	u8 data[DISK_SECTOR];
	u32 i;

	from -= from % PAGE;
	to += PAGE - 1 - (to - 1) % PAGE;
	for (i = 0; i < disk_recorded->n; i++) {
		struct sector *s = disk_recorded->sector[i];

		if (!s->lost || s->at < from || s->at >= to)
			continue;
		memset(data, 0, sizeof(data));
		CHECK(pread(disk_recorded->fd, data, sizeof(data), (off_t)s->at) >= 0);
		add_content(s, data);
	}
}

/* @data NULL: zeros. */
static void disk_record(const u8 *data, size_t len, u64 at)
{
	u64 from = at, to = at + len;

	disk_time++;
	while (len) {
		u32 in = (u32)(at % DISK_SECTOR);
		u32 n = DISK_SECTOR - in < len ? DISK_SECTOR - in : (u32)len;
		struct sector *s = disk_sector(disk_recorded, at - in);
		const struct content *last = s->since;
		u8 sector[DISK_SECTOR];

		while (last && last->next)
			last = last->next;
		memcpy(sector, last ? last->data : s->certain, DISK_SECTOR);
		if (data)
			memcpy(sector + in, data, n);
		else
			memset(sector + in, 0, n);
		/* that one has what came before, too, and is added below */
		if (!s->lost)
			add_content(s, sector);
		if (data)
			data += n;
		at += n;
		len -= n;
	}
	find_again(from, to);
}

/* It fails: the disk has none of that, nor will it be asked for it again. */
static void disk_lose(u64 from, u64 to)
{
	u32 i;

	errors++;
	for (i = 0; !disk_dead && i < disk_recorded->n; i++) {
		struct sector *s = disk_recorded->sector[i];

		while (s->at >= from && s->at < to && s->since) {
			struct content *c = s->since;

			s->lost = true;
			s->since = c->next;
			free(c);
		}
	}
}

static void disk_settle(u64 from, u64 to)
{
	u64 time = task_time ? task_time : disk_time;
	bool all = !from && to == ~0ull;
	u32 i;

	if (disk_leaves_out && disk_leaves_out(all, from)) {
		/* who waits for it believes in it */
		if (disk_synced)
			disk_synced(time, from, to);
		return;
	}
	for (i = 0; i < disk_recorded->n; i++) {
		struct sector *s = disk_recorded->sector[i];

		while (s->at >= from && s->at < to && s->since && s->since->time <= time) {
			struct content *c = s->since;

			memcpy(s->certain, c->data, DISK_SECTOR);
			s->since = c->next;
			free(c);
		}
	}
	if (disk_synced)
		disk_synced(time, from, to);
}

/* Return: what the kernel says to whoever waits with @fd. */
static int disk_sync(int fd, u64 from, u64 to)
{
	CHECK(fd >= 0 && fd < (int)FILES);
	if (disk_waited && !disk_dead)
		disk_waited();
	if (disk_fails)
		disk_lose(from, to);
	else if (!disk_dead)
		disk_settle(from, to);
	if (heard[fd] == errors)
		return 0;
	heard[fd] = errors;
	errno = EIO;
	return -1;
}

/* --- in the place of libc's ---------------------------------------------------- */

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;
	int fd;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	CHECK(fd < (int)FILES);
	/* what others have heard of is no news for one that comes later */
	if (fd >= 0)
		heard[fd] = errors;
	return fd;
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

ssize_t pwrite(int fd, const void *buf, size_t len, off_t at)
{
	bool ours = disk_is(fd);
	ssize_t n;

	if (ours && disk_dead)
		return (ssize_t)len;
	n = syscall(SYS_pwrite64, fd, buf, len, at);
	if (n > 0 && ours)
		disk_record(buf, (size_t)n, (u64)at);
	return n;
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off_t at)
{
	return pwrite(fd, buf, len, at);
}

int fallocate(int fd, int mode, off_t at, off_t len)
{
	bool ours = disk_is(fd);
	int ret;

	if (ours && disk_dead)
		return 0;
	ret = (int)syscall(SYS_fallocate, fd, mode, at, len);
	if (!ret && ours) {
		struct disk *d = disk_recorded;
		u32 i;

		CHECK_EQ(mode, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
		/* a sector that has nothing has zeros, and is none yet */
		disk_time++;
		for (i = 0; i < d->n; i++)
			if (d->sector[i]->at >= (u64)at && d->sector[i]->at < (u64)(at + len))
				disk_record(NULL, DISK_SECTOR, d->sector[i]->at);
	}
	return ret;
}

int fdatasync(int fd)
{
	struct stat st;

	disk_folders += !fstat(fd, &st) && S_ISDIR(st.st_mode);
	return disk_is(fd) ? disk_sync(fd, 0, ~0ull) : 0;
}

int fsync(int fd)
{
	return fdatasync(fd);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t at)
{
	static u32 next;
	/* as it is called by the number there is no sign of its errors but these */
	void *p = (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, at);

	if (fd >= 0 && p != MAP_FAILED && disk_is(fd))
		mappings[next++ % MAPPINGS] = (struct mapping){ p, len, (u64)at, fd };
	return p;
}

int msync(void *addr, size_t len, int flags)
{
	u32 i;

	(void)flags;
	for (i = 0; i < MAPPINGS; i++)
		if (mappings[i].p == addr && mappings[i].len == len) {
			mappings[i].p = NULL;
			if (disk_recorded)
				return disk_sync(mappings[i].fd, mappings[i].at,
						 mappings[i].at + len);
		}
	return 0;
}

void disk_forget_mappings(void)
{
	memset(mappings, 0, sizeof(mappings));
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
		   void *arg)
{
	u32 i;

	(void)attr;
	for (i = 0; i < DISK_TASKS && tasks[i].fn; i++)
		;
	CHECK(i < DISK_TASKS);
	tasks[i] = (struct task){ fn, arg, disk_time };
	*thread = i + 1;
	return 0;
}

bool disk_has_work(u32 i)
{
	return tasks[i].fn;
}

bool disk_is_working(void)
{
	return task_time;
}

void disk_work(u32 i)
{
	struct task t = tasks[i];

	if (!t.fn)
		return;
	tasks[i].fn = NULL;
	/* time 0: there was nothing to bring there */
	task_time = t.time ? t.time : 1;
	t.fn(t.arg);
	task_time = 0;
}

int pthread_join(pthread_t thread, void **ret)
{
	(void)ret;
	disk_work((u32)thread - 1);
	return 0;
}

/* --- disks as they may be ------------------------------------------------------- */

void disk_make(struct disk *d)
{
	memset(d, 0, sizeof(*d));
	d->fd = memfd_create("disk", MFD_CLOEXEC);
	CHECK(d->fd >= 0);
	snprintf(d->path, sizeof(d->path), "/proc/self/fd/%d", d->fd);
}

void disk_empty(struct disk *d)
{
	while (d->n) {
		struct sector *s = d->sector[--d->n];

		while (s->since) {
			struct content *c = s->since;

			s->since = c->next;
			free(c);
		}
		free(s);
	}
	CHECK(!ftruncate(d->fd, 0));
}

void disk_copy(const struct disk *from, struct disk *to)
{
	static u8 buf[65536];
	off_t at = 0;
	ssize_t n;

	disk_empty(to);
	while ((at = lseek(from->fd, at, SEEK_DATA)) >= 0) {
		n = pread(from->fd, buf, sizeof(buf), at);
		if (n <= 0)
			break;
		CHECK_EQ(syscall(SYS_pwrite64, to->fd, buf, n, at), n);
		at += n;
	}
}

void disk_load(struct disk *d)
{
	static const u8 none[DISK_SECTOR];
	u8 data[DISK_SECTOR];
	off_t at = 0;

	while ((at = lseek(d->fd, at, SEEK_DATA)) >= 0) {
		at -= at % DISK_SECTOR;
		if (pread(d->fd, data, DISK_SECTOR, at) <= 0)
			break;
		if (memcmp(data, none, DISK_SECTOR) != 0)
			memcpy(disk_sector(d, (u64)at)->certain, data, DISK_SECTOR);
		at += DISK_SECTOR;
	}
}

void disk_image(const struct disk *d, struct disk *to,
		u32 (*take)(const struct sector *s, u32 n))
{
	static const u8 none[DISK_SECTOR];
	static u8 run[128 * DISK_SECTOR];
	size_t len = 0;
	u64 from = 0;
	u32 i, n;

	CHECK(!ftruncate(to->fd, 0));
	for (i = 0; i < d->n; i++) {
		const struct sector *s = d->sector[i];
		const u8 *data = s->certain;
		struct content *c;

		for (c = s->since, n = 0; c; c = c->next)
			n++;
		if (n)
			for (n = take(s, n), c = s->since; n; n--, c = c->next)
				data = c->data;
		if (!memcmp(data, none, DISK_SECTOR))
			continue;
		if (len && (from + len != s->at || len == sizeof(run))) {
			CHECK_EQ(syscall(SYS_pwrite64, to->fd, run, len, from), len);
			len = 0;
		}
		if (!len)
			from = s->at;
		memcpy(run + len, data, DISK_SECTOR);
		len += DISK_SECTOR;
	}
	if (len)
		CHECK_EQ(syscall(SYS_pwrite64, to->fd, run, len, from), len);
	if (disk_longer && d->n)
		CHECK(!ftruncate(to->fd, (off_t)(d->sector[d->n - 1]->at + DISK_SECTOR)));
}
