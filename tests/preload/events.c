// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for what another machine does, without looking all the time: the kernel's futex calls
 * and condition variables, as the preload library has them for regions.
 *
 *	preload-events FILE pair ME ROUNDS	two sides (1, 2) wake each other by futex
 *	preload-events FILE locks ME ROUNDS	two sides take a mutex from each other
 *	preload-events FILE nudge ME 1		whoever waits for the ball is woken, for nothing
 *	preload-events FILE crowd ME SIDES THREADS ROUNDS
 *			so many threads of each side wait for one condition variable, which
 *			side 1 broadcasts
 *
 * FILE is a new region, the same for all sides.  A wake-up that is lost is noticed by the time
 * limit of each wait; looking without being told, by the processor's being given up.
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/common/argument.h"
#include "tests/common/child.h"
#include "tools/common/clock.h"

#define LIMIT_S		60	/* of a wait, which takes milliseconds unless a wake-up is lost */
#define QUIET_MS	1500
#define SWITCHES	5	/* of all threads of a side in that time */
#define TRIES		20
#define THREADS_MAX	1000

struct shared {
	_Atomic uint32_t sides;		/* that have begun */
	char gap[4096];
	_Atomic uint32_t ball;		/* pair: how often it was thrown */
	char another[4096];
	pthread_mutex_t mutex;
	char a_third[4096];
	uint32_t holder;		/* locks: who had the mutex last */
	uint32_t changes;		/* how often that was somebody else */
	char a_fourth[4096];
	pthread_mutex_t crowd;
	pthread_cond_t cond;
	uint32_t round;			/* under @crowd */
	_Atomic uint32_t seen;		/* by how many, in all rounds */
	_Atomic uint32_t quiet;		/* sides that have looked how quiet it is, in all rounds */
};

static struct shared *s;
static uint32_t rounds;

/* Until *@word is not @old any more. */
static void await(_Atomic uint32_t *word, uint32_t old)
{
	const struct timespec limit = { .tv_sec = LIMIT_S * check_scale() };

	while (atomic_load(word) == old) {
		long rc = syscall(SYS_futex, word, FUTEX_WAIT, old, &limit, NULL, 0);

		CHECK(!rc || errno == EAGAIN || errno == EINTR);
	}
}

static void wake(_Atomic uint32_t *word)
{
	CHECK(syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0) >= 0);
}

/* Until it is at least @want. */
static void await_count(_Atomic uint32_t *word, uint32_t want)
{
	uint32_t now;

	while ((int32_t)((now = atomic_load(word)) - want) < 0)
		await(word, now);
}

static void add(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	wake(word);
}

static void begin_together(uint32_t sides)
{
	add(&s->sides);
	await_count(&s->sides, sides);
}

static int before(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* --- two sides --------------------------------------------------------------- */

/* Side 1 throws the ball when its number is even. */
static void pair(uint32_t me)
{
	uint64_t *took = calloc(rounds, sizeof(*took));
	uint32_t i;

	CHECK(took);
	begin_together(2);
	for (i = 0; i < rounds; i++) {
		uint64_t began = now_ns();

		await_count(&s->ball, 2 * i + (me - 1));
		took[i] = now_ns() - began;
		add(&s->ball);
	}
	qsort(took, rounds, sizeof(*took), before);
	/* there and back */
	printf("pair: %u wake-ups of each, %llu us each\n", rounds,
	       (unsigned long long)(took[rounds / 2] / 2 / NS_IN_US));
	free(took);
}

/* As long as both want it, each hand-over is one from side to side, mostly. */
static void locks(uint32_t me)
{
	uint32_t changes = 0;
	uint64_t began;

	begin_together(2);
	began = now_ns();
	while (changes < 2 * rounds) {
		CHECK_EQ(pthread_mutex_lock(&s->mutex), 0);
		s->changes += s->holder != me;
		s->holder = me;
		changes = s->changes;
		CHECK_EQ(pthread_mutex_unlock(&s->mutex), 0);
	}
	printf("locks: %u hand-overs, %llu us each\n", changes,
	       (unsigned long long)((now_ns() - began) / NS_IN_US / changes));
}

/* --- a crowd ----------------------------------------------------------------- */

static void *one_of_many(void *unused)
{
	uint32_t round = 0;

	while (round < rounds) {
		CHECK_EQ(pthread_mutex_lock(&s->crowd), 0);
		while (s->round == round) {
			struct timespec t = clock_in_ms(CLOCK_REALTIME,
							LIMIT_S * 1000 * check_scale());

			CHECK_EQ(pthread_cond_timedwait(&s->cond, &s->crowd, &t), 0);
		}
		round = s->round;
		CHECK_EQ(pthread_mutex_unlock(&s->crowd), 0);
		add(&s->seen);
	}
	return unused;
}

/* How often threads have given up the processor, but for this one. */
static long switches(void)
{
	struct rusage all, own;

	CHECK(!getrusage(RUSAGE_THREAD, &own));
	CHECK(!getrusage(RUSAGE_SELF, &all));
	return all.ru_nvcsw - own.ru_nvcsw;
}

/*
 * Until nobody has run for a while, as it is when all wait; they come to it one after the other.
 * Of many who look from time to time one always runs.
 */
static void quiet(void)
{
	uint32_t tries;
	long ran;

	for (tries = 0; tries < TRIES; tries++) {
		ran = switches();
		give_time(QUIET_MS);
		ran = switches() - ran;
		if (ran <= SWITCHES)
			return;
		printf("crowd: %ld switches in %d ms\n", ran, QUIET_MS);
	}
	CHECK(!"they wait without running");
}

static void crowd(uint32_t me, uint32_t sides, uint32_t threads)
{
	pthread_t thread[THREADS_MAX];
	uint32_t i, round;

	CHECK(threads <= THREADS_MAX);
	begin_together(sides);
	for (i = 0; i < threads; i++)
		CHECK(!pthread_create(&thread[i], NULL, one_of_many, NULL));
	for (round = 1; round <= rounds; round++) {
		quiet();
		add(&s->quiet);
		if (me == 1) {
			await_count(&s->quiet, round * sides);
			CHECK_EQ(pthread_mutex_lock(&s->crowd), 0);
			s->round = round;
			CHECK_EQ(pthread_cond_broadcast(&s->cond), 0);
			CHECK_EQ(pthread_mutex_unlock(&s->crowd), 0);
		}
		await_count(&s->seen, round * sides * threads);
	}
	for (i = 0; i < threads; i++)
		CHECK(!pthread_join(thread[i], NULL));
	printf("crowd: %u threads, %u rounds\n", threads, rounds);
}

int main(int argc, char **argv)
{
	uint32_t me;
	int fd;

	if (argc < 5)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, sizeof(*s)));
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(s != MAP_FAILED);
	me = argument_u32(argv[3]);
	rounds = argument_u32(argv[argc - 1]);
	if (!strcmp(argv[2], "pair"))
		pair(me);
	else if (!strcmp(argv[2], "nudge"))
		wake(&s->ball);
	else if (!strcmp(argv[2], "locks"))
		locks(me);
	else if (argc == 7)
		crowd(me, argument_u32(argv[4]), argument_u32(argv[5]));
	else
		return 2;
	return check_result();
}
