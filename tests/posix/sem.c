// SPDX-License-Identifier: GPL-2.0-only
/* Semaphores. */
#include <limits.h>

#include "posix.h"

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
	sem_wait(&shared->sem);
	return arg;
}

void test_sem(void)
{
	struct sigaction action = { .sa_handler = nothing };
	struct timespec t;
	pthread_t thread;
	void *result;
	pid_t pid;
	int value, i;

	CHECK_IS(sem_init(&shared->sem, 1, 2), 0);
	CHECK_IS(sem_getvalue(&shared->sem, &value), 0);
	CHECK_IS(value, 2);
	CHECK_IS(sem_wait(&shared->sem), 0);
	CHECK_IS(sem_trywait(&shared->sem), 0);
	CHECK_IS(sem_trywait(&shared->sem), -1);
	CHECK_IS(errno, EAGAIN);
	t = in_ms(CLOCK_REALTIME, 30);
	CHECK_IS(sem_timedwait(&shared->sem, &t), -1);
	CHECK_IS(errno, ETIMEDOUT);
	t = in_ms(CLOCK_MONOTONIC, 30);
	CHECK_IS(sem_clockwait(&shared->sem, CLOCK_MONOTONIC, &t), -1);
	CHECK_IS(errno, ETIMEDOUT);
	CHECK_IS(sem_timedwait(&shared->sem, &never), -1);
	CHECK_IS(errno, EINVAL);
	CHECK_IS(sem_post(&shared->sem), 0);
	CHECK_IS(sem_timedwait(&shared->sem, &t), 0);
	CHECK_IS(sem_init(&shared->other_sem, 1, SEM_VALUE_MAX), 0);
	CHECK_IS(sem_post(&shared->other_sem), -1);
	CHECK_IS(errno, EOVERFLOW);
	CHECK_IS(sem_init(&shared->other_sem, 1, SEM_VALUE_MAX + 1u), -1);
	CHECK_IS(errno, EINVAL);
	CHECK_IS(sem_init(&shared->other_sem, 1, 0), 0);

	CHILD(pid, {
		for (i = 0; i < TURNS; i++) {
			CHECK_IS(sem_wait(&shared->sem), 0);
			CHECK_IS(sem_post(&shared->other_sem), 0);
		}
	});
	for (i = 0; i < TURNS; i++) {
		CHECK_IS(sem_post(&shared->sem), 0);
		CHECK_IS(sem_wait(&shared->other_sem), 0);
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
		CHECK_IS(sem_wait(&shared->sem), -1);
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
	CHECK_IS(sem_destroy(&shared->sem), 0);
	CHECK_IS(sem_destroy(&shared->other_sem), 0);
}
