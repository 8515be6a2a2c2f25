// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that keeps files open and mapped, and does with them what it is told:
 *
 *	system-keeper ORDERS ANSWERS FILE...
 *
 * ORDERS and ANSWERS are pipes with names, made by the caller.  An order is a line:
 *
 *	load N OFFSET LENGTH		by the mapping of the Nth FILE, from 0
 *	store N OFFSET LENGTH LETTER	so, too
 *	read N OFFSET LENGTH		by pread()
 *	lock N OFFSET LENGTH		a pthread_rwlock_t is made there, and taken to write;
 *					LENGTH is nothing
 *	sync N OFFSET LENGTH		fsync()
 *
 * The answer is a line as well: the letter that all of it is, "mixed", "done", "SIGBUS", or the
 * error in words.  It ends when nobody has given an order for a quarter of an hour.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX	8
#define BYTES_MAX	(64u << 10)	/* of an order */
#define IDLE_S		900

struct kept {
	int fd;
	size_t size;
	char *map;
};

static struct kept kept[FILES_MAX];
static int n_kept;
static sigjmp_buf denied;

static void on_sigbus(int sig)
{
	siglongjmp(denied, sig);
}

static int keep(const char *path)
{
	struct kept *k = &kept[n_kept++];
	struct stat st;

	k->fd = open(path, O_RDWR);
	if (k->fd < 0 || fstat(k->fd, &st))
		return -1;
	k->size = (size_t)st.st_size;
	k->map = mmap(NULL, k->size, PROT_READ | PROT_WRITE, MAP_SHARED, k->fd, 0);
	return k->map == MAP_FAILED ? -1 : 0;
}

static void letter(FILE *out, const char *data, size_t n)
{
	size_t i;

	for (i = 1; i < n && data[i] == data[0]; i++)
		;
	if (i < n)
		fputs("mixed\n", out);
	else
		fprintf(out, "%c\n", data[0]);
}

static int lock(pthread_rwlock_t *l)
{
	pthread_rwlockattr_t shared;
	int err;

	if (pthread_rwlockattr_init(&shared) ||
	    pthread_rwlockattr_setpshared(&shared, PTHREAD_PROCESS_SHARED))
		return EINVAL;
	err = pthread_rwlock_init(l, &shared);
	return err ? err : pthread_rwlock_wrlock(l);
}

static void say_how(FILE *out, int err)
{
	fprintf(out, "%s\n", err ? strerror(err) : "done");
}

static void obey(const char *order, FILE *out)
{
	static char data[BYTES_MAX];
	size_t offset, length;
	const struct kept *k;
	char verb[8], to = 0;
	ssize_t got;
	int n;

	if (sscanf(order, "%7s %d %zu %zu %c", verb, &n, &offset, &length, &to) < 4 || n < 0 ||
	    n >= n_kept || !length || length > BYTES_MAX || offset > kept[n].size ||
	    length > kept[n].size - offset) {
		fputs("what is that?\n", out);
		return;
	}
	k = &kept[n];
	if (sigsetjmp(denied, 1)) {
		fputs("SIGBUS\n", out);
	} else if (!strcmp(verb, "load")) {
		memcpy(data, k->map + offset, length);
		letter(out, data, length);
	} else if (!strcmp(verb, "store")) {
		memset(k->map + offset, to, length);
		say_how(out, 0);
	} else if (!strcmp(verb, "lock")) {
		say_how(out, lock((pthread_rwlock_t *)(k->map + offset)));
	} else if (!strcmp(verb, "sync")) {
		say_how(out, fsync(k->fd) ? errno : 0);
	} else {
		got = pread(k->fd, data, length, (off_t)offset);
		if (got < 0)
			fprintf(out, "%s\n", strerror(errno));
		else
			letter(out, data, (size_t)got);
	}
}

int main(int argc, char **argv)
{
	const struct sigaction act = { .sa_handler = on_sigbus };
	char order[128];
	FILE *in, *out;
	int i;

	if (argc < 4 || argc > 3 + FILES_MAX) {
		fputs("usage: system-keeper ORDERS ANSWERS FILE...\n", stderr);
		return 2;
	}
	for (i = 3; i < argc; i++)
		if (keep(argv[i])) {
			perror(argv[i]);
			return 1;
		}
	if (sigaction(SIGBUS, &act, NULL))
		return 1;
	for (;;) {
		alarm(IDLE_S);
		in = fopen(argv[1], "r");
		if (!in)
			return 1;
		if (!fgets(order, sizeof(order), in))
			order[0] = 0;
		fclose(in);
		out = fopen(argv[2], "w");
		if (!out)
			return 1;
		obey(order, out);
		fclose(out);
	}
}
