// SPDX-License-Identifier: GPL-2.0-only
/*
 * What limits.sh asks of a rack, and is refused: prints how far it came, and the name of
 * the errno or "ok".
 *
 *	system-limits locks FILE		all kinds of locks that the kernel knows,
 *						a line each
 *	system-limits map FILE BYTES		loads from each page of a mapping
 *	system-limits read FILE BYTES		reads all of it with read()
 *	system-limits open FILE N [GO]		opens N locks of a region; with GO, keeps
 *						them until there is such a file
 *	system-limits take FILE FROM N		opens, takes to read and leaves N locks
 *	system-limits create DIR N BYTES	makes N regions of that size
 *	system-limits grow DIR N		makes a region for each that it reads of the
 *						directory, N at most
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/argument.h"
#include "weft.h"

#define PAGE		4096l
#define GO_TRIES	12000
#define GO_TRY_US	50000

static const char *error_name(int rc)
{
	return rc < 0 ? strerrorname_np(errno) : "ok";
}

static int say(const char *what, int rc)
{
	printf("%s %s\n", what, error_name(rc));
	return 0;
}

static int say_count(long n, int rc)
{
	printf("%ld %s\n", n, error_name(rc));
	fflush(stdout);
	return 0;
}

/* --- locks that the kernel knows ---------------------------------------------- */

static int record(int fd, int cmd, short type)
{
	struct flock fl = { .l_type = type, .l_whence = SEEK_SET, .l_len = 1 };

	return fcntl(fd, cmd, &fl);
}

static int all_kinds(int fd)
{
	say("flock-shared", flock(fd, LOCK_SH | LOCK_NB));
	say("flock-exclusive", flock(fd, LOCK_EX | LOCK_NB));
	say("flock-exclusive-wait", flock(fd, LOCK_EX));
	say("flock-unlock", flock(fd, LOCK_UN));
	say("setlk-read", record(fd, F_SETLK, F_RDLCK));
	say("setlk-write", record(fd, F_SETLK, F_WRLCK));
	say("setlkw-write", record(fd, F_SETLKW, F_WRLCK));
	say("getlk", record(fd, F_GETLK, F_WRLCK));
	say("setlk-unlock", record(fd, F_SETLK, F_UNLCK));
	say("ofd-setlk", record(fd, F_OFD_SETLK, F_WRLCK));
	say("ofd-setlkw", record(fd, F_OFD_SETLKW, F_WRLCK));
	say("ofd-getlk", record(fd, F_OFD_GETLK, F_WRLCK));
	say("ofd-unlock", record(fd, F_OFD_SETLK, F_UNLCK));
	say("lockf", lockf(fd, F_LOCK, 1));
	say("lockf-try", lockf(fd, F_TLOCK, 1));
	say("lockf-test", lockf(fd, F_TEST, 1));
	say("lease-read", fcntl(fd, F_SETLEASE, F_RDLCK));
	say("lease-write", fcntl(fd, F_SETLEASE, F_WRLCK));
	return 0;
}

/* --- contents -------------------------------------------------------------------- */

static int load_all(int fd, long bytes)
{
	const char *map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
	long at, found = 0;

	if (map == MAP_FAILED)
		return say_count(0, -1);
	for (at = 0; at < bytes; at += PAGE)
		found += !!*(const volatile char *)(map + at);
	return say_count(found, 0);
}

static int read_all(int fd, long bytes)
{
	static char page[PAGE];
	long at, found = 0;

	for (at = 0; at < bytes; at += PAGE) {
		if (read(fd, page, sizeof(page)) != PAGE)
			return say_count(found, -1);
		found += !!page[0];
	}
	return say_count(found, 0);
}

/* --- locks of weft ------------------------------------------------------------------ */

/* Not for ever. */
static void wait_for(const char *go)
{
	int i;

	for (i = 0; go && i < GO_TRIES && access(go, F_OK); i++)
		usleep(GO_TRY_US);
}

static int open_locks(int fd, long n, const char *go)
{
	struct weft_lock_open o;
	int rc = 0;
	long i;

	for (i = 0; i < n && !rc; i++) {
		o = (struct weft_lock_open){ .offset = (unsigned long)i };
		rc = ioctl(fd, WEFT_IOC_LOCK_OPEN, &o);
	}
	say_count(rc ? i - 1 : i, rc);
	wait_for(go);
	return 0;
}

static int take_locks(int fd, long from, long n)
{
	struct weft_lock_open o;
	struct weft_lock_op op;
	int rc = 0;
	long i;

	for (i = 0; i < n && !rc; i++) {
		o = (struct weft_lock_open){ .offset = (unsigned long)(from + i) };
		rc = ioctl(fd, WEFT_IOC_LOCK_OPEN, &o);
		op = (struct weft_lock_op){ .slot = o.slot, .mode = WEFT_LOCK_READ };
		if (!rc)
			rc = ioctl(fd, WEFT_IOC_LOCK_ACQUIRE, &op);
		if (!rc)
			rc = ioctl(fd, WEFT_IOC_LOCK_RELEASE, &op);
	}
	return say_count(rc ? i - 1 : i, rc);
}

/* --- regions -------------------------------------------------------------------------- */

static int create_regions(const char *dir, long n, long bytes)
{
	char name[4096];
	int fd, rc = 0;
	long i;

	for (i = 0; i < n && !rc; i++) {
		snprintf(name, sizeof(name), "%s/%d.%ld", dir, (int)getuid(), i);
		fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
		rc = fd < 0 ? -1 : ftruncate(fd, bytes);
		if (fd >= 0)
			close(fd);
	}
	return say_count(rc ? i - 1 : i, rc);
}

static int grow_directory(const char *dir, long most)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char name[4096];
	long n = 0;
	int fd = 0;

	if (!d)
		return say("opendir", -1);
	while (n < most && fd >= 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/grown.%ld", dir, n);
		fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (fd < 0)
			break;
		close(fd);
		n++;
	}
	say_count(n, fd < 0 ? -1 : 0);
	closedir(d);
	return 0;
}

static int with_file(int argc, char **argv)
{
	const char *what = argv[1];
	int fd = open(argv[2], O_RDWR);
	long number = argc > 3 ? (long)argument(argv[3], 0, INT64_MAX) : 0;

	if (fd < 0)
		return say("open", -1);
	if (!strcmp(what, "locks"))
		return all_kinds(fd);
	if (!strcmp(what, "map"))
		return load_all(fd, number);
	if (!strcmp(what, "read"))
		return read_all(fd, number);
	if (!strcmp(what, "open"))
		return open_locks(fd, number, argc > 4 ? argv[4] : NULL);
	if (!strcmp(what, "take") && argc > 4)
		return take_locks(fd, number, argument_u32(argv[4]));
	fprintf(stderr, "system-limits: what is '%s'?\n", what);
	return 2;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: system-limits locks|map|read|open|take|create|grow FILE [NUMBER...]\n");
		return 2;
	}
	if (!strcmp(argv[1], "create") && argc > 4)
		return create_regions(argv[2], argument_u32(argv[3]), argument_u32(argv[4]));
	if (!strcmp(argv[1], "grow") && argc > 3)
		return grow_directory(argv[2], argument_u32(argv[3]));
	return with_file(argc, argv);
}
