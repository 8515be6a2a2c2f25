// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers that are listed, and writers: nobody writes while somebody reads, whatever of
 * the two a lock is used for just now, while threads take it in all ways and their
 * processes are killed at any moment.
 *
 *	libweft-readers [SECONDS]	multiplied on a machine that is slow
 */
#include <pthread.h>
#include <stdbool.h>

#include "tests/common/argument.h"
#include "tests/common/child.h"
#include "tests/common/folder.h"
#include "tests/common/kernel/fake.h"
#include "tools/common/random.h"
#include "tools/libweft/lock.h"
#include "weft.h"

#define LOCKS	3
#define WORKERS	4
#define BURST	6000	/* reads between two writes: readers are listed long before */
#define WRITERS	8	/* of so many that are killed one has a lock to write */
#define CLOSE_BY 100	/* times that each of two has a lock, at least */
#define DEPTH	12	/* read locks on top of each other; a few more than the quick ones */

/**
 * struct guarded - what a lock guards
 * @writer:	who is changing it
 * @a:		changed first
 * @b:		changed last
 */
struct guarded {
	_Atomic long writer;
	_Atomic long a;
	_Atomic long b;
	char gap[4096 - 3 * sizeof(long)];
};

/* What all processes know. */
struct progress {
	struct guarded guarded[LOCKS];
	_Atomic long killed[1 << 16];	/* by pid: it may be dead */
	_Atomic long reads;
	_Atomic long writes;
	_Atomic long halves;		/* writers that were killed half way */
	_Atomic long told;		/* ... or anywhere else with the lock */
	_Atomic long listed;		/* times that a lock was seen to be */
	_Atomic long stay;		/* who has a lock to write next is to stay half way */
	_Atomic long stays;		/* ... by pid: and does */
};

static char directory[FOLDER_MAX];
static char *region;
static int fd;
static struct progress *p;

static weft_rwlock_t *lock_of(unsigned int i)
{
	return (weft_rwlock_t *)(region + i * 64);
}

static bool may_be_dead(long pid)
{
	return p->killed[pid % (1 << 16)] == pid;
}

static void look(struct guarded *g, bool told)
{
	long writer = g->writer, a = g->a;

	CHECK(!writer || (told && may_be_dead(writer)));
	CHECK(writer || g->b == a);
	if (a % 512 == 0)
		usleep(100);
	CHECK_EQ(g->a, a);
	CHECK_EQ(g->writer, writer);
	p->reads++;
}

/* Who died half way left its name: that it died must have been told. */
static void change(unsigned int i, bool told)
{
	struct guarded *g = &p->guarded[i];
	long before = atomic_exchange(&g->writer, getpid());

	CHECK(!before || (told && may_be_dead(before)));
	if (before) {
		p->halves++;
		g->b = g->a;
	}
	CHECK_EQ(g->a, g->b);
	if (told) {
		p->told++;
		CHECK_EQ(weft_rwlock_consistent(lock_of(i)), 0);
	}
	g->a++;
	if (atomic_exchange(&p->stay, 0)) {
		p->stays = getpid();
		for (;;)
			pause();
	}
	if (g->a % 4 == 0)
		usleep(200);
	g->b++;
	CHECK_EQ(atomic_exchange(&g->writer, 0), getpid());
	p->writes++;
}

static bool is_taken(int error)
{
	return !error || error == EOWNERDEAD;
}

static void read_one(unsigned int i, unsigned int how)
{
	weft_rwlock_t *l = lock_of(i);
	struct timespec t;
	int error, n;

	if (how % 64 == 1) {
		t = clock_in_ms(CLOCK_REALTIME, how / 64 % 20);
		error = weft_rwlock_timedrdlock(l, &t);
		CHECK(is_taken(error) || error == ETIMEDOUT);
	} else if (how % 64 == 2) {
		error = weft_rwlock_tryrdlock(l);
		CHECK(is_taken(error) || error == EBUSY);
	} else {
		error = weft_rwlock_rdlock(l);
		CHECK(is_taken(error));
	}
	if (!is_taken(error))
		return;
	for (n = 0; how % 256 == 3 && n < DEPTH; n++)
		CHECK(is_taken(weft_rwlock_rdlock(l)));
	look(&p->guarded[i], error);
	while (n--)
		CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
}

static void write_one(unsigned int i, unsigned int how)
{
	weft_rwlock_t *l = lock_of(i);
	struct timespec t;
	int error = 0;

	if (how % 4 == 1) {
		t = clock_in_ms(CLOCK_REALTIME, how / 4 % 20);
		error = weft_rwlock_timedwrlock(l, &t);
		CHECK(is_taken(error) || error == ETIMEDOUT);
	} else if (how % 4 == 2) {
		error = weft_rwlock_trywrlock(l);
		CHECK(is_taken(error) || error == EBUSY);
	} else {
		error = weft_rwlock_wrlock(l);
		CHECK(is_taken(error));
	}
	if (!is_taken(error))
		return;
	change(i, error);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
}

static void *work(void *seed_of)
{
	uint64_t seed = *(uint64_t *)seed_of;
	unsigned int n;

	for (;;) {
		unsigned int i = (unsigned int)random_below(&seed, LOCKS);
		unsigned int burst = (unsigned int)random_below(&seed, BURST);

		for (n = 0; n < burst; n++)
			read_one(i, random_u32(&seed));
		p->listed += !!(*fake_word(fd, i * 64) & WEFT_WORD_LISTED);
		write_one(i, random_u32(&seed));
	}
	return NULL;
}

/* Two threads, in a child. */
static pid_t start(uint64_t seed)
{
	pid_t pid;

	CHILD(pid, {
		uint64_t other = seed ^ 0x55555;
		pthread_t t;

		end_with_parent();
		CHECK(!pthread_create(&t, NULL, work, &other));
		work(&seed);
	});
	return pid;
}

