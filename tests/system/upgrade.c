// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that waits for a page that it has mapped to read, and wants to write, keeps none of its
 * process from mapping memory.
 *
 *	system-upgrade FILE GO	map the file and read its first two blocks; when there is a file GO,
 *				which says that the network is gone, write to the first one in a
 *				thread, and map memory meanwhile; then the same with the second one,
 *				which a third thread reads all the time, so that it is mapped
 *
 * Prints "ready" when it has read them, "mapped" when it has mapped memory, and "ok" when the wait for
 * the second block has ended with SIGBUS.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/check.h"
#include "tests/common/child.h"

#define BLOCK	4096
#define TIMES	20

static volatile char *blocks;
static _Atomic pid_t writer;	/* the last one */
static atomic_bool written;	/* by it, or it got SIGBUS */

static void on_bus(int sig)
{
	(void)sig;
	if (gettid() == atomic_load(&writer))
		atomic_store(&written, true);
	for (;;)
		pause();
}

static void *write_to_it(void *block)
{
	atomic_store(&writer, gettid());
	*(volatile char *)block = 'w';
	atomic_store(&written, true);
	return NULL;
}

static void *read_it(void *block)
{
	while (*(volatile char *)block)
		;
	return NULL;
}

/* It waits in the kernel, and only a signal that kills ends that. */
static bool is_waiting(pid_t tid)
{
	char name[64], state = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", tid);
	f = fopen(name, "r");
	CHECK(f, "%s", name);
	CHECK_EQ(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
	fclose(f);
	return state == 'D';
}

static void map_while_it_waits(volatile char *block)
{
	pthread_t thread;
	void *p;
	int i;

	atomic_store(&writer, 0);
	CHECK(!pthread_create(&thread, NULL, write_to_it, (void *)block));
	UNTIL(atomic_load(&writer));
	UNTIL(is_waiting(atomic_load(&writer)));
	for (i = 0; i < TIMES; i++) {
		p = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(p != MAP_FAILED);
		*(volatile char *)p = 1;
		CHECK(!munmap(p, BLOCK));
		CHECK(!atomic_load(&written), "memory was mapped %d times while the thread waited", i);
	}
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: system-upgrade FILE GO\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR);
	CHECK(fd >= 0, "%s", argv[1]);
	blocks = mmap(NULL, 2 * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(blocks != MAP_FAILED);
	CHECK(blocks[0] == 'r' && blocks[BLOCK] == 'r');
	signal(SIGBUS, on_bus);
	printf("ready\n");
	fflush(stdout);
	UNTIL(!access(argv[2], F_OK));
	map_while_it_waits(blocks);
	CHECK(!pthread_create(&thread, NULL, read_it, (void *)(blocks + BLOCK)));
	map_while_it_waits(blocks + BLOCK);
	printf("mapped\n");
	fflush(stdout);
	UNTIL(atomic_load(&written));
	printf("ok\n");
	return 0;
}
