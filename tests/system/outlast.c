// SPDX-License-Identifier: GPL-2.0-only
/*
 * outlast: programs at work while memory blades die, and their twins go on.
 *
 *	outlast make DIR NODES			the files, once
 *	outlast work DIR NODE NOTES SECONDS STOP	until STOP is there, SECONDS at most
 *	outlast notes NOTES			what work has noted there: words added,
 *						numbers that were safe in the two logs
 *	outlast words DIR			the sum of the words
 *	outlast check DIR NODE LOG SAFE		what of LOG (mirror, plain) up to SAFE is not there
 *
 * All nodes add to the same words, without a lock.  Each has two logs, of which DIR/mirror.NODE
 * is to have durability=mirror: it writes numbers to them in order, round and round, and calls
 * each safe when fsync() has returned.  That goes into NOTES, a file of the node itself, at
 * once.  Prints how much was done and the longest time in which nothing was, in milliseconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/argument.h"
#include "tools/common/clock.h"
#include "tools/common/random.h"

#define PAGE	4096
#define WORDS	8
#define APART	64	/* bytes between words, and of a number in a log */
#define PLACES	4096	/* numbers in a log, then it begins again */
#define ADDS	4	/* for each number */

enum { MIRROR, PLAIN, LOGS };

static const char * const names[LOGS] = { "mirror", "plain" };

struct notes {
	_Atomic unsigned long long added;
	_Atomic unsigned long long safe[LOGS];
};

static void die(const char *what, int error)
{
	fprintf(stderr, "outlast: %s: %s\n", what, strerror(error));
	exit(1);
}

static int open_file(const char *dir, const char *name, unsigned long long node, int flags)
{
	char path[256];
	int fd;

	if (node)
		snprintf(path, sizeof(path), "%s/%s.%llu", dir, name, node);
	else
		snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
	if (fd < 0)
		die(path, errno);
	return fd;
}

static void *map(int fd)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die("mmap", errno);
	return p;
}

static struct notes *open_notes(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, PAGE))
		die(path, errno);
	return map(fd);
}

static _Atomic unsigned long long *word(void *words, uint64_t i)
{
	return (_Atomic unsigned long long *)((char *)words + i * APART);
}

/* --- logs -------------------------------------------------------------------------- */

static unsigned long long number_at(int log, unsigned long long place)
{
	unsigned long long n = 0;

	if (pread(log, &n, sizeof(n), (off_t)(place * APART)) < 0)
		die("pread", errno);
	return n;
}

static unsigned long long last_of(int log)
{
	unsigned long long place, n, last = 0;

	for (place = 0; place < PLACES; place++) {
		n = number_at(log, place);
		if (n > last)
			last = n;
	}
	return last;
}

static void write_next(int log, unsigned long long n)
{
	if (pwrite(log, &n, sizeof(n), (off_t)(n % PLACES * APART)) != sizeof(n))
		die("pwrite", errno);
	if (fsync(log))
		die("fsync", errno);
}

/* --- commands ------------------------------------------------------------------------ */

static void make(const char *dir, unsigned long long nodes)
{
	unsigned long long node;
	int i, fd;

	for (node = 0; node <= nodes; node++) {
		for (i = 0; i < (node ? LOGS : 1); i++) {
			fd = open_file(dir, node ? names[i] : "words", node, O_CREAT);
			if (ftruncate(fd, node ? PLACES * APART : PAGE) || fsync(fd))
				die("making the files", errno);
			close(fd);
		}
	}
}

static void work(const char *dir, unsigned long long node, const char *notes_path,
		 unsigned long long seconds, const char *stop)
{
	unsigned long long end = now_ms() + seconds * 1000, last, now, longest = 0, done = 0;
	struct notes *notes = open_notes(notes_path);
	void *words = map(open_file(dir, "words", 0, 0));
	uint64_t state = random_stream(now_ns(), node);
	unsigned long long next[LOGS];
	int log[LOGS], i;

	for (i = 0; i < LOGS; i++) {
		log[i] = open_file(dir, names[i], node, 0);
		next[i] = last_of(log[i]) + 1;
	}
	for (last = now_ms(); last < end && access(stop, F_OK); done++) {
		for (i = 0; i < ADDS; i++) {
			(*word(words, random_below(&state, WORDS)))++;
			notes->added++;
		}
		for (i = 0; i < LOGS; i++) {
			write_next(log[i], next[i]);
			notes->safe[i] = next[i]++;
		}
		now = now_ms();
		if (now - last > longest)
			longest = now - last;
		last = now;
	}
	printf("done %llu longest_ms %llu\n", done, longest);
}

static void show_words(const char *dir)
{
	void *words = map(open_file(dir, "words", 0, 0));
	unsigned long long sum = 0;
	int i;

	for (i = 0; i < WORDS; i++)
		sum += *word(words, (uint64_t)i);
	printf("%llu\n", sum);
}

/* Numbers up to @safe that are neither there nor overwritten by later ones. */
static void check(const char *dir, unsigned long long node, const char *name,
		  unsigned long long safe)
{
	unsigned long long missing = 0, n, first = safe > PLACES ? safe - PLACES : 0;
	int log = open_file(dir, name, node, 0);

	for (n = safe; n > first; n--)
		missing += number_at(log, n % PLACES) < n;
	printf("missing %llu of %llu\n", missing, safe - first);
}

int main(int argc, char **argv)
{
	const struct notes *notes;

	if (argc == 4 && !strcmp(argv[1], "make")) {
		make(argv[2], argument(argv[3], 1, 32));
	} else if (argc == 7 && !strcmp(argv[1], "work")) {
		work(argv[2], argument(argv[3], 1, 32), argv[4], argument(argv[5], 1, 86400),
		     argv[6]);
	} else if (argc == 3 && !strcmp(argv[1], "notes")) {
		notes = open_notes(argv[2]);
		printf("%llu %llu %llu\n", notes->added, notes->safe[MIRROR], notes->safe[PLAIN]);
	} else if (argc == 3 && !strcmp(argv[1], "words")) {
		show_words(argv[2]);
	} else if (argc == 6 && !strcmp(argv[1], "check")) {
		check(argv[2], argument(argv[3], 1, 32), argv[4], argument(argv[5], 0, UINT32_MAX));
	} else {
		fprintf(stderr, "usage: see the head of tests/system/outlast.c\n");
		return 2;
	}
	return 0;
}
