// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plain program that adds to counters under process-shared locks, so that what the locks
 * guard can be learnt.  One process on each machine:
 *
 *	preload-learn FILE MACHINE MACHINES TURNS WHAT GO
 *
 *	writes	a mutex, and two pages that are written to each time
 *	reads	a rwlock, and two pages: two of three times they are only read
 *	stops	as writes; then as often again the mutex alone
 *	two	two mutexes in turns, and a page that is written to with either of them
 *	mostly	as two, but five of six times it is the same one
 *	views	as writes, but through mappings that come, move and go, and are to read only,
 *		or private
 *
 * FILE must be new or zeros.  Checks that all was counted, and stays until there is a file GO,
 * so that the machine can be asked what it has counted.  Blocks are pages: the locks, at page
 * 2, 3 and 4, the counters at page 5 and 6.
 */
#include <pthread.h>

#include "tests/common/argument.h"
#include "tests/common/child.h"

#define PAGE	4096
#define LIMIT	600	/* seconds */
#define PAUSE	3000	/* microseconds */

enum { PAGES = 2 };

struct shared {
	_Alignas(PAGE) pthread_rwlock_t setup;
	int is_set_up;
	_Alignas(PAGE) pthread_barrier_t meeting;
	_Alignas(PAGE) pthread_mutex_t mutex;
	_Alignas(PAGE) pthread_mutex_t other;
	_Alignas(PAGE) pthread_rwlock_t lock;
	struct {
		_Alignas(PAGE) long count;
	} page[PAGES];
};

static struct shared *s;
static int file;

static void set_up(unsigned int machines)
{
	pthread_barrierattr_t barrier;
	pthread_mutexattr_t mutex;
	pthread_rwlockattr_t lock;

	CHECK(!pthread_rwlock_wrlock(&s->setup));
	if (!s->is_set_up) {
		CHECK(!pthread_barrierattr_init(&barrier));
		CHECK(!pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED));
		CHECK(!pthread_barrier_init(&s->meeting, &barrier, machines));
		CHECK(!pthread_mutexattr_init(&mutex));
		CHECK(!pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED));
		CHECK(!pthread_mutex_init(&s->mutex, &mutex));
		CHECK(!pthread_mutex_init(&s->other, &mutex));
		CHECK(!pthread_rwlockattr_init(&lock));
		CHECK(!pthread_rwlockattr_setpshared(&lock, PTHREAD_PROCESS_SHARED));
		CHECK(!pthread_rwlock_init(&s->lock, &lock));
		s->is_set_up = 1;
	}
	CHECK(!pthread_rwlock_unlock(&s->setup));
}

static void pause_some(void)
{
	usleep(PAUSE);
}

static void add(void)
{
	int i;

	CHECK_EQ(s->page[0].count, s->page[PAGES - 1].count);
	for (i = 0; i < PAGES; i++)
		s->page[i].count++;
}

static long write_once(long i)
{
	(void)i;
	CHECK(!pthread_mutex_lock(&s->mutex));
	add();
	CHECK(!pthread_mutex_unlock(&s->mutex));
	return 1;
}

static long lock_only(long i)
{
	(void)i;
	CHECK(!pthread_mutex_lock(&s->mutex));
	CHECK(!pthread_mutex_unlock(&s->mutex));
	return 0;
}

static long read_or_write(long i)
{
	if (i % 3) {
		CHECK(!pthread_rwlock_rdlock(&s->lock));
		CHECK_EQ(s->page[0].count, s->page[PAGES - 1].count);
	} else {
		CHECK(!pthread_rwlock_wrlock(&s->lock));
		add();
	}
	CHECK(!pthread_rwlock_unlock(&s->lock));
	return !(i % 3);
}

/* Neither mutex keeps out who has the other one. */
static long with(pthread_mutex_t *mutex)
{
	CHECK(!pthread_mutex_lock(mutex));
	__atomic_fetch_add(&s->page[0].count, 1, __ATOMIC_SEQ_CST);
	CHECK(!pthread_mutex_unlock(mutex));
	return 1;
}

static long with_either(long i)
{
	return with(i % 2 ? &s->other : &s->mutex);
}

static long mostly_with_one(long i)
{
	return with(i % 6 ? &s->mutex : &s->other);
}

/* --- other mappings of the same pages ------------------------------------------------------- */

enum view { SHARED, READ_ONLY, PRIVATE, MOVED, VIEWS };

