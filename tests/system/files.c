// SPDX-License-Identifier: GPL-2.0-only
/*
 * What programs of files.sh do with names and attributes, while others do the same.
 *
 *	system-files share FILE SECONDS		create or open the file, unlink it, ...:
 *						nothing fails but unlinking what is gone
 *	system-files own FILE SECONDS USER	the same as this user; "EXCL" behind it:
 *						with O_EXCL.  What is opened is the user's,
 *						and nobody else unlinks it
 *	system-files held FILE GO truncate|chmod VALUE [USER]
 *						open the file and read it, as this user; when
 *						there is a file GO, change it; prints the name
 *						of the errno, or "ok"
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/common/argument.h"

#define GO_TRIES	1200
#define GO_TRY_US	50000

static int complain(const char *what)
{
	fprintf(stderr, "system-files: %s: %s\n", what, strerror(errno));
	return 1;
}

static int become(const char *user)
{
	uid_t id = argument_u32(user);

	return setresgid(id, id, id) || setresuid(id, id, id) ? complain("be that user") : 0;
}

static int over(time_t end)
{
	return time(NULL) >= end;
}

static int share(const char *name, time_t end)
{
	unsigned long turns = 0;

	for (; !over(end); turns++) {
		int fd = open(name, O_CREAT | O_RDWR, 0600);

		if (fd < 0)
			return complain("open");
		close(fd);
		if (unlink(name) && errno != ENOENT)
			return complain("unlink");
	}
	printf("%lu turns\n", turns);
	return turns ? 0 : 1;
}

static int own(const char *name, time_t end, int excl)
{
	unsigned long mine = 0, refused = 0;
	struct stat st;

	while (!over(end)) {
		int fd = open(name, O_CREAT | O_RDWR | excl, 0600);

		if (fd < 0 && errno == (excl ? EEXIST : EACCES)) {
			refused++;
			continue;
		}
		if (fd < 0)
			return complain("open");
		if (fstat(fd, &st))
			return complain("fstat");
		if (st.st_uid != geteuid()) {
			fprintf(stderr, "system-files: opened what is user %u's\n", st.st_uid);
			return 1;
		}
		close(fd);
		if (unlink(name))
			return complain("unlink one's own");
		mine++;
	}
	printf("%lu times, refused %lu times\n", mine, refused);
	return mine && refused ? 0 : 1;
}

static int held(char **argv, const char *user)
{
	bool cut = !strcmp(argv[4], "truncate");
	uint64_t value;
	int fd, rc;
	char byte;

	if (cut)
		value = argument(argv[5], 0, INT64_MAX);
	else if (number_octal(argv[5], 0, 07777, &value))
		return complain("mode");
	if (user && become(user))
		return 1;
	fd = open(argv[2], O_RDWR);
	if (fd < 0 || read(fd, &byte, 1) < 0)
		return complain("open and read");
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < GO_TRIES && access(argv[3], F_OK); i++)
		usleep(GO_TRY_US);
	rc = cut ? ftruncate(fd, (off_t)value) : fchmod(fd, (mode_t)value);
	printf("%s\n", rc ? strerrorname_np(errno) : "ok");
	return 0;
}

int main(int argc, char **argv)
{
	time_t now = time(NULL);

	if (argc == 4 && !strcmp(argv[1], "share"))
		return share(argv[2], now + argument_u32(argv[3]));
	if (argc >= 5 && !strcmp(argv[1], "own"))
		return become(argv[4]) ? 1 :
		       own(argv[2], now + argument_u32(argv[3]), argc > 5 ? O_EXCL : 0);
	if (argc >= 6 && !strcmp(argv[1], "held"))
		return held(argv, argc > 6 ? argv[6] : NULL);
	fprintf(stderr, "usage: system-files share|own|held FILE ...\n");
	return 2;
}
