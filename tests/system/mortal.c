// SPDX-License-Identifier: GPL-2.0-only
/*
 * mortal: processes of several nodes change records under robust mutexes, while nodes die.
 * A plain POSIX program: with libweft-preload.so its mutexes are locks of weft.
 *
 *	mortal make FILE				the records, if they are not there
 *	mortal work FILE NODE SECONDS STOP [SEED]	until STOP is there, SECONDS at most
 *	mortal look FILE				take each mutex, print each record
 *
 * A record is two copies of a number, at both ends of a block of its own, and the name of
 * who is at work on it.  Whoever gets the mutex without being told that its owner died must
 * find nobody at work, and both copies the same: so no two are inside at a time, and nobody
 * sees what a dead one had half done.  Who is told mends the record.  A number that is less
 * than the one that this process last saw there is counted: it was lost with a node.
 *
 * Prints the longest time in which this process got no mutex, in milliseconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/common/argument.h"
#include "tools/common/clock.h"
#include "tools/common/random.h"

#define RECORDS	16
#define BLOCK	4096
#define READY	0x6d6f7274616cull
#define REST_US	1000	/* between two records, about */
#define LIMIT	30	/* seconds to wait for who makes the file */

struct record {
	volatile unsigned long long first;
	volatile unsigned long long inside;
	char between[BLOCK - 3 * sizeof(unsigned long long)];
	volatile unsigned long long second;
};

struct file {
	_Atomic unsigned long long ready;
	char unused[BLOCK - sizeof(unsigned long long)];
	struct {
		pthread_mutex_t mutex;
		char unused[256 - sizeof(pthread_mutex_t)];
	} lock[RECORDS];
	struct record record[RECORDS];
};

static struct file *file;
static unsigned long long node, told, lost, worked;

static void die(const char *what, int error)
{
	fprintf(stderr, "mortal: node %llu: %s: %s\n", node, what, strerror(error));
	exit(1);
}

static void wrong(const char *what, int i)
{
	const struct record *r = &file->record[i];

	fprintf(stderr, "mortal: WRONG: node %llu: record %d: %s (%llu, %llu, inside %llu)\n",
		node, i, what, r->first, r->second, r->inside);
	exit(1);
}

/* Node 1 makes it, the others wait for that. */
static void open_file(const char *path)
{
	int fd = open(path, O_RDWR | (node == 1 ? O_CREAT : 0), 0600), i;
	unsigned long long end = now_ms() + LIMIT * 1000;
	pthread_mutexattr_t attr;
	struct stat st;

	while (fd < 0 && errno == ENOENT && now_ms() < end) {
		usleep(20000);
		fd = open(path, O_RDWR);
	}
	if (fd < 0)
		die(path, errno);
	if (node == 1 && ftruncate(fd, sizeof(*file)))
		die("ftruncate", errno);
	while (!fstat(fd, &st) && st.st_size < (off_t)sizeof(*file) && now_ms() < end)
		usleep(20000);
	file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		die("mmap", errno);
	if (node == 1 && file->ready != READY) {
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
		for (i = 0; i < RECORDS; i++)
			pthread_mutex_init(&file->lock[i].mutex, &attr);
		file->ready = READY;
		/* what no node has modified, none can lose */
		if (msync(file, sizeof(*file), MS_SYNC))
			die("msync", errno);
	}
	while (file->ready != READY) {
		if (now_ms() > end)
			die("nobody makes the file", ETIMEDOUT);
		usleep(20000);
	}
}

/* Return: 1: the owner died, and the record is mended. */
static int take(int i)
{
	struct record *r = &file->record[i];
	int error = pthread_mutex_lock(&file->lock[i].mutex);

	if (error == EOWNERDEAD) {
		told++;
		r->inside = 0;
		r->first = r->second = r->first > r->second ? r->first : r->second;
		error = pthread_mutex_consistent(&file->lock[i].mutex);
		if (error)
			die("pthread_mutex_consistent", error);
		return 1;
	}
	if (error)
		die("pthread_mutex_lock", error);
	if (r->inside)
		wrong("somebody else is at work on it", i);
	if (r->first != r->second)
		wrong("half done, and nobody said so", i);
	return 0;
}

static void leave(int i)
{
	int error = pthread_mutex_unlock(&file->lock[i].mutex);

	if (error)
		die("pthread_mutex_unlock", error);
}

static void work_at(int i)
{
	static unsigned long long seen[RECORDS];
	struct record *r = &file->record[i];
	unsigned long long now;

	take(i);
	if (r->first < seen[i])
		lost++;
	r->inside = node;
	now = r->first + 1;
	r->first = now;
	/* long enough for who is inside at the same time to be seen */
	for (int k = 0; k < 50; k++)
		__asm__ volatile("" ::: "memory");
	if (r->inside != node)
		wrong("somebody else came in", i);
	r->second = now;
	r->inside = 0;
	seen[i] = now;
	worked++;
	leave(i);
}

static void work(unsigned long long seconds, const char *stop, uint64_t state)
{
	unsigned long long end = now_ms() + seconds * 1000, last = now_ms(), longest = 0, now;

	while ((now = now_ms()) < end && (worked % 64 || access(stop, F_OK))) {
		work_at((int)random_below(&state, RECORDS));
		now = now_ms();
		if (now - last > longest)
			longest = now - last;
		/* without it the kernels of a rack on two processors do nothing else */
		usleep((useconds_t)random_below(&state, 2 * REST_US));
		last = now_ms();
	}
	printf("worked %llu told %llu lost %llu longest_ms %llu\n", worked, told, lost, longest);
}

static void look(void)
{
	int i;

	for (i = 0; i < RECORDS; i++) {
		take(i);
		printf("%d %llu\n", i, file->record[i].first);
		leave(i);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && (!strcmp(argv[1], "look") || !strcmp(argv[1], "make"))) {
		node = !strcmp(argv[1], "make");
		open_file(argv[2]);
		look();
		return 0;
	}
	if ((argc != 6 && argc != 7) || strcmp(argv[1], "work")) {
		fprintf(stderr, "usage: mortal work FILE NODE SECONDS STOP [SEED] | mortal make|look FILE\n");
		return 2;
	}
	node = argument(argv[3], 1, 32);
	open_file(argv[2]);
	work(argument(argv[4], 1, 86400), argv[5],
	     random_stream(argc > 6 ? argument_u32(argv[6]) : 1, node));
	return 0;
}
