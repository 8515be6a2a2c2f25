// SPDX-License-Identifier: GPL-2.0-only
/*
 * What POSIX and the C library promise of locks that processes share: the same
 * must hold without the preload library, with it, and with it inside a region.
 *
 *	preload-posix [FILE]
 *
 * FILE is a new region to put the locks in; without it they are in ordinary shared
 * memory.  A plain program: nothing in it knows of weft, but that it checks that
 * rwlocks in a region are not written to.
 */
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "tests/libweft/check.h"

#define SIZE	65536u

struct memory {
	pthread_rwlock_t rwlock;
	char gap[4096 - sizeof(pthread_rwlock_t)];
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_cond_t other_cond;
	pthread_barrier_t barrier;
	sem_t sem;
	sem_t other_sem;
	int step;
	int count;
	int serial;
};

static struct memory *m;
static bool region;

static const struct timespec never = { 0, 1000000000 };

/* --- Other threads ---------------------------------------------------------------- */

struct elsewhere {
	int (*function)(void *lock);
	void *lock;
	int result;
};

static void *run(void *arg)
{
	struct elsewhere *e = arg;

	e->result = e->function(e->lock);
	return NULL;
}

/* What @function returns in another thread. */
static int elsewhere(int (*function)(void *lock), void *lock)
{
	struct elsewhere e = { function, lock, -1 };
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, run, &e));
	CHECK(!pthread_join(t, NULL));
	return e.result;
}

static int try_read(void *l)
{
	int error = pthread_rwlock_tryrdlock(l);

	return error ? error : pthread_rwlock_unlock(l);
}

static int try_write(void *l)
{
	int error = pthread_rwlock_trywrlock(l);

	return error ? error : pthread_rwlock_unlock(l);
}

static int try_mutex(void *l)
{
	int error = pthread_mutex_trylock(l);

	return error ? error : pthread_mutex_unlock(l);
}

static int lock_mutex(void *l)
{
	return pthread_mutex_lock(l);
}

static int lock_twice(void *l)
{
	int error = pthread_mutex_lock(l);

	return error ? error : pthread_mutex_lock(l);
}

static int unlock_mutex(void *l)
{
	return pthread_mutex_unlock(l);
}

static void step(int value)
{
	__atomic_store_n(&m->step, value, __ATOMIC_SEQ_CST);
}

static void wait_step(int value)
{
	double begin = seconds();

	while (__atomic_load_n(&m->step, __ATOMIC_SEQ_CST) != value) {
		CHECK(seconds() - begin < 20);
		pause_ms(1);
	}
}

/* --- Reader-writer locks ------------------------------------------------------------ */

static void rwlock_one_process(pthread_rwlock_t *l)
{
	struct timespec t;

	CHECK_IS(pthread_rwlock_rdlock(l), 0);
	CHECK_IS(pthread_rwlock_rdlock(l), 0);
	CHECK_IS(pthread_rwlock_tryrdlock(l), 0);
	CHECK_IS(elsewhere(try_read, l), 0);
	CHECK_IS(elsewhere(try_write, l), EBUSY);
	CHECK_IS(pthread_rwlock_trywrlock(l), EBUSY);
	t = in_ms(CLOCK_REALTIME, 20);
	CHECK_IS(pthread_rwlock_timedwrlock(l, &t), ETIMEDOUT);
	t = in_ms(CLOCK_MONOTONIC, 20);
	CHECK_IS(pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &t), ETIMEDOUT);
	CHECK_IS(pthread_rwlock_timedwrlock(l, &never), EINVAL);
	CHECK_IS(pthread_rwlock_clockwrlock(l, CLOCK_PROCESS_CPUTIME_ID, &t), EINVAL);
	CHECK_IS(pthread_rwlock_unlock(l), 0);
	CHECK_IS(pthread_rwlock_unlock(l), 0);
	CHECK_IS(elsewhere(try_write, l), EBUSY);
	CHECK_IS(pthread_rwlock_unlock(l), 0);
	CHECK_IS(elsewhere(try_write, l), 0);

	CHECK_IS(pthread_rwlock_wrlock(l), 0);
	CHECK_IS(pthread_rwlock_wrlock(l), EDEADLK);
	CHECK_IS(pthread_rwlock_rdlock(l), EDEADLK);
	t = in_ms(CLOCK_REALTIME, 20);
	CHECK_IS(pthread_rwlock_timedrdlock(l, &t), EDEADLK);
	CHECK_IS(pthread_rwlock_timedrdlock(l, &never), EINVAL);
	CHECK_IS(elsewhere(try_read, l), EBUSY);
	CHECK_IS(elsewhere(try_write, l), EBUSY);
	CHECK_IS(pthread_rwlock_unlock(l), 0);
	CHECK_IS(elsewhere(try_write, l), 0);
	t = in_ms(CLOCK_REALTIME, -1000);
	CHECK_IS(pthread_rwlock_timedwrlock(l, &t), 0);
	CHECK_IS(pthread_rwlock_unlock(l), 0);
	t.tv_sec = -1;
	CHECK_IS(pthread_rwlock_timedrdlock(l, &t), 0);
	CHECK_IS(pthread_rwlock_unlock(l), 0);
	t = in_ms(CLOCK_MONOTONIC, 20);
	CHECK_IS(pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &t), 0);
	CHECK_IS(pthread_rwlock_unlock(l), 0);
}

