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
#define ROUNDS	15
#define LATER	0.0025	/* seconds: to be woken may take this longer than the C library's */
#define SELDOM_MS 1800	/* who has waited that long in a region looks once in 10 ms, if it looks */
#define TRIES	3	/* processes of which one has to keep that, each with phases of its own */

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
	/* it looks ever more rarely */
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
	double woken;
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

	kind->wait(p);
	p->woken = now_seconds();
	return NULL;
}

/* Sorted: how long it took to wake, and until that had woken somebody. */
struct times {
	double told[ROUNDS];
	double woken[ROUNDS];
};

static void begin_wait(struct pair *p)
{
	CHECK(!pthread_create(&p->thread, NULL, wait_one, p));
}

static void take_time(struct pair *p, struct times *t, unsigned int i)
{
	double begin = now_seconds();

	kind->wake(p);
	t->told[i] = now_seconds() - begin;
	CHECK(!pthread_join(p->thread, NULL));
	t->woken[i] = p->woken - begin;
}

#define PAIR_SIZE	512u

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

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static void sort(struct times *t)
{
	qsort(t->told, ROUNDS, sizeof(double), by_value);
	qsort(t->woken, ROUNDS, sizeof(double), by_value);
}

static void print_times(const char *where, const struct times *t)
{
	printf("wait: %s: to tell %.0f, %.0f, %.0f us; woken after %.0f, %.0f, %.0f us (a quarter, half, three quarters)\n",
	       where, t->told[ROUNDS / 4] * 1e6, t->told[ROUNDS / 2] * 1e6,
	       t->told[3 * ROUNDS / 4] * 1e6, t->woken[ROUNDS / 4] * 1e6,
	       t->woken[ROUNDS / 2] * 1e6, t->woken[3 * ROUNDS / 4] * 1e6);
}

/*
 * Whether those inside are woken about as soon as the C library's, which take turns.  All
 * inside wait at once, so that each can wait for long: if nobody woke them, they would find
 * it by themselves, but half of them only after 5 ms.
 */
static bool woken_soon(void)
{
	static char outside[PAIR_SIZE] __attribute__((aligned(64)));
	static struct pair own, ours[ROUNDS];
	struct times of_own, of_ours;
	unsigned int i;
	bool soon;

	make_pair(&own, outside);
	for (i = 0; i < ROUNDS; i++) {
		make_pair(&ours[i], region + 16384 + i * PAIR_SIZE);
		begin_wait(&ours[i]);
	}
	pause_ms(SELDOM_MS * check_scale());
	for (i = 0; i < ROUNDS; i++) {
		begin_wait(&own);
		pause_ms(25);
		take_time(&own, &of_own, i);
		take_time(&ours[i], &of_ours, i);
	}
	sort(&of_own);
	sort(&of_ours);
	printf("wait: woken by a %s: libc after %.0f us, inside after %.0f us (medians)\n",
	       kind->name, of_own.woken[ROUNDS / 2] * 1e6, of_ours.woken[ROUNDS / 2] * 1e6);
	soon = of_ours.woken[ROUNDS / 2] < of_own.woken[ROUNDS / 2] + LATER;
	if (!soon) {
		print_times("libc", &of_own);
		print_times("inside", &of_ours);
	}
	fflush(stdout);
	return soon;
}

static void test_woken(void)
{
	unsigned int n, try;
	int status = 1;
	pid_t pid;

	phase = "waiting to be woken";
	for (n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
		kind = &kinds[n];
		for (try = 0, status = 1; try < TRIES && status; try++) {
			alarm(60 * check_scale());
			CHILD(pid, alarm(50 * check_scale()); _exit(woken_soon() ? 0 : 3));
			CHECK_EQ(waitpid(pid, &status, 0), pid);
			CHECK(WIFEXITED(status));
			CHECK(!status || WEXITSTATUS(status) == 3);
		}
		CHECK_EQ(status, 0);
	}
}

/* --- Waiting costs nothing ---------------------------------------------------------------- */

