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
 * All nodes add to the same words, without a lock, a few times a millisecond.  Each has two logs, of which DIR/mirror.NODE
 * is to have durability=mirror: it writes numbers to them in order, round and round, and calls
 * each safe when fsync() has returned.  That goes into NOTES, a file of the node itself, at
 * once.  Prints how much was done and the longest time in which nothing was, in milliseconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
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
#define ADDS	4	/* at a time */

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

/* All numbers of it, in a few calls: one each took half a minute where calls are slow. */
static void read_log(int log, unsigned long long number[PLACES])
{
	static _Thread_local char all[PLACES * APART];
	size_t len = 0, i;
	ssize_t n;

	do {
		n = pread(log, all + len, sizeof(all) - len, (off_t)len);
		if (n < 0)
			die("pread", errno);
		len += (size_t)n;
	} while (n && len < sizeof(all));
	memset(all + len, 0, sizeof(all) - len);
	for (i = 0; i < PLACES; i++)
		memcpy(&number[i], all + i * APART, sizeof(number[i]));
}

static unsigned long long last_of(int log)
{
	unsigned long long number[PLACES], last = 0;
	size_t i;

	read_log(log, number);
	for (i = 0; i < PLACES; i++)
		if (number[i] > last)
			last = number[i];
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

/* What a thread does, and the longest time in which it got nothing done. */
struct job {
	const char *dir;
	const char *stop;
	unsigned long long node;
	unsigned long long end;
	struct notes *notes;
	int which;
	unsigned long long done;
	unsigned long long longest;
};

static void add(const struct job *job, void *words, uint64_t *state)
{
	int i;

	for (i = 0; i < ADDS; i++) {
		(*word(words, random_below(state, WORDS)))++;
		job->notes->added++;
	}
	usleep(1000);
}

/* One thread for each log, and one for the words: what one waits for holds up no other. */
static void *do_job(void *arg)
{
	struct job *job = arg;
	bool is_log = job->which < LOGS;
	int fd = open_file(job->dir, is_log ? names[job->which] : "words",
			   is_log ? job->node : 0, 0);
	unsigned long long next = is_log ? last_of(fd) + 1 : 0, last = now_ms(), now;
	uint64_t state = random_stream(last, job->node);
	void *words = is_log ? NULL : map(fd);

	for (; last < job->end && access(job->stop, F_OK); job->done++) {
		if (is_log) {
			write_next(fd, next);
			job->notes->safe[job->which] = next++;
		} else {
			add(job, words, &state);
		}
		now = now_ms();
		if (now - last > job->longest)
			job->longest = now - last;
		last = now;
	}
	return NULL;
}

static void work(const char *dir, unsigned long long node, const char *notes_path,
		 unsigned long long seconds, const char *stop)
{
	struct notes *notes = open_notes(notes_path);
	unsigned long long longest = 0, done = 0;
	struct job job[LOGS + 1];
	pthread_t thread[LOGS + 1];
	int i, error;

	for (i = 0; i <= LOGS; i++) {
		job[i] = (struct job){
			.dir = dir, .stop = stop, .node = node, .notes = notes, .which = i,
			.end = now_ms() + seconds * 1000,
		};
		error = pthread_create(&thread[i], NULL, do_job, &job[i]);
		if (error)
			die("pthread_create", error);
	}
	for (i = 0; i <= LOGS; i++) {
		pthread_join(thread[i], NULL);
		done += job[i].done;
		if (job[i].longest > longest)
			longest = job[i].longest;
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
	unsigned long long number[PLACES];

	read_log(open_file(dir, name, node, 0), number);
	for (n = safe; n > first; n--)
		missing += number[n % PLACES] < n;
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
		fprintf(stderr, "usage: see the head of the source\n");
		return 2;
	}
	return 0;
}