static void rwlock_two_processes(pthread_rwlock_t *l)
{
	pid_t pid;

	step(0);
	CHECK_IS(pthread_rwlock_wrlock(l), 0);
	CHILD(pid, {
		struct timespec t = in_ms(CLOCK_REALTIME, 20);

		CHECK_IS(pthread_rwlock_tryrdlock(l), EBUSY);
		CHECK_IS(pthread_rwlock_trywrlock(l), EBUSY);
		CHECK_IS(pthread_rwlock_timedrdlock(l, &t), ETIMEDOUT);
		step(1);
		CHECK_IS(pthread_rwlock_rdlock(l), 0);
		CHECK_IS(m->count, 7);
		step(2);
		wait_step(3);
		CHECK_IS(pthread_rwlock_unlock(l), 0);
		CHECK_IS(pthread_rwlock_wrlock(l), 0);
		m->count = 8;
		CHECK_IS(pthread_rwlock_unlock(l), 0);
		step(4);
	});
	wait_step(1);
	pause_ms(20);
	m->count = 7;
	CHECK_IS(pthread_rwlock_unlock(l), 0);
	wait_step(2);
	CHECK_IS(pthread_rwlock_rdlock(l), 0);
	CHECK_IS(pthread_rwlock_trywrlock(l), EBUSY);
	step(3);
	pause_ms(20);
	CHECK_IS(m->count, 7);
	CHECK_IS(pthread_rwlock_unlock(l), 0);
	wait_step(4);
	child_ok(pid);
	CHECK_IS(m->count, 8);
}