#define IDLE_S		2
#define IDLE_PERCENT	3	/* of a processor; with both of them busy it is no more */
#define IDLE_TIMES	4	/* as much as to sleep as often, where that costs more */

#define IDLE_SLEEPS	1000	/* in this time */

static double processor_time(void)
{
	return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

static long sleeps(void)
{
	struct rusage u;

	CHECK(!getrusage(RUSAGE_THREAD, &u));
	return u.ru_nvcsw;
}

/* User-mode kernels count whole ticks, and their ticks are what wakes us. */
static bool counts_ticks(void)
{
	double begin = processor_time(), now;

	do
		now = processor_time();
	while (now == begin);
	begin = now;
	do
		now = processor_time();
	while (now == begin);
	return now - begin > 0.0009;
}

/* What it costs to sleep once: on an emulated processor 20 times as much as on others. */
static double sleeping(void)
{
	const struct timespec t = { .tv_nsec = 2000000 };
	double begin = processor_time();
	int i;

	for (i = 0; i < 100; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	return (processor_time() - begin) / 100;
}

static double cost_limit(long slept, double once)
{
	double limit = IDLE_TIMES * once * (double)slept;

	return limit > IDLE_S * IDLE_PERCENT / 100. ? limit : IDLE_S * IDLE_PERCENT / 100.;
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
	double cost;
	long slept;
	int error;
};

static void *wait_lock(void *arg)
{
	struct idle_lock *l = arg;
	double begin = processor_time();

	l->error = pthread_mutex_timedlock(l->mutex, l->deadline);
	l->cost = processor_time() - begin;
	l->slept = sleeps();
	return NULL;
}

/* What another thread has. */
static int idle_mutex(struct pair *p, const struct timespec *deadline, double *cost,
		      long *slept)
{
	struct idle_lock l = { .mutex = p->mutex, .deadline = deadline };
	pthread_t t;

	CHECK(!pthread_mutex_lock(p->mutex));
	CHECK(!pthread_create(&t, NULL, wait_lock, &l));
	CHECK(!pthread_join(t, NULL));
	CHECK(!pthread_mutex_unlock(p->mutex));
	*cost = l.cost;
	*slept = l.slept;
	return l.error;
}

/* Return: it did not cost too much. */
static bool is_idle(struct pair *p, unsigned int which, const char *name, bool ticks)
{
	double before = sleeping(), begin = now_seconds(), cost = processor_time();
	struct timespec deadline = clock_in_ms(CLOCK_REALTIME, 1000 * IDLE_S);
	double once, lasted;
	long slept = sleeps();
	int error;

	error = which == 0 ? idle_sem(p, &deadline) : which == 1 ? idle_cond(p, &deadline) : 0;
	cost = processor_time() - cost;
	slept = sleeps() - slept;
	if (which == 2)
		error = idle_mutex(p, &deadline, &cost, &slept);
	lasted = now_seconds() - begin;
	CHECK_EQ(error, ETIMEDOUT);
	/* a machine that others use, too, is not as fast now as it was a second ago */
	once = sleeping();
	once = once > before ? once : before;
	printf("wait: %d s for a %s in vain: %ld sleeps, %.1f ms of a processor, %.3f a plain sleep%s\n",
	       IDLE_S, name, slept, cost * 1e3, once * 1e3, ticks ? " (in ticks)" : "");
	fflush(stdout);
	CHECK(lasted >= IDLE_S - 0.01);
	CHECK(slept < IDLE_SLEEPS);
	return ticks || cost < cost_limit(slept, once);
}

static void test_idle(void)
{
	static const char *const names[] = { "semaphore", "condition variable", "mutex" };
	bool ticks = counts_ticks();
	struct pair p = { 0 };
	unsigned int i, tries;

	phase = "waiting in vain";
	alarm(60 * check_scale());
	make_pair(&p, region + 12288);
	/* an emulated processor pays for what others do meanwhile, too: not three times in a row */
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (tries = 1; !is_idle(&p, i, names[i], ticks); tries++)
			CHECK(tries < 3);
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
