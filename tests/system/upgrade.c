// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that waits for a page that it has mapped to read, and wants to write, keeps none of its
 * process from mapping memory.
 *
 *	system-upgrade FILE GO	map the file and read its first page; when there is a file GO,
 *				which says that the network is gone, write to it in a thread,
 *				and map memory meanwhile
 *
 * Prints "ready" when it has read the page, and "ok" at the end.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/check.h"
#include "tests/common/child.h"

#define PAGE	4096
#define TIMES	100

static volatile char *page;
static _Atomic pid_t writer;
static atomic_bool written;

static void on_bus(int sig)
{
	(void)sig;
	atomic_store(&written, true);
	pause();
}

static void *write_to_it(void *arg)
{
	(void)arg;
	atomic_store(&writer, gettid());
	*page = 'w';
	atomic_store(&written, true);
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

int main(int argc, char **argv)
{
	pthread_t thread;
	int fd, i;
	void *p;

	if (argc != 3) {
		fprintf(stderr, "usage: system-upgrade FILE GO\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR);
	CHECK(fd >= 0, "%s", argv[1]);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(page != MAP_FAILED);
	CHECK(*page == 'r');
	signal(SIGBUS, on_bus);
	printf("ready\n");
	fflush(stdout);
	UNTIL(!access(argv[2], F_OK));
	CHECK(!pthread_create(&thread, NULL, write_to_it, NULL));
	UNTIL(atomic_load(&writer));
	UNTIL(is_waiting(atomic_load(&writer)));
	for (i = 0; i < TIMES; i++) {
		p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(p != MAP_FAILED);
		*(volatile char *)p = 1;
		CHECK(!munmap(p, PAGE));
		CHECK(!atomic_load(&written), "memory was mapped %d times while the thread waited", i);
	}
	printf("ok\n");
	return 0;
}