static void test_rwlock(void)
{
	static const pthread_rwlock_t zeros;
	pthread_rwlock_t *l = &m->rwlock;
	pthread_rwlockattr_t attr;

	CHECK_IS(pthread_rwlockattr_init(&attr), 0);
	CHECK_IS(pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	CHECK_IS(pthread_rwlock_init(l, &attr), 0);
	rwlock_one_process(l);
	rwlock_two_processes(l);
	CHECK_IS(pthread_rwlock_destroy(l), 0);
	if (region) {
		/* Never initialised, nor written to by anything before. */
		CHECK(!memcmp(l, &zeros, sizeof(zeros)));
		rwlock_one_process(l);
		rwlock_two_processes(l);
		CHECK(!memcmp(l, &zeros, sizeof(zeros)));
		memset(l, 0xa5, sizeof(*l));
		rwlock_two_processes(l);
		memset(l, 0, sizeof(*l));
	} else {
		*l = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
		rwlock_one_process(l);
	}
}

/* --- Mutexes ---------------------------------------------------------------------------- */

static void init_mutex(int type, int robust)
{
	pthread_mutexattr_t attr;

	CHECK_IS(pthread_mutexattr_init(&attr), 0);
	CHECK_IS(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	CHECK_IS(pthread_mutexattr_settype(&attr, type), 0);
	CHECK_IS(pthread_mutexattr_setrobust(&attr, robust), 0);
	CHECK_IS(pthread_mutex_init(&m->mutex, &attr), 0);
}

static void mutex_any(pthread_mutex_t *l)
{
	struct timespec t;
	pid_t pid;

	CHECK_IS(pthread_mutex_lock(l), 0);
	CHECK_IS(elsewhere(try_mutex, l), EBUSY);
	CHILD(pid, {
		t = in_ms(CLOCK_REALTIME, 20);
		CHECK_IS(pthread_mutex_trylock(l), EBUSY);
		CHECK_IS(pthread_mutex_timedlock(l, &t), ETIMEDOUT);
		t = in_ms(CLOCK_MONOTONIC, 20);
		CHECK_IS(pthread_mutex_clocklock(l, CLOCK_MONOTONIC, &t), ETIMEDOUT);
		CHECK_IS(pthread_mutex_clocklock(l, CLOCK_THREAD_CPUTIME_ID, &t), EINVAL);
		CHECK_IS(pthread_mutex_timedlock(l, &never), EINVAL);
	});
	child_ok(pid);
	CHECK_IS(pthread_mutex_unlock(l), 0);
	CHECK_IS(elsewhere(try_mutex, l), 0);
	t = in_ms(CLOCK_REALTIME, -1000);
	CHECK_IS(pthread_mutex_timedlock(l, &t), 0);
	CHECK_IS(pthread_mutex_unlock(l), 0);

	/* Somebody waits, and gets it. */
	step(0);
	CHECK_IS(pthread_mutex_lock(l), 0);
	CHILD(pid, {
		step(1);
		CHECK_IS(pthread_mutex_lock(l), 0);
		CHECK_IS(m->count, 5);
		CHECK_IS(pthread_mutex_unlock(l), 0);
	});
	wait_step(1);
	pause_ms(20);
	m->count = 5;
	CHECK_IS(pthread_mutex_unlock(l), 0);
	child_ok(pid);
}

static void mutex_normal(pthread_mutex_t *l)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 20);

	mutex_any(l);
	CHECK_IS(pthread_mutex_lock(l), 0);
	CHECK_IS(pthread_mutex_trylock(l), EBUSY);
	CHECK_IS(pthread_mutex_timedlock(l, &t), ETIMEDOUT);
	CHECK_IS(pthread_mutex_unlock(l), 0);
	CHECK_IS(pthread_mutex_consistent(l), EINVAL);
	CHECK_IS(pthread_mutex_destroy(l), 0);
}

static void mutex_recursive(pthread_mutex_t *l)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 20);

	mutex_any(l);
	CHECK_IS(pthread_mutex_lock(l), 0);
	CHECK_IS(pthread_mutex_lock(l), 0);
	CHECK_IS(pthread_mutex_trylock(l), 0);
	CHECK_IS(pthread_mutex_timedlock(l, &t), 0);
	CHECK_IS(elsewhere(unlock_mutex, l), EPERM);
	CHECK_IS(pthread_mutex_unlock(l), 0);
	CHECK_IS(pthread_mutex_unlock(l), 0);
	CHECK_IS(pthread_mutex_unlock(l), 0);
	CHECK_IS(elsewhere(try_mutex, l), EBUSY);
	CHECK_IS(pthread_mutex_unlock(l), 0);
	CHECK_IS(pthread_mutex_unlock(l), EPERM);
	CHECK_IS(elsewhere(try_mutex, l), 0);
	CHECK_IS(pthread_mutex_destroy(l), 0);
}

static void mutex_checking(pthread_mutex_t *l)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 20);
	pid_t pid;

	mutex_any(l);
	CHECK_IS(pthread_mutex_unlock(l), EPERM);
	CHECK_IS(pthread_mutex_lock(l), 0);
	CHECK_IS(pthread_mutex_lock(l), EDEADLK);
	CHECK_IS(pthread_mutex_timedlock(l, &t), EDEADLK);
	CHECK_IS(pthread_mutex_trylock(l), EBUSY);
	CHECK_IS(elsewhere(unlock_mutex, l), EPERM);
	CHILD(pid, CHECK_IS(pthread_mutex_unlock(l), EPERM));
	child_ok(pid);
	CHECK_IS(pthread_mutex_unlock(l), 0);
	CHECK_IS(pthread_mutex_destroy(l), 0);
}

