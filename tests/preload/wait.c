// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting that has to end: a barrier whose participant was killed, signal handlers that
 * map, unmap and fork while their thread does the same, what wakes those who wait on the
 * same machine, and what it costs to wait there.
 *
 *	preload-wait FILE
 *
 * FILE is a new region.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "tests/common/child.h"
#include "tools/common/clock.h"

#define SIZE	(64 * 4096u)
#define ROUNDS	30

static const char *phase = "begin";
static char *region;
static int fd;

static void time_is_up(int signal)
{
	(void)signal;
	if (write(2, "not ok: it hangs in: ", 21) < 0 ||
	    write(2, phase, strlen(phase)) < 0 || write(2, "\n", 1) < 0)
		_exit(2);
	_exit(1);
}

/* --- A barrier ------------------------------------------------------------------------ */

/* How many have is what stands in it first. */
static uint64_t arrived(pthread_barrier_t *b)
{
	return atomic_load((_Atomic uint64_t *)b);
}

static void test_barrier(void)
{
	pthread_barrier_t *b = (pthread_barrier_t *)(region + 4096);
	pthread_barrierattr_t attr;
	uint64_t none;
	pid_t pid;

	phase = "a barrier whose participant was killed";
	alarm(100 * check_scale());
	CHECK(!pthread_barrierattr_init(&attr));
	CHECK(!pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	CHECK_EQ(pthread_barrier_init(b, &attr, 2), 0);
	none = arrived(b);
	CHILD(pid, pthread_barrier_wait(b));
	UNTIL(arrived(b) != none);
	give_time(300);
	child_kill(pid);
	CHECK_EQ(pthread_barrier_wait(b), PTHREAD_BARRIER_SERIAL_THREAD);
	CHECK_EQ(pthread_barrier_destroy(b), 0);
}

/* --- Signals ---------------------------------------------------------------------------- */

static volatile sig_atomic_t handled;

static void in_handler(int signal)
{
	int saved = errno, status;
	char *p;
	pid_t pid;

	(void)signal;
	handled++;
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	if (p != MAP_FAILED)
		munmap(p, 4096);
	if (handled % 4 == 0) {
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, &status, 0);
	}
	errno = saved;
}

static void test_signals(void)
{
	struct sigaction action = { .sa_handler = in_handler, .sa_flags = SA_RESTART };
	struct itimerval timer = { { 0, 700 }, { 0, 700 } };
	double end = now_seconds() + 3;
	unsigned int i = 0;

	phase = "a signal handler that maps, unmaps and forks";
	alarm(40 * check_scale());
	CHECK(!sigaction(SIGVTALRM, &action, NULL));
	CHECK(!sigaction(SIGPROF, &action, NULL));
	CHECK(!setitimer(ITIMER_PROF, &timer, NULL));
	/* a machine that stood still for all that time had nothing to interrupt */
	while (now_seconds() < end || !handled) {
		char *p = map_region(fd, SIZE);

		/* A lock that nobody has found there yet. */
		CHECK_EQ(pthread_rwlock_rdlock((pthread_rwlock_t *)(p + 64 * (i % 1024))), 0);
		CHECK_EQ(pthread_rwlock_unlock((pthread_rwlock_t *)(p + 64 * (i % 1024))), 0);
		CHECK(!munmap(p, SIZE));
		i++;
	}
	memset(&timer, 0, sizeof(timer));
	CHECK(!setitimer(ITIMER_PROF, &timer, NULL));
	CHECK(handled);
	printf("wait: %d signals while %u mappings came and went\n", (int)handled, i);
}

/* --- To be woken ------------------------------------------------------------------------- */

struct pair {
	sem_t *sem;
	pthread_mutex_t *mutex;
	pthread_cond_t *cond;
	pthread_barrier_t *barrier;
	pthread_t thread;
	bool said;
	atomic_int tid;
};

static void wait_sem(struct pair *p)
{
	CHECK(!sem_wait(p->sem));
}

static void wake_sem(struct pair *p)
{
	CHECK(!sem_post(p->sem));
}

static void wait_cond(struct pair *p)
{
	CHECK(!pthread_mutex_lock(p->mutex));
	while (!p->said)
		CHECK(!pthread_cond_wait(p->cond, p->mutex));
	p->said = false;
	CHECK(!pthread_mutex_unlock(p->mutex));
}

static void wake_cond(struct pair *p)
{
	CHECK(!pthread_mutex_lock(p->mutex));
	p->said = true;
	CHECK(!pthread_mutex_unlock(p->mutex));
	CHECK(!pthread_cond_signal(p->cond));
}

static void meet(struct pair *p)
{
	pthread_barrier_wait(p->barrier);
}

