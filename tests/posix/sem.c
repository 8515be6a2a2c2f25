// SPDX-License-Identifier: GPL-2.0-only
/* Semaphores. */
#include <limits.h>

#include "posix.h"

static volatile sig_atomic_t handled;

static void count(int signal)
{
	(void)signal;
	handled++;
}

struct interruption {
	pthread_t thread;
	pid_t tid;
	long delay_us;
	int signal;
	bool post;		/* some time later */
};

/*
 * A signal to a thread that waits.  One that came before it does would end nothing,
 * and a machine may well be so busy: so it has to be seen asleep.
 */
static void *interrupt(void *arg)
{
	struct interruption *n = arg;
	struct timespec t = { 0, n->delay_us * 1000 };

	wait_step(1);
	UNTIL(is_asleep(n->tid));
	nanosleep(&t, NULL);
	CHECK(!pthread_kill(n->thread, n->signal));
	if (n->post) {
		pause_ms(10);
		CHECK_EQ(sem_post(&shared->sem), 0);
	}
	return NULL;
}

static int wait_on_clock(sem_t *sem)
{
	struct timespec t = clock_in_ms(CLOCK_MONOTONIC, 60000);

	return sem_clockwait(sem, CLOCK_MONOTONIC, &t);
}

static int wait_until(sem_t *sem)
{
	struct timespec t = clock_in_ms(CLOCK_REALTIME, 60000);

	return sem_timedwait(sem, &t);
}

/*
 * @signal comes while @wait waits.  It ends that with EINTR, or somebody posts later,
 * and it goes on until then.
 */
static void check_signal(int (*wait)(sem_t *sem), int signal, bool ends, long delay_us)
{
	struct interruption n = {
		.thread = pthread_self(), .tid = gettid(), .delay_us = delay_us,
		.signal = signal, .post = !ends,
	};
	pthread_t thread;

	step(0);
	handled = 0;
	CHECK(!pthread_create(&thread, NULL, interrupt, &n));
	step(1);
	CHECK_EQ(wait(&shared->sem), ends ? -1 : 0);
	CHECK(!ends || errno == EINTR);
	CHECK_EQ(handled, signal == SIGALRM);
	CHECK(!pthread_join(thread, NULL));
}

static void test_signals(void)
{
	struct sigaction action = { .sa_handler = count };
	sigset_t blocked;
	int i;

	/* They end the waiting, whenever they come in. */
	CHECK(!sigaction(SIGALRM, &action, NULL));
	for (i = 0; i < 20; i++)
		check_signal(sem_wait, SIGALRM, true, 130 * i);
	check_signal(wait_until, SIGALRM, true, 0);
	check_signal(wait_on_clock, SIGALRM, true, 0);
	/* Those without a handler do not. */
	check_signal(sem_wait, SIGWINCH, false, 0);
	check_signal(wait_until, SIGWINCH, false, 0);
	/* With this flag it goes on, but for a time that is left of what is given. */
	action.sa_flags = SA_RESTART;
	CHECK(!sigaction(SIGALRM, &action, NULL));
	for (i = 0; i < 20; i++)
		check_signal(sem_wait, SIGALRM, false, 130 * i);
	check_signal(wait_until, SIGALRM, true, 0);
	check_signal(wait_on_clock, SIGALRM, true, 0);
	/* One of each: which has the flag, and which has not, makes the difference. */
	action.sa_flags = 0;
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	check_signal(sem_wait, SIGALRM, false, 0);
	/* None was left blocked. */
	CHECK(!sigprocmask(SIG_BLOCK, NULL, &blocked));
	CHECK(sigisemptyset(&blocked));
}

static void *sem_for_ever(void *arg)
{
	*(pid_t *)arg = gettid();
	step(1);
	sem_wait(&shared->sem);
	return arg;
}

void test_sem(void)
{
	struct timespec t;
	pthread_t thread;
	void *result;
	pid_t pid, tid;
	int value, i;

	CHECK_EQ(sem_init(&shared->sem, 1, 2), 0);
	CHECK_EQ(sem_getvalue(&shared->sem, &value), 0);
	CHECK_EQ(value, 2);
	CHECK_EQ(sem_wait(&shared->sem), 0);
	CHECK_EQ(sem_trywait(&shared->sem), 0);
	CHECK_EQ(sem_trywait(&shared->sem), -1);
	CHECK_EQ(errno, EAGAIN);
	t = clock_in_ms(CLOCK_REALTIME, 30);
	CHECK_EQ(sem_timedwait(&shared->sem, &t), -1);
	CHECK_EQ(errno, ETIMEDOUT);
	t = clock_in_ms(CLOCK_MONOTONIC, 30);
	CHECK_EQ(sem_clockwait(&shared->sem, CLOCK_MONOTONIC, &t), -1);
	CHECK_EQ(errno, ETIMEDOUT);
	CHECK_EQ(sem_timedwait(&shared->sem, &never), -1);
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(sem_post(&shared->sem), 0);
	CHECK_EQ(sem_timedwait(&shared->sem, &t), 0);
	CHECK_EQ(sem_init(&shared->other_sem, 1, SEM_VALUE_MAX), 0);
	CHECK_EQ(sem_post(&shared->other_sem), -1);
	CHECK_EQ(errno, EOVERFLOW);
	CHECK_EQ(sem_init(&shared->other_sem, 1, SEM_VALUE_MAX + 1u), -1);
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(sem_init(&shared->other_sem, 1, 0), 0);

	CHILD(pid, {
		for (i = 0; i < TURNS; i++) {
			CHECK_EQ(sem_wait(&shared->sem), 0);
			CHECK_EQ(sem_post(&shared->other_sem), 0);
		}
	});
	for (i = 0; i < TURNS; i++) {
		CHECK_EQ(sem_post(&shared->sem), 0);
		CHECK_EQ(sem_wait(&shared->other_sem), 0);
	}
	child_ok(pid);

	test_signals();
	step(0);
	CHECK(!pthread_create(&thread, NULL, sem_for_ever, &tid));
	wait_step(1);
	UNTIL(is_asleep(tid));
	CHECK(!pthread_cancel(thread));
	CHECK(!pthread_join(thread, &result));
	CHECK(result == PTHREAD_CANCELED);
	CHECK_EQ(sem_destroy(&shared->sem), 0);
	CHECK_EQ(sem_destroy(&shared->other_sem), 0);
}