static void die_holding(pthread_mutex_t *l, bool killed)
{
	pid_t pid;

	step(0);
	CHILD(pid, {
		CHECK_IS(pthread_mutex_lock(l), 0);
		step(1);
		if (killed)
			pause();
	});
	wait_step(1);
	if (killed)
		child_kill(pid);
	else
		child_ok(pid);
}

static void mutex_robust(pthread_mutex_t *l, int type)
{
	struct timespec t;
	pid_t pid, waiter;
	int killed;

	init_mutex(type, PTHREAD_MUTEX_ROBUST);
	mutex_any(l);
	CHECK_IS(pthread_mutex_consistent(l), EINVAL);
	for (killed = 0; killed < 2; killed++) {
		die_holding(l, killed);
		CHECK_IS(pthread_mutex_lock(l), EOWNERDEAD);
		CHECK_IS(elsewhere(try_mutex, l), EBUSY);
		CHECK_IS(pthread_mutex_consistent(l), 0);
		CHECK_IS(pthread_mutex_consistent(l), EINVAL);
		CHECK_IS(pthread_mutex_unlock(l), 0);
		mutex_any(l);
		die_holding(l, killed);
		CHECK_IS(pthread_mutex_trylock(l), EOWNERDEAD);
		CHECK_IS(pthread_mutex_consistent(l), 0);
		CHECK_IS(pthread_mutex_unlock(l), 0);
		die_holding(l, killed);
		t = in_ms(CLOCK_REALTIME, 2000);
		CHECK_IS(pthread_mutex_timedlock(l, &t), EOWNERDEAD);
		CHECK_IS(pthread_mutex_consistent(l), 0);
		CHECK_IS(pthread_mutex_unlock(l), 0);
	}

	/* One dies while another waits; the waiter dies with it too. */
	step(0);
	CHILD(pid, {
		CHECK_IS(pthread_mutex_lock(l), 0);
		step(1);
		pause();
	});
	wait_step(1);
	CHILD(waiter, {
		step(2);
		CHECK_IS(pthread_mutex_lock(l), EOWNERDEAD);
	});
	wait_step(2);
	pause_ms(20);
	child_kill(pid);
	child_ok(waiter);
	CHECK_IS(pthread_mutex_lock(l), EOWNERDEAD);
	CHECK_IS(pthread_mutex_consistent(l), 0);
	CHECK_IS(pthread_mutex_unlock(l), 0);

	if (type == PTHREAD_MUTEX_RECURSIVE) {
		CHECK_IS(elsewhere(lock_twice, l), 0);
		CHECK_IS(pthread_mutex_lock(l), EOWNERDEAD);
		CHECK_IS(pthread_mutex_consistent(l), 0);
		CHECK_IS(pthread_mutex_unlock(l), 0);
		CHECK_IS(elsewhere(try_mutex, l), 0);
	}

	/* A thread ends with it. */
	CHECK_IS(elsewhere(lock_mutex, l), 0);
	CHECK_IS(elsewhere(lock_mutex, l), EOWNERDEAD);
	CHECK_IS(pthread_mutex_lock(l), EOWNERDEAD);
	CHECK_IS(elsewhere(unlock_mutex, l), EPERM);
	/* Left as it is: nobody can ever have it again. */
	CHECK_IS(pthread_mutex_unlock(l), 0);
	CHECK_IS(pthread_mutex_lock(l), ENOTRECOVERABLE);
	/* After this the C library's own is locked for ever. */
	if (region)
		CHECK_IS(pthread_mutex_trylock(l), ENOTRECOVERABLE);
	CHECK_IS(pthread_mutex_consistent(l), EINVAL);
	CHILD(pid, CHECK_IS(pthread_mutex_lock(l), ENOTRECOVERABLE));
	child_ok(pid);
	CHECK_IS(pthread_mutex_destroy(l), 0);
	init_mutex(type, PTHREAD_MUTEX_ROBUST);
	mutex_any(l);
	CHECK_IS(pthread_mutex_destroy(l), 0);
}