static const struct kind {
	const char *name;
	void (*wait)(struct pair *p);
	void (*wake)(struct pair *p);
} kinds[] = {
	{ "semaphore", wait_sem, wake_sem },
	{ "condition variable", wait_cond, wake_cond },
	{ "barrier", meet, meet },
};

static const struct kind *kind;

static void *wait_one(void *arg)
{
	struct pair *p = arg;

	p->tid = gettid();
	kind->wait(p);
	return NULL;
}

static void make_pair(struct pair *p, char *where)
{
	p->sem = (sem_t *)where;
	p->mutex = (pthread_mutex_t *)(where + 128);
	p->cond = (pthread_cond_t *)(where + 256);
	p->barrier = (pthread_barrier_t *)(where + 384);
	CHECK(!sem_init(p->sem, 1, 0));
	CHECK(!pthread_mutex_init(p->mutex, NULL));
	CHECK(!pthread_cond_init(p->cond, NULL));
	CHECK(!pthread_barrier_init(p->barrier, NULL, 2));
}

/* Nobody looks by himself: who sleeps, and is not woken, sleeps until the time is up. */
static void test_woken(void)
{
	struct pair p = { 0 };
	unsigned int n, i;

	phase = "waiting to be woken";
	alarm(100 * check_scale());
	make_pair(&p, region + 16384);
	for (n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
		kind = &kinds[n];
		for (i = 0; i < ROUNDS; i++) {
			p.tid = 0;
			CHECK(!pthread_create(&p.thread, NULL, wait_one, &p));
			/* half of them before they sleep */
			UNTIL(p.tid && (i % 2 || is_asleep(p.tid)));
			kind->wake(&p);
			CHECK(!pthread_join(p.thread, NULL));
		}
		printf("wait: woken by a %s, %u times\n", kind->name, i);
	}
}

/* --- Waiting costs nothing ---------------------------------------------------------------- */

#define IDLE_S		2
#define IDLE_SLEEPS	20	/* in this time: one, and what a machine that is busy adds */
#define LOCK_SLEEPS	150	/* who waits for a lock looks after the dead, here each 20 ms */

static long sleeps(void)
{
	struct rusage u;

	CHECK(!getrusage(RUSAGE_THREAD, &u));
	return u.ru_nvcsw;
}

/* Nobody comes: each returns ETIMEDOUT. */

static int idle_sem(struct pair *p, const struct timespec *deadline)
{
	return sem_timedwait(p->sem, deadline) ? errno : 0;
}

static int idle_cond(struct pair *p, const struct timespec *deadline)
{
	int error;

	CHECK(!pthread_mutex_lock(p->mutex));
	error = pthread_cond_timedwait(p->cond, p->mutex, deadline);
	CHECK(!pthread_mutex_unlock(p->mutex));
	return error;
}

struct idle_lock {
	pthread_mutex_t *mutex;
	const struct timespec *deadline;
	long slept;
	int error;
};

static void *wait_lock(void *arg)
{
	struct idle_lock *l = arg;

	l->error = pthread_mutex_timedlock(l->mutex, l->deadline);
	l->slept = sleeps();
	return NULL;
}

/* What another thread has. */
static int idle_mutex(struct pair *p, const struct timespec *deadline, long *slept)
{
	struct idle_lock l = { .mutex = p->mutex, .deadline = deadline };
	pthread_t t;

	CHECK(!pthread_mutex_lock(p->mutex));
	CHECK(!pthread_create(&t, NULL, wait_lock, &l));
	CHECK(!pthread_join(t, NULL));
	CHECK(!pthread_mutex_unlock(p->mutex));
	*slept = l.slept;
	return l.error;
}

static void test_idle(void)
{
	static const char *const names[] = { "semaphore", "condition variable", "mutex" };
	struct pair p = { 0 };
	unsigned int i;

	phase = "waiting in vain";
	alarm(60 * check_scale());
	make_pair(&p, region + 12288);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct timespec deadline = clock_in_ms(CLOCK_REALTIME, 1000 * IDLE_S);
		long slept = sleeps();
		int error;

		error = i == 0 ? idle_sem(&p, &deadline) : i == 1 ? idle_cond(&p, &deadline) : 0;
		slept = sleeps() - slept;
		if (i == 2)
			error = idle_mutex(&p, &deadline, &slept);
		CHECK_EQ(error, ETIMEDOUT);
		printf("wait: %d s for a %s in vain: %ld sleeps\n", IDLE_S, names[i], slept);
		CHECK(slept < (i == 2 ? LOCK_SLEEPS : IDLE_SLEEPS));
		CHECK(clock_ns(CLOCK_REALTIME) >= timespec_ns(&deadline));
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: preload-wait FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, SIZE));
	region = map_region(fd, SIZE);
	signal(SIGALRM, time_is_up);
	test_woken();
	test_idle();
	test_barrier();
	test_signals();
	return check_result();
}
