// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holders and waiters are killed at any moment: no lock stays taken, none is held
 * by two, and who takes a robust mutex that somebody died with is told.
 *
 *	preload-kill FILE SECONDS
 *
 * FILE is a new region.
 */
#include <pthread.h>

#include "tests/common/argument.h"
#include "tests/common/child.h"
#include "tools/common/random.h"

#define LOCKS	8
#define WORKERS	6
#define WIDE	40

struct guarded {
	pthread_rwlock_t lock;
	pthread_mutex_t mutex;
	long writer;		/* who is changing @wide */
	long wide[WIDE];
	long owner;		/* who has the mutex */
};

/* By processes that only this machine has, so not in the region. */
struct progress {
	long killed[1 << 16];	/* by pid: it may be dead */
	long rounds;
	long told;
	long repaired;
};

static struct guarded *guarded;
static struct progress *p;

static int may_be_dead(long pid)
{
	return __atomic_load_n(&p->killed[pid % (1 << 16)], __ATOMIC_SEQ_CST) == pid;
}

/* Now and then long enough to be killed here. */
static void linger(void)
{
	static __thread unsigned int n;

	if (++n % 16 == 0)
		usleep(300);
}

static void write_one(struct guarded *g)
{
	long before;
	int i;

	CHECK_EQ(pthread_rwlock_wrlock(&g->lock), 0);
	before = __atomic_exchange_n(&g->writer, getpid(), __ATOMIC_SEQ_CST);
	CHECK(!before || may_be_dead(before));
	if (before) {
		__atomic_add_fetch(&p->repaired, 1, __ATOMIC_SEQ_CST);
		for (i = 1; i < WIDE; i++)
			g->wide[i] = g->wide[0];
	}
	for (i = 0; i < WIDE; i++) {
		__atomic_store_n(&g->wide[i], g->wide[i] + 1, __ATOMIC_RELAXED);
		if (i == WIDE / 2)
			linger();
	}
	CHECK_EQ(__atomic_exchange_n(&g->writer, 0, __ATOMIC_SEQ_CST), getpid());
	CHECK_EQ(pthread_rwlock_unlock(&g->lock), 0);
}

static void read_one(struct guarded *g)
{
	long writer;
	int i;

	CHECK_EQ(pthread_rwlock_rdlock(&g->lock), 0);
	writer = __atomic_load_n(&g->writer, __ATOMIC_SEQ_CST);
	CHECK(!writer || may_be_dead(writer));
	for (i = 1; i < WIDE; i++)
		CHECK(g->wide[i] == g->wide[0] || writer);
	linger();
	CHECK_EQ(__atomic_load_n(&g->writer, __ATOMIC_SEQ_CST), writer);
	CHECK_EQ(pthread_rwlock_unlock(&g->lock), 0);
}

static void own_one(struct guarded *g)
{
	int error = pthread_mutex_lock(&g->mutex);
	long before;

	CHECK(!error || error == EOWNERDEAD);
	before = __atomic_exchange_n(&g->owner, getpid(), __ATOMIC_SEQ_CST);
	/* Who died between writing his name and taking it away: it must be told. */
	CHECK(!before || (error == EOWNERDEAD && may_be_dead(before)));
	if (error) {
		__atomic_add_fetch(&p->told, 1, __ATOMIC_SEQ_CST);
		CHECK_EQ(pthread_mutex_consistent(&g->mutex), 0);
	}
	linger();
	CHECK_EQ(__atomic_exchange_n(&g->owner, 0, __ATOMIC_SEQ_CST), getpid());
	CHECK_EQ(pthread_mutex_unlock(&g->mutex), 0);
}

static void *work(void *seed_of)
{
	uint64_t seed = *(uint64_t *)seed_of;

	for (;;) {
		struct guarded *g = &guarded[random_below(&seed, LOCKS)];
		int what = (int)random_below(&seed, 4);

		if (what == 0)
			write_one(g);
		else if (what == 1)
			own_one(g);
		else
			read_one(g);
		__atomic_add_fetch(&p->rounds, 1, __ATOMIC_RELAXED);
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

static void time_is_up(int signal)
{
	(void)signal;
	if (write(2, "not ok: a lock stays taken\n", 27))
		_exit(1);
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	unsigned int kills = 0;
	uint64_t seed = 1;
	struct timespec t;
	long rounds = 0;
	pid_t pids[WORKERS];
	double end;
	int fd, i;

	if (argc != 3) {
		fprintf(stderr, "usage: preload-kill FILE SECONDS\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, 65536));
	guarded = map_region(fd, 65536);
	p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	CHECK(!pthread_mutexattr_init(&attr));
	CHECK(!pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
	for (i = 0; i < LOCKS; i++)
		CHECK(!pthread_mutex_init(&guarded[i].mutex, &attr));
	for (i = 0; i < WORKERS; i++)
		pids[i] = start((unsigned int)i + 1);
	end = now_seconds() + argument_real(argv[2]);
	while (now_seconds() < end) {
		int status;

		i = (int)random_below(&seed, WORKERS);
		/* Nobody has ended by himself, which would be a check that failed. */
		UNTIL(!waitpid(-1, &status, WNOHANG) && p->rounds > rounds);
		rounds = p->rounds;
		pause_ms(random_below(&seed, 20));
		CHECK_EQ(waitpid(-1, &status, WNOHANG), 0);
		__atomic_store_n(&p->killed[pids[i] % (1 << 16)], pids[i], __ATOMIC_SEQ_CST);
		child_kill(pids[i]);
		kills++;
		pids[i] = start(seed);
	}
	for (i = 0; i < WORKERS; i++) {
		__atomic_store_n(&p->killed[pids[i] % (1 << 16)], pids[i], __ATOMIC_SEQ_CST);
		child_kill(pids[i]);
	}
	/* All are dead: everything can be had. */
	signal(SIGALRM, time_is_up);
	alarm(70 * check_scale());
	for (i = 0; i < LOCKS; i++) {
		t = clock_in_ms(CLOCK_REALTIME, 60000);
		CHECK_EQ(pthread_rwlock_timedwrlock(&guarded[i].lock, &t), 0);
		CHECK_EQ(pthread_rwlock_unlock(&guarded[i].lock), 0);
		own_one(&guarded[i]);
	}
	CHECK(p->rounds > kills);
	printf("kill: %u killed, %ld rounds; %ld owners of mutexes were found dead, %ld writers half way\n",
	       kills, p->rounds, p->told, p->repaired);
	return check_result();
}