static void test_mutex(void)
{
	pthread_mutex_t *l = &m->mutex;

	init_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
	mutex_normal(l);
	init_mutex(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
	mutex_recursive(l);
	init_mutex(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
	mutex_checking(l);
	mutex_robust(l, PTHREAD_MUTEX_NORMAL);
	mutex_robust(l, PTHREAD_MUTEX_RECURSIVE);
	mutex_robust(l, PTHREAD_MUTEX_ERRORCHECK);
	if (region) {
		/* Shared by where they are, whatever is said. */
		memset(l, 0, sizeof(*l));
		mutex_normal(l);
		CHECK_IS(pthread_mutex_init(l, NULL), 0);
		mutex_normal(l);
		*l = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
		mutex_recursive(l);
		*l = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
		mutex_checking(l);
	}
}

/* --- Condition variables ---------------------------------------------------------------- */

static void init_cond(pthread_cond_t *c, clockid_t clock)
{
	pthread_condattr_t attr;

	CHECK_IS(pthread_condattr_init(&attr), 0);
	CHECK_IS(pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	CHECK_IS(pthread_condattr_setclock(&attr, clock), 0);
	CHECK_IS(pthread_cond_init(c, &attr), 0);
}

#define TURNS	200

static void take_turns(int me)
{
	int i;

	for (i = 0; i < TURNS; i++) {
		CHECK_IS(pthread_mutex_lock(&m->mutex), 0);
		while (m->count % 2 != me)
			CHECK_IS(pthread_cond_wait(&m->cond, &m->mutex), 0);
		m->count++;
		CHECK_IS(pthread_cond_signal(&m->cond), 0);
		CHECK_IS(pthread_mutex_unlock(&m->mutex), 0);
	}
}

static void unlock_after(void *arg)
{
	m->serial = pthread_mutex_unlock(arg);
}

static void *wait_for_ever(void *arg)
{
	CHECK_IS(pthread_mutex_lock(&m->mutex), 0);
	pthread_cleanup_push(unlock_after, &m->mutex);
	step(1);
	for (;;)
		pthread_cond_wait(&m->cond, &m->mutex);
	pthread_cleanup_pop(1);
	return arg;
}

static void test_cond(void)
{
	struct timespec t;
	pthread_t thread;
	pid_t pids[4];
	void *result;
	double begin;
	int i;

	init_mutex(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
	init_cond(&m->cond, CLOCK_REALTIME);
	init_cond(&m->other_cond, CLOCK_MONOTONIC);

	m->count = 0;
	CHILD(pids[0], take_turns(1));
	take_turns(0);
	child_ok(pids[0]);
	CHECK_IS(m->count, 2 * TURNS);

	/* All are woken. */
	m->count = 0;
	step(0);
	for (i = 0; i < 4; i++)
		CHILD(pids[i], {
			CHECK_IS(pthread_mutex_lock(&m->mutex), 0);
			m->count++;
			while (m->step != 1)
				CHECK_IS(pthread_cond_wait(&m->cond, &m->mutex), 0);
			CHECK_IS(pthread_mutex_unlock(&m->mutex), 0);
		});
	for (i = 0; i != 4;) {
		CHECK_IS(pthread_mutex_lock(&m->mutex), 0);
		i = m->count;
		if (i == 4)
			step(1);
		CHECK_IS(pthread_mutex_unlock(&m->mutex), 0);
		pause_ms(1);
	}
	CHECK_IS(pthread_cond_broadcast(&m->cond), 0);
	for (i = 0; i < 4; i++)
		child_ok(pids[i]);

	/* Time passes, on the right clock. */
	CHECK_IS(pthread_mutex_lock(&m->mutex), 0);
	begin = seconds();
	t = in_ms(CLOCK_REALTIME, 50);
	CHECK_IS(pthread_cond_timedwait(&m->cond, &m->mutex, &t), ETIMEDOUT);
	t = in_ms(CLOCK_MONOTONIC, 50);
	CHECK_IS(pthread_cond_timedwait(&m->other_cond, &m->mutex, &t), ETIMEDOUT);
	t = in_ms(CLOCK_MONOTONIC, 50);
	CHECK_IS(pthread_cond_clockwait(&m->cond, &m->mutex, CLOCK_MONOTONIC, &t), ETIMEDOUT);
	CHECK(seconds() - begin > 0.14 && seconds() - begin < 10);
	CHECK_IS(pthread_cond_timedwait(&m->cond, &m->mutex, &never), EINVAL);
	/* It is locked again. */
	CHECK_IS(pthread_mutex_lock(&m->mutex), EDEADLK);
	CHECK_IS(pthread_mutex_unlock(&m->mutex), 0);
	CHECK_IS(pthread_cond_wait(&m->cond, &m->mutex), EPERM);

	/* Cancelled while it waits: with the mutex, and nothing is left behind. */
	step(0);
	m->serial = -1;
	CHECK(!pthread_create(&thread, NULL, wait_for_ever, NULL));
	wait_step(1);
	CHECK_IS(pthread_mutex_lock(&m->mutex), 0);
	CHECK_IS(pthread_mutex_unlock(&m->mutex), 0);
	CHECK(!pthread_cancel(thread));
	CHECK(!pthread_join(thread, &result));
	CHECK(result == PTHREAD_CANCELED);
	CHECK_IS(m->serial, 0);
	CHECK_IS(pthread_mutex_lock(&m->mutex), 0);
	CHECK_IS(pthread_mutex_unlock(&m->mutex), 0);
	CHECK_IS(pthread_cond_destroy(&m->cond), 0);
	CHECK_IS(pthread_cond_destroy(&m->other_cond), 0);
	CHECK_IS(pthread_mutex_destroy(&m->mutex), 0);
}

/* --- Barriers -------------------------------------------------------------------------- */

#define ROUNDS	100

static void meet(void)
{
	int i, result;

	for (i = 0; i < ROUNDS; i++) {
		__atomic_add_fetch(&m->count, 1, __ATOMIC_SEQ_CST);
		result = pthread_barrier_wait(&m->barrier);
		CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
		if (result)
			__atomic_add_fetch(&m->serial, 1, __ATOMIC_SEQ_CST);
		CHECK(__atomic_load_n(&m->count, __ATOMIC_SEQ_CST) >= 4 * (i + 1));
	}
}

static void test_barrier(void)
{
	pthread_barrierattr_t attr;
	pid_t pids[3];
	int i, again;

	CHECK_IS(pthread_barrierattr_init(&attr), 0);
	CHECK_IS(pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	CHECK_IS(pthread_barrier_init(&m->barrier, &attr, 0), EINVAL);
	for (again = 0; again < 2; again++) {
		CHECK_IS(pthread_barrier_init(&m->barrier, &attr, 4), 0);
		m->count = 0;
		m->serial = 0;
		for (i = 0; i < 3; i++)
			CHILD(pids[i], meet());
		meet();
		/* The others may not have left it yet. */
		CHECK_IS(pthread_barrier_destroy(&m->barrier), 0);
		for (i = 0; i < 3; i++)
			child_ok(pids[i]);
		CHECK_IS(m->count, 4 * ROUNDS);
		CHECK_IS(m->serial, ROUNDS);
	}
	CHECK_IS(pthread_barrier_init(&m->barrier, &attr, 1), 0);
	CHECK_IS(pthread_barrier_wait(&m->barrier), PTHREAD_BARRIER_SERIAL_THREAD);
	CHECK_IS(pthread_barrier_destroy(&m->barrier), 0);
}

/* --- Semaphores ------------------------------------------------------------------------ */

static void nothing(int signal)
{
	(void)signal;
}

struct interruption {
	pthread_t thread;
	pid_t tid;
	long delay_us;
};

/* Whether it sleeps, and a signal would end that: it does not wait for a page. */
static bool is_asleep(pid_t tid)
{
	char path[64], text[512], *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	CHECK(n > 0);
	close(fd);
	text[n] = 0;
	end = strrchr(text, ')');
	CHECK(end && end[1] == ' ');
	return end[2] == 'S';
}

/*
 * A signal to a thread that waits.  One that came before it does would end nothing,
 * and a machine may well be so busy: so it has to be seen asleep.
 */
static void *interrupt(void *arg)
{
	struct interruption *n = arg;
	struct timespec t = { 0, n->delay_us * 1000 };
	double begin = seconds();

	wait_step(1);
	while (!is_asleep(n->tid)) {
		CHECK(seconds() - begin < 20);
		pause_ms(1);
	}
	nanosleep(&t, NULL);
	CHECK(!pthread_kill(n->thread, SIGALRM));
	return NULL;
}

static void *sem_for_ever(void *arg)
{
	step(1);
	sem_wait(&m->sem);
	return arg;
}

static void test_sem(void)
{
	struct sigaction action = { .sa_handler = nothing };
	struct timespec t;
	pthread_t thread;
	void *result;
	pid_t pid;
	int value, i;

	CHECK_IS(sem_init(&m->sem, 1, 2), 0);
	CHECK_IS(sem_getvalue(&m->sem, &value), 0);
	CHECK_IS(value, 2);
	CHECK_IS(sem_wait(&m->sem), 0);
	CHECK_IS(sem_trywait(&m->sem), 0);
	CHECK_IS(sem_trywait(&m->sem), -1);
	CHECK_IS(errno, EAGAIN);
	t = in_ms(CLOCK_REALTIME, 30);
	CHECK_IS(sem_timedwait(&m->sem, &t), -1);
	CHECK_IS(errno, ETIMEDOUT);
	t = in_ms(CLOCK_MONOTONIC, 30);
	CHECK_IS(sem_clockwait(&m->sem, CLOCK_MONOTONIC, &t), -1);
	CHECK_IS(errno, ETIMEDOUT);
	CHECK_IS(sem_timedwait(&m->sem, &never), -1);
	CHECK_IS(errno, EINVAL);
	CHECK_IS(sem_post(&m->sem), 0);
	CHECK_IS(sem_timedwait(&m->sem, &t), 0);
	CHECK_IS(sem_init(&m->other_sem, 1, SEM_VALUE_MAX), 0);
	CHECK_IS(sem_post(&m->other_sem), -1);
	CHECK_IS(errno, EOVERFLOW);
	CHECK_IS(sem_init(&m->other_sem, 1, SEM_VALUE_MAX + 1u), -1);
	CHECK_IS(errno, EINVAL);
	CHECK_IS(sem_init(&m->other_sem, 1, 0), 0);

	CHILD(pid, {
		for (i = 0; i < TURNS; i++) {
			CHECK_IS(sem_wait(&m->sem), 0);
			CHECK_IS(sem_post(&m->other_sem), 0);
		}
	});
	for (i = 0; i < TURNS; i++) {
		CHECK_IS(sem_post(&m->sem), 0);
		CHECK_IS(sem_wait(&m->other_sem), 0);
	}
	child_ok(pid);

	/* Signals end the waiting, whenever they come in. */
	CHECK(!sigaction(SIGALRM, &action, NULL));
	for (i = 0; i < 20; i++) {
		struct interruption n = {
			.thread = pthread_self(), .tid = gettid(), .delay_us = 130 * i,
		};

		step(0);
		CHECK(!pthread_create(&thread, NULL, interrupt, &n));
		step(1);
		CHECK_IS(sem_wait(&m->sem), -1);
		CHECK_IS(errno, EINTR);
		CHECK(!pthread_join(thread, NULL));
	}
	step(0);
	CHECK(!pthread_create(&thread, NULL, sem_for_ever, NULL));
	wait_step(1);
	pause_ms(10);
	CHECK(!pthread_cancel(thread));
	CHECK(!pthread_join(thread, &result));
	CHECK(result == PTHREAD_CANCELED);
	CHECK_IS(sem_destroy(&m->sem), 0);
	CHECK_IS(sem_destroy(&m->other_sem), 0);
}

int main(int argc, char **argv)
{
	int fd = -1, flags = MAP_SHARED | MAP_ANONYMOUS;

	check_limit(200);
	region = argc > 1;
	if (region) {
		fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
		CHECK(fd >= 0);
		CHECK(!ftruncate(fd, SIZE));
		flags = MAP_SHARED;
	}
	m = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);
	CHECK(m != MAP_FAILED);
	/* As most programs do. */
	if (fd >= 0)
		close(fd);
	test_rwlock();
	test_mutex();
	test_cond();
	test_barrier();
	test_sem();
	return check_result("posix");
}