/* --- One reader, one writer, as close as can be ----------------------------------------- */

/*
 * What a barrier too few would do: the reader is listed when the writer has looked, and
 * does not see that it has.  Between two rounds the word says again that readers may be
 * listed, as after thousands of reads.
 */
static _Atomic bool writing __attribute__((aligned(64))), enough;
static _Atomic long looks, turns;

static void *read_on(void *lock)
{
	unsigned int i;
	int error;

	/* Nothing may be between that is a barrier itself. */
	while (!atomic_load_explicit(&enough, memory_order_relaxed)) {
		bool wrong = false;

		error = weft_rwlock_rdlock(lock);
		/* As long as it takes to look through the lists. */
		for (i = 0; i < 3000; i++)
			wrong |= atomic_load_explicit(&writing, memory_order_relaxed);
		CHECK(!wrong);
		CHECK_EQ(error, 0);
		CHECK_EQ(weft_rwlock_unlock(lock), 0);
		looks++;
		/* So that writers have a chance. */
		for (i = 0; i < 1000; i++)
			__asm__ volatile("" ::: "memory");
	}
	return NULL;
}

static void *write_on(void *lock)
{
	while (!enough) {
		atomic_fetch_or(fake_word(fd, (char *)lock - region), WEFT_WORD_LISTED);
		if (weft_rwlock_trywrlock(lock))
			continue;
		writing = true;
		writing = false;
		CHECK_EQ(weft_rwlock_unlock(lock), 0);
		turns++;
	}
	return NULL;
}

static void close_by(double for_seconds)
{
	weft_rwlock_t *l = lock_of(LOCKS);
	pthread_t r, w;

	CHECK_EQ(weft_rwlock_wrlock(l), 0);
	CHECK_EQ(weft_rwlock_unlock(l), 0);
	CHECK(!pthread_create(&r, NULL, read_on, l));
	CHECK(!pthread_create(&w, NULL, write_on, l));
	pause_ms((long)(for_seconds * 1000));
	UNTIL(looks >= CLOSE_BY && turns >= CLOSE_BY);
	enough = true;
	CHECK(!pthread_join(r, NULL));
	CHECK(!pthread_join(w, NULL));
	printf("readers: close by each other: %ld read, %ld written\n", looks, turns);
}

static void time_is_up(int signal)
{
	(void)signal;
	if (write(2, "not ok: a lock stays taken\n", 27))
		_exit(1);
}

static pid_t pids[WORKERS];

/* Nobody has ended by himself, which would be a check that failed. */
static bool all_work(void)
{
	int status;

	CHECK_EQ(waitpid(-1, &status, WNOHANG), 0);
	return true;
}

static void kill_one(unsigned int i)
{
	p->killed[pids[i] % (1 << 16)] = pids[i];
	child_kill(pids[i]);
}

/* Whoever has a lock to write next dies with it, half way: and who has it then is told. */
static unsigned int kill_writer(void)
{
	unsigned int i;

	p->stays = 0;
	p->stay = 1;
	UNTIL(all_work() && p->stays);
	for (i = 0; i < WORKERS && pids[i] != p->stays; i++)
		;
	CHECK(i < WORKERS);
	kill_one(i);
	return i;
}

int main(int argc, char **argv)
{
	unsigned int kills = 0, scale = check_scale(), i;
	uint64_t seed = 1;
	double time, end;
	long before;

	folder_make(directory, sizeof(directory), folder_in_memory(), "readers");
	fake_begin(directory);
	fd = make_region(directory, "region", 65536);
	region = map_region(fd, 65536);
	p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	/* What is done between two kills is work: a slow machine needs longer for as much. */
	time = (argc > 1 ? argument_real(argv[1]) : 10) * scale;
	for (i = 0; i < WORKERS; i++)
		pids[i] = start(i + 1);
	end = now_seconds() + time;
	while (now_seconds() < end || kills < 2 * WRITERS) {
		/* Some are killed wherever they are, some for certain with a lock. */
		if (kills % WRITERS == 0) {
			before = p->told;
			i = kill_writer();
			pids[i] = start(random_u32(&seed));
			UNTIL(all_work() && p->told > before);
		} else {
			/* So that there is something to be killed in. */
			before = p->listed;
			UNTIL(all_work() && p->listed > before);
			pause_ms(random_below(&seed, 40 * scale));
			i = (unsigned int)random_below(&seed, WORKERS);
			kill_one(i);
			pids[i] = start(random_u32(&seed));
		}
		kills++;
	}
	for (i = 0; i < WORKERS; i++)
		kill_one(i);
	/* All are dead: everything can be had. */
	signal(SIGALRM, time_is_up);
	alarm(60 * scale);
	for (i = 0; i < LOCKS; i++) {
		change(i, weft_rwlock_wrlock(lock_of(i)) == EOWNERDEAD);
		CHECK_EQ(weft_rwlock_unlock(lock_of(i)), 0);
		CHECK_EQ(*fake_word(fd, i * 64) &
			 (WEFT_WORD_READERS | WEFT_WORD_OWNER | WEFT_WORD_LISTED), 0);
	}
	alarm(0);
	close_by(time / 2);
	CHECK(p->halves >= kills / WRITERS && p->told >= p->halves);
	CHECK(p->reads > kills && p->writes >= kills / WRITERS);
	printf("readers: %u killed, %ld reads, %ld writes, %ld of them to a lock with listed readers; %ld writers half way, %ld told\n",
	       kills, p->reads, p->writes, p->listed, p->halves, p->told);
	return check_result();
}
