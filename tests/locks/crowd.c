// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks-crowd: a program that has a region open very often, and that leaves many of its
 * locks half taken by a process that died: what the kernel has to look through for them does
 * not keep others, who share the region, from opening it.
 *
 *	locks-crowd FILE MS
 *
 * MS: how long others may have to wait.
 */
#include <sys/wait.h>

#include "user.h"

#define FILES	500
#define SLOTS	2000
#define LOCKS	(SLOTS + 100)
#define CELLS	(SLOTS / WEFT_HOLDS_ENTRIES)
#define ASKED	20		/* times that a lock is opened meanwhile */
#define END_MS	30000

static uint32_t slots[SLOTS];

/* Says that it is changing all of them. */
static void change_all(const struct user *u)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		atomic_store(user_entry(u, i / WEFT_HOLDS_ENTRIES, i % WEFT_HOLDS_ENTRIES),
			     (slots[i] + 1) | WEFT_ENTRY_CHANGING);
}

/* All that it can list is there, and says that it reads. */
static void fill(const struct user *u)
{
	for (uint32_t cell = CELLS; cell < WEFT_HOLDS_THREADS; cell++)
		for (uint32_t i = 0; i < WEFT_HOLDS_ENTRIES; i++)
			atomic_store(user_entry(u, cell, i),
				     (slots[i] + 1) | WEFT_ENTRY_HELD);
}

static void die_changing(const char *path)
{
	pid_t pid = fork();
	struct user u;
	int status;

	if (pid < 0)
		node_die("cannot fork: %s", strerror(errno));
	if (!pid) {
		user_open(&u, path, LOCKS);
		for (uint32_t i = 0; i < SLOTS; i++)
			if (user_slot(&u, 64 * i) != slots[i])
				node_die("another slot");
		change_all(&u);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		node_die("a process ended with status %d", status);
}

int main(int argc, char **argv)
{
	static struct user crowd[FILES], changing, other;
	uint64_t began, longest = 0, limit;
	uint32_t i;
	int fd;

	node_begin("locks-crowd");
	if (argc != 3) {
		fputs("Usage: locks-crowd FILE MS\n", stderr);
		return 2;
	}
	limit = node_number_of("MS", argv[2], 1, 1000000);
	fd = node_open(argv[1], 1 << 20, NULL);
	close(fd);
	user_open(&other, argv[1], LOCKS);
	for (i = 0; i < SLOTS; i++)
		slots[i] = user_slot(&other, 64 * i);
	for (i = 0; i < FILES; i++) {
		user_open(&crowd[i], argv[1], LOCKS);
		fill(&crowd[i]);
	}
	/* the last one in their order: whoever looks finds out then that nothing is known */
	user_open(&changing, argv[1], LOCKS);
	change_all(&changing);

	began = now_ns();
	die_changing(argv[1]);
	longest = now_ns() - began;
	for (i = 0; i < ASKED; i++) {
		pause_us(50000);
		began = now_ns();
		user_slot(&other, 64 * (SLOTS + i));
		if (now_ns() - began > longest)
			longest = now_ns() - began;
	}
	printf("%u files, %u locks half taken: others waited for %llu ms at most\n", FILES, SLOTS,
	       (unsigned long long)longest / 1000000);
	if (longest / 1000000 > limit)
		node_die("that is more than %llu ms", (unsigned long long)limit);

	/* all is known then, and nobody has them */
	for (i = 0; i < FILES; i++) {
		close(crowd[i].fd);
		munmap(crowd[i].words, WEFT_LOCKS_SIZE(LOCKS));
		munmap(crowd[i].holds, WEFT_HOLDS_SIZE(LOCKS));
	}
	for (i = 0; i < SLOTS; i++)
		atomic_store(user_entry(&changing, i / WEFT_HOLDS_ENTRIES,
					i % WEFT_HOLDS_ENTRIES), 0);
	for (i = 0; i < SLOTS; i++)
		if (user_ask(&other, slots[i], WEFT_LOCK_WRITE, WEFT_LOCK_UNTIL,
			     (int64_t)now_ns() + END_MS * 1000000ll))
			node_die("lock %u is not free at the end", i);
	puts("all are free at the end");
	return 0;
}
