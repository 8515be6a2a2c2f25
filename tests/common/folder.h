/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A directory for the files of one run of a test program.  It goes with what is in it when the
 * program ends, also by a check that failed; a program has one of them.
 *
 *	folder_make(dir, sizeof(dir), folder_usual(), "memd");
 *
 * Who sets check_at_end calls folder_remove() there.  Children of the program remove nothing.
 */
#ifndef WEFT_TESTS_COMMON_FOLDER_H
#define WEFT_TESTS_COMMON_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/common/check.h"

/* Sockets are in some, whose names are no longer than 107 bytes. */
#define FOLDER_MAX	96

__attribute__((weak)) char folder_path[FOLDER_MAX];
__attribute__((weak)) pid_t folder_owner;

/* Where files of a run are. */
static inline const char *folder_usual(void)
{
	const char *path = getenv("TMPDIR");

	return path && *path ? path : "/tmp";
}

/* Where they are in memory, if there is such a place. */
static inline const char *folder_in_memory(void)
{
	return access("/dev/shm", W_OK) ? folder_usual() : "/dev/shm";
}

static inline int folder_remove_one(const char *path, const struct stat *st, int type,
				    struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	if (remove(path))
		fprintf(stderr, "%s stays: %s\n", path, strerror(errno));
	return 0;
}

static inline void folder_remove(void)
{
	if (*folder_path && folder_owner == getpid() && !access(folder_path, F_OK))
		nftw(folder_path, folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	*folder_path = 0;
}

/* @path becomes a new directory in @parent, with @name in its own. */
static inline void folder_make(char *path, size_t size, const char *parent, const char *name)
{
	int n = snprintf(folder_path, sizeof(folder_path), "%s/weft-%s.XXXXXX", parent, name);

	CHECK(n < (int)sizeof(folder_path) && n < (int)size,
	      "%s is too long for a directory of tests: set TMPDIR to a shorter one", parent);
	CHECK(mkdtemp(folder_path), "%s", folder_path);
	folder_owner = getpid();
	strcpy(path, folder_path);
	CHECK(!atexit(folder_remove));
	if (!check_at_end)
		check_at_end = folder_remove;
}

#endif /* WEFT_TESTS_COMMON_FOLDER_H */
