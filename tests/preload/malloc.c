// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program's own malloc(), which is preloaded beside us, may map memory and take mutexes
 * whenever it is called, also in the midst of what a function of ours does.
 *
 *	preload-malloc FILE
 *
 * FILE is one that is a region.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "tests/common/child.h"
#include "tools/libweft/lock.h"

#define PAGE	4096ul
#define THREADS	3
#define ROUNDS	2
#define PAGES	512ul		/* of each thread */
#define SIZE	((THREADS * PAGES + 1) * PAGE)
#define LOW	((void *)(1ul << 40))

static int fd;
static char *region;
static int (*init)(weft_rwlock_t *lock, const struct weft_range *ranges, size_t n);
static int (*destroy)(weft_rwlock_t *lock);
static _Atomic int left = THREADS;

/* Blocks of many sizes: some of them, wherever they come from, are mapped for this one. */
static void allocate(unsigned int seed)
{
	size_t size = 1000 + seed * 7919 % 60000, *p = malloc(size * sizeof(*p));

	CHECK(p);
	p[size - 1] = size;
	p = realloc(p, 2 * size * sizeof(*p));
	CHECK(p && p[size - 1] == size);
	free(p);
}

static weft_rwlock_t *lock_of(unsigned long page)
{
	return (weft_rwlock_t *)(region + page * sizeof(weft_rwlock_t));
}

/* What each lock guards is said, also in more pieces than before, and forgotten. */
static void *say(void *arg)
{
	unsigned long first = 1 + *(unsigned int *)arg * PAGES, i;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < PAGES; i++) {
			char *page = region + (first + i) * PAGE;
			struct weft_range list[2] = {
				{ page, PAGE / 2 }, { page + PAGE / 2, PAGE / 2 },
			};

			CHECK_EQ(init(lock_of(first + i), list, 1 + (i + round) % 2), 0);
			allocate((unsigned int)i);
		}
		for (i = 0; i < PAGES; i += 2)
			CHECK_EQ(destroy(lock_of(first + i)), 0);
	}
	left--;
	return NULL;
}

static void *fork_one(void *arg)
{
	pid_t pid;

	CHILD(pid, {
		end_with_parent();
		allocate(left);
		CHECK_EQ(pthread_rwlock_wrlock((pthread_rwlock_t *)region), 0);
		CHECK_EQ(pthread_rwlock_unlock((pthread_rwlock_t *)region), 0);
		allocate(left);
	});
	child_ok(pid);
	return arg;
}

/* Regions come and go, and threads that have never used a lock have children. */
static void meanwhile(void)
{
	pthread_t t;
	char *p;

	do {
		p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		CHECK(p != MAP_FAILED);
		CHECK(!munmap(p, PAGE));
		CHECK(!pthread_create(&t, NULL, fork_one, NULL));
		CHECK(!pthread_join(t, NULL));
		CHECK(!munmap(p + PAGE, PAGE));
	} while (left);
}

int main(int argc, char **argv)
{
	unsigned int number[THREADS], i;
	pthread_t t[THREADS];
	void (*move)(void);
	char *low;

	CHECK(argc == 2);
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, (off_t)SIZE));
	*(void **)&init = dlsym(RTLD_DEFAULT, "weft_rwlock_init");
	*(void **)&destroy = dlsym(RTLD_DEFAULT, "weft_rwlock_destroy");
	CHECK(init && destroy);
	/* What is mapped from now on is between two mappings of a region. */
	region = map_region(fd, SIZE);
	low = mmap(LOW, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(low != MAP_FAILED && low < region);
	*(void **)&move = dlsym(RTLD_DEFAULT, "mapping_move");
	if (move)
		move();
	for (i = 0; i < THREADS; i++) {
		number[i] = i;
		CHECK(!pthread_create(&t[i], NULL, say, &number[i]));
	}
	meanwhile();
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(t[i], NULL));
	return check_result();
}
