// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many instructions a cached lock takes through the preload library, how many of
 * them are atomic, which take most of the time, and that none is a system call: beside
 * the C library's own.  These are the same on any machine, however busy it is.
 *
 *	preload-steps FILE
 *
 * FILE is a new region.  One process goes step by step, the other one counts.
 */
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tests/libweft/speed.h"
#include "tests/preload/both.h"

#define SIZE	65536u

/* Instructions that are allowed beside the C library's own. */
#define MORE_OUTSIDE	32
#define RATIO_INSIDE	2.5

struct cost {
	unsigned long steps;
	unsigned long atomic;
	unsigned long system;
};

/* What is run: of each kind, the C library's, the same through ours, and inside. */
enum { OWN, OUTSIDE, INSIDE, PLACES };

#define NOTHING	1
#define CASE(kind, place)	(2 + (kind) * PLACES + (place))
#define CASES	CASE(KINDS, 0)

static struct cost costs[CASES];

/* --- What is counted ------------------------------------------------------------- */

/* Until the next call of it, this is @number. */
static __attribute__((noinline)) void mark(unsigned long number)
{
	__asm__ volatile("" : : "r"(number) : "memory");
}

static __attribute__((noinline)) int nothing(void *l)
{
	__asm__ volatile("" : : "r"(l) : "memory");
	return 0;
}

static __attribute__((noinline)) void pair(unsigned long number, int (*volatile lock)(void *l),
					   int (*volatile unlock)(void *l), void *l)
{
	mark(number);
	lock(l);
	unlock(l);
	mark(0);
}

typedef int (*on_any)(void *l);

static void run_all(char *region)
{
	static pthread_rwlock_t outside;
	static pthread_mutex_t mutex_outside;
	static bool ready;
	void *l[PLACES] = { &outside, &outside, region };
	void *m[PLACES] = { &mutex_outside, &mutex_outside, region + 4096 };
	unsigned int place;

	if (!ready) {
		init_shared(&outside);
		init_shared_mutex(&mutex_outside);
		init_shared_mutex(m[INSIDE]);
		ready = true;
	}
	pair(NOTHING, nothing, nothing, NULL);
	for (place = 0; place < PLACES; place++) {
		struct functions *f = place == OWN ? &libc_own : &shim;

		pair(CASE(READ, place), (on_any)f->read, (on_any)f->unlock, l[place]);
		pair(CASE(WRITE, place), (on_any)f->write, (on_any)f->unlock, l[place]);
		pair(CASE(MUTEX, place), (on_any)f->lock_mutex, (on_any)f->unlock_mutex, m[place]);
	}
}

static void be_counted(char *region, bool threads)
{
	pthread_barrier_t end;
	pthread_t t;

	if (threads)
		begin_thread(&t, &end);
	/* So that everything is found and cached. */
	run_all(region);
	run_all(region);
	CHECK(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	raise(SIGSTOP);
	run_all(region);
	_exit(0);
}

/* --- Counting ------------------------------------------------------------------------ */

/* The instruction at @at, as far as it matters. */
static void look_at(pid_t pid, unsigned long at, struct cost *c)
{
	unsigned long word = (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, at, NULL);
	const unsigned char *b = (const unsigned char *)&word;

	c->steps++;
	c->system += b[0] == 0x0f && b[1] == 0x05;
	if (b[0] == 0xf0) {
		c->atomic++;
		return;
	}
	if ((b[0] & 0xf0) == 0x40)
		b++;
	/* xchg with memory is atomic without saying so */
	c->atomic += (b[0] == 0x86 || b[0] == 0x87) && b[1] < 0xc0;
}

static void count(pid_t pid)
{
	unsigned long number = 0;
	int status;

	memset(costs, 0, sizeof(costs));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	for (;;) {
		struct user_regs_struct regs;

		CHECK(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status))
			break;
		CHECK(WIFSTOPPED(status));
		/* Who stopped and continued all of the test has not made a step of it. */
		if (WSTOPSIG(status) == SIGSTOP || WSTOPSIG(status) == SIGCONT)
			continue;
		CHECK_EQ(WSTOPSIG(status), SIGTRAP);
		CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, &regs));
		if (regs.rip == (unsigned long)mark)
			number = regs.rdi;
		if (number)
			look_at(pid, regs.rip, &costs[number]);
	}
	CHECK(!WEXITSTATUS(status));
}

/* Without what was only needed to call it. */
static struct cost cost_of(unsigned int kind, unsigned int place)
{
	struct cost c = costs[CASE(kind, place)];

	CHECK(c.steps > costs[NOTHING].steps && !costs[NOTHING].atomic);
	c.steps -= costs[NOTHING].steps;
	return c;
}

static void judge(const char *what)
{
	static const char * const kinds[KINDS] = { "read", "write", "mutex" };
	unsigned int kind;

	for (kind = 0; kind < KINDS; kind++) {
		struct cost own = cost_of(kind, OWN), out = cost_of(kind, OUTSIDE);
		struct cost in = cost_of(kind, INSIDE);

		printf("steps: %s, %s: libc %lu (%lu atomic), outside %lu (%lu), inside %lu (%lu)\n",
		       what, kinds[kind], own.steps, own.atomic, out.steps, out.atomic,
		       in.steps, in.atomic);
		fflush(stdout);
		CHECK(own.atomic);
		CHECK(!own.system && !out.system && !in.system);
		CHECK(out.steps <= own.steps + MORE_OUTSIDE);
		CHECK_EQ(out.atomic, own.atomic);
		CHECK(in.steps <= own.steps * RATIO_INSIDE);
		/* one to take it, one to leave it, whoever else there is */
		CHECK_EQ(in.atomic, 2);
	}
}

int main(int argc, char **argv)
{
	char *region;
	int fd, threads;
	pid_t pid;

	if (argc != 2) {
		fprintf(stderr, "usage: preload-steps FILE\n");
		return 2;
	}
	find_both();
	fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, SIZE));
	region = map_region(fd, SIZE);
	for (threads = 0; threads < 2; threads++) {
		CHILD(pid, be_counted(region, threads));
		count(pid);
		judge(threads ? "beside a thread" : "one thread");
	}
	return check_result();
}