#define VIEW_TURNS	8	/* of each */

static struct shared *view_made(enum view kind, struct shared *old)
{
	struct shared *v;

	if (kind == MOVED) {
		/* something lies in the way, so that it cannot stay */
		v = mremap(old, sizeof(*v), 2 * sizeof(*v), MREMAP_MAYMOVE);
		CHECK(v != MAP_FAILED);
		CHECK(!munmap((char *)v + sizeof(*v), sizeof(*v)));
		return v;
	}
	if (old)
		CHECK(!munmap(old, sizeof(*old)));
	v = mmap(NULL, sizeof(*v), PROT_READ | (kind == READ_ONLY ? 0 : PROT_WRITE),
		 kind == PRIVATE ? MAP_PRIVATE : MAP_SHARED, file, 0);
	CHECK(v != MAP_FAILED);
	return v;
}

static void through(struct shared *v, enum view kind)
{
	long count = s->page[0].count;
	int i;

	for (i = 0; i < PAGES; i++) {
		switch (kind) {
		case PRIVATE:
			/* what it is written to is its own */
			CHECK(v->page[i].count == count || v->page[i].count == -1);
			v->page[i].count = -1;
			CHECK_EQ(s->page[i].count++, count);
			break;
		case READ_ONLY:
			CHECK_EQ(v->page[i].count, count);
			s->page[i].count++;
			CHECK_EQ(v->page[i].count, count + 1);
			break;
		default:
			CHECK_EQ(v->page[i].count++, count);
			CHECK_EQ(s->page[i].count, count + 1);
		}
	}
}

static long through_views(long i)
{
	enum view kind = (enum view)(i / VIEW_TURNS % VIEWS);
	static struct shared *v;
	pid_t pid;

	if (kind == MOVED && i % VIEW_TURNS == 0)
		v = view_made(SHARED, v);
	if (i % VIEW_TURNS == 0)
		v = view_made(kind, v);
	CHECK(!pthread_mutex_lock(&s->mutex));
	if (i % VIEW_TURNS == 1) {
		/* it has the same mappings, and had no fault yet */
		CHILD(pid, through(v, kind));
		child_ok(pid);
	} else {
		through(v, kind);
	}
	CHECK(!pthread_mutex_unlock(&s->mutex));
	return 1;
}

static const struct what {
	const char *name;
	long (*turn)(long i);
	long (*then)(long i);
} whats[] = {
	{ "writes", write_once, NULL },
	{ "reads", read_or_write, NULL },
	{ "stops", write_once, lock_only },
	{ "two", with_either, NULL },
	{ "mostly", mostly_with_one, NULL },
	{ "views", through_views, NULL },
};

static const struct what *what_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(whats) / sizeof(*whats); i++)
		if (!strcmp(name, whats[i].name))
			return &whats[i];
	fprintf(stderr, "preload-learn: there is no '%s'\n", name);
	exit(2);
}

/* Returns how often it has added. */
static long work(long (*turn)(long i), long turns)
{
	long i, added = 0;

	for (i = 0; turn && i < turns; i++) {
		added += turn(i);
		pause_some();
	}
	return added;
}

int main(int argc, char **argv)
{
	unsigned int machine, machines;
	const struct what *what;
	long turns, added;

	if (argc != 7) {
		fprintf(stderr, "usage: preload-learn FILE MACHINE MACHINES TURNS WHAT GO\n");
		return 2;
	}
	machine = argument_u32(argv[2]);
	machines = argument_u32(argv[3]);
	turns = argument_u32(argv[4]);
	what = what_of(argv[5]);
	alarm(LIMIT);
	file = open(argv[1], O_RDWR | O_CREAT, 0600);
	CHECK(file >= 0);
	CHECK(!ftruncate(file, sizeof(*s)));
	s = map_region(file, sizeof(*s));
	set_up(machines);
	pthread_barrier_wait(&s->meeting);
	added = work(what->turn, turns);
	work(what->then, turns);
	pthread_barrier_wait(&s->meeting);
	CHECK_EQ(s->page[0].count, added * machines);
	printf("machine %u: %ld turns, all %ld counted\n", machine, turns, s->page[0].count);
	fflush(stdout);
	/* whoever looks at it now must see what the turns have cost, and no more */
	while (access(argv[6], F_OK))
		usleep(50000);
	return 0;
}
