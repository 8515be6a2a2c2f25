// SPDX-License-Identifier: GPL-2.0-only
/*
 * Very many locks, very many who wait, and processes that are killed, on several
 * machines at once: nobody is let in who should not be, nobody waits for ever, and
 * in the end each machine can have all locks at the same time.
 *
 *	preload-torture FILE ME MACHINES LOCKS SECONDS
 *
 * ME from 1 to MACHINES.  FILE is a new region, or zeros; it gets LOCKS rwlocks, one
 * across each border of two pages, the others packed between.  Processes are killed
 * for SECONDS.
 */
#include <pthread.h>

#include "tests/common/argument.h"
#include "tests/common/child.h"
#include "tools/common/random.h"

#define LIMIT	7200	/* seconds for all of it */
#define PAGE	4096u
#define BEFORE	24	/* bytes of a lock across a border that are before it */
#define PACKED	32	/* where the others of a page begin */
#define A_PAGE	73u	/* locks of a page, with the one at its beginning */
#define PROCS	3	/* of a machine, that hold many locks or wait */
#define THREADS	16	/* of such a process, that wait */
#define DEPTH	5	/* locks that each of them takes on top of each other */
#define TURNS	3
#define AGAIN	50	/* times that a reader read-locks what it has */
#define VICTIMS	4	/* processes of a machine that may be killed */
#define HOT	48u	/* locks that all want */
#define PARTS	16	/* threads that share the work of taking all locks */

/* What is guarded, and who changes it. */
struct record {
	unsigned long writer;
	unsigned long a;
	unsigned long gap[5];
	unsigned long b;
};

struct control {
	pthread_rwlock_t setup;
	int is_set_up;
	char gap[PAGE];
	pthread_barrier_t machines;
	pthread_barrier_t workers;
	char another_gap[PAGE];
	unsigned long counted[DEPTH];
	struct record record[HOT] __attribute__((aligned(PAGE)));
	char locks[] __attribute__((aligned(PAGE)));
};

static struct control *c;
static unsigned int me, machines, n_locks;
static const char *phase = "begin";

/* The first page has no border before it. */
static pthread_rwlock_t *lock_at(unsigned int i)
{
	char *page = c->locks + (i / A_PAGE + 1) * PAGE;

	if (!(i % A_PAGE))
		return (pthread_rwlock_t *)(page - BEFORE);
	return (pthread_rwlock_t *)(page + PACKED) + (i % A_PAGE - 1);
}

_Static_assert(PACKED + (A_PAGE - 1) * sizeof(pthread_rwlock_t) <= PAGE - BEFORE,
	       "the next page's first lock must not meet the last of this one");

/* Only those across borders are hot: if two of them were one, somebody would see. */
static pthread_rwlock_t *hot(unsigned int i)
{
	unsigned int borders = (n_locks + A_PAGE - 1) / A_PAGE;

	return lock_at(i < borders ? i * A_PAGE : i);
}

static void meet(pthread_barrier_t *b)
{
	int result = pthread_barrier_wait(b);

	CHECK(!result || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void time_is_up(int signal)
{
	(void)signal;
	if (write(2, "not ok: it hangs in: ", 21) < 0 ||
	    write(2, phase, strlen(phase)) < 0 || write(2, "\n", 1) < 0)
		_exit(2);
	_exit(1);
}

static void set_up(void)
{
	pthread_barrierattr_t attr;

	CHECK_EQ(pthread_rwlock_wrlock(&c->setup), 0);
	if (!c->is_set_up) {
		CHECK(!pthread_barrierattr_init(&attr));
		CHECK(!pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
		CHECK(!pthread_barrier_init(&c->machines, &attr, machines));
		CHECK(!pthread_barrier_init(&c->workers, &attr, machines * PROCS));
		c->is_set_up = 1;
	}
	CHECK_EQ(pthread_rwlock_unlock(&c->setup), 0);
}

/* --- Many locks held at a time ------------------------------------------------------ */

static unsigned int share_begin(unsigned int share)
{
	return (unsigned int)((unsigned long)n_locks * share / (machines * PROCS));
}

/* Each process holds its share to write, then two hold each share to read. */
static void hold_many(unsigned int worker)
{
	unsigned int all = machines * PROCS, next = (worker + 1) % all, i;
	unsigned int begin = share_begin(worker), end = share_begin(worker + 1);
	unsigned int other = share_begin(next), other_end = share_begin(next + 1);

	for (i = begin; i < end; i++)
		CHECK_EQ(pthread_rwlock_wrlock(lock_at(i)), 0);
	meet(&c->workers);
	for (i = other; i < other_end; i += (other_end - other) / 8 + 1) {
		CHECK_EQ(pthread_rwlock_tryrdlock(lock_at(i)), EBUSY);
		CHECK_EQ(pthread_rwlock_trywrlock(lock_at(i)), EBUSY);
		CHECK_EQ(pthread_rwlock_unlock(lock_at(i)), EPERM);
	}
	CHECK_EQ(pthread_rwlock_wrlock(lock_at(begin)), EDEADLK);
	meet(&c->workers);
	for (i = end; i-- > begin;)
		CHECK_EQ(pthread_rwlock_unlock(lock_at(i)), 0);
	for (i = begin; i < end; i++)
		CHECK_EQ(pthread_rwlock_rdlock(lock_at(i)), 0);
	for (i = other; i < other_end; i++)
		CHECK_EQ(pthread_rwlock_rdlock(lock_at(i)), 0);
	meet(&c->workers);
	for (i = begin; i < end; i += (end - begin) / 8 + 1)
		CHECK_EQ(pthread_rwlock_trywrlock(lock_at(i)), EBUSY);
	meet(&c->workers);
	/* In the order that they were taken in. */
	for (i = begin; i < end; i++)
		CHECK_EQ(pthread_rwlock_unlock(lock_at(i)), 0);
	for (i = other; i < other_end; i++)
		CHECK_EQ(pthread_rwlock_unlock(lock_at(i)), 0);
}

/* --- Many who wait --------------------------------------------------------------------- */

static unsigned long name_of(uint64_t *seed)
{
	return (unsigned long)me << 56 | (unsigned long)getpid() << 20 |
	       ((unsigned long)seed >> 4 & 0xfffff);
}

/* @killed: there may be traces of one who died here. */
static void change(struct record *r, unsigned long name, int killed)
{
	unsigned long before = __atomic_exchange_n(&r->writer, name, __ATOMIC_SEQ_CST);

	CHECK(!before || killed);
	if (before)
		r->b = r->a;
	CHECK_EQ(r->a, r->b);
	__atomic_store_n(&r->a, r->a + 1, __ATOMIC_SEQ_CST);
	if (!(r->a % 32))
		usleep(200);
	__atomic_store_n(&r->b, r->b + 1, __ATOMIC_SEQ_CST);
	CHECK_EQ(r->a, r->b);
	CHECK_EQ(__atomic_exchange_n(&r->writer, 0, __ATOMIC_SEQ_CST), name);
}

static void look(struct record *r, int killed)
{
	unsigned long writer = __atomic_load_n(&r->writer, __ATOMIC_SEQ_CST);
	unsigned long a = __atomic_load_n(&r->a, __ATOMIC_SEQ_CST);

	CHECK(!writer || killed);
	CHECK(writer || a == __atomic_load_n(&r->b, __ATOMIC_SEQ_CST));
	if (!(a % 32))
		usleep(200);
	CHECK_EQ(__atomic_load_n(&r->a, __ATOMIC_SEQ_CST), a);
	CHECK_EQ(__atomic_load_n(&r->writer, __ATOMIC_SEQ_CST), writer);
}

static void go_down(unsigned int depth, uint64_t *seed)
{
	pthread_rwlock_t *l = hot(depth);
	int i;

	if (depth == DEPTH)
		return;
	if (random_below(seed, 2)) {
		CHECK_EQ(pthread_rwlock_wrlock(l), 0);
		change(&c->record[depth], name_of(seed), 0);
		__atomic_add_fetch(&c->counted[depth], 1, __ATOMIC_SEQ_CST);
		go_down(depth + 1, seed);
		CHECK_EQ(pthread_rwlock_unlock(l), 0);
		return;
	}
	CHECK_EQ(pthread_rwlock_rdlock(l), 0);
	look(&c->record[depth], 0);
	go_down(depth + 1, seed);
	/* Writers wait by now. */
	for (i = 0; i < AGAIN; i++)
		CHECK_EQ(pthread_rwlock_rdlock(l), 0);
	for (i = 0; i < AGAIN; i++)
		CHECK_EQ(pthread_rwlock_unlock(l), 0);
	look(&c->record[depth], 0);
	CHECK_EQ(pthread_rwlock_unlock(l), 0);
}

static void *wait_deep(void *seed)
{
	int i;

	for (i = 0; i < TURNS; i++)
		go_down(0, seed);
	return NULL;
}

static void wait_many(unsigned int worker)
{
	uint64_t seeds[THREADS * 2];	/* by 2, so that their names differ */
	pthread_t threads[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		seeds[2 * i] = worker * THREADS + i + 1;
		CHECK(!pthread_create(&threads[i], NULL, wait_deep, &seeds[2 * i]));
	}
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

/* --- Many who die ------------------------------------------------------------------------ */

/* What only this machine has. */
struct progress {
	unsigned long rounds;
	unsigned long late;
	unsigned long busy;
};

static struct progress *p;

/* To read or to write, waiting for ever, for a while, or not: 0 if it is taken. */
static int take(pthread_rwlock_t *l, int writes, unsigned int how)
{
	struct timespec t;
	int error;

	switch (how % 8) {
	case 0:
		t = clock_in_ms(CLOCK_REALTIME, how / 8 % 30);
		error = writes ? pthread_rwlock_timedwrlock(l, &t) :
				 pthread_rwlock_timedrdlock(l, &t);
		CHECK(!error || error == ETIMEDOUT);
		p->late += !!error;
		break;
	case 1:
		error = writes ? pthread_rwlock_trywrlock(l) : pthread_rwlock_tryrdlock(l);
		CHECK(!error || error == EBUSY);
		p->busy += !!error;
		break;
	default:
		error = writes ? pthread_rwlock_wrlock(l) : pthread_rwlock_rdlock(l);
		CHECK_EQ(error, 0);
	}
	return error;
}

/* One of the hot ones, with others held before or after. */
static void live(uint64_t *seed)
{
	unsigned int i = (unsigned int)random_below(seed, HOT);
	unsigned int cold = HOT * A_PAGE + (unsigned int)random_below(seed, n_locks);
	int writes = random_below(seed, 3) == 0, more = (int)random_below(seed, 4);

	if (cold >= n_locks || hot(i) == lock_at(cold))
		more &= 1;
	if (take(hot(i), writes, random_u32(seed)))
		return;
	if (writes)
		change(&c->record[i], name_of(seed), 1);
	else
		look(&c->record[i], 1);
	/* Always in the same order, so that none waits for the other for ever. */
	if (more & 1 && i + 1 < HOT && !take(hot(i + 1), !writes, random_u32(seed))) {
		if (!writes)
			change(&c->record[i + 1], name_of(seed), 1);
		if (more & 2 && !take(lock_at(cold), writes, random_u32(seed)))
			CHECK_EQ(pthread_rwlock_unlock(lock_at(cold)), 0);
		CHECK_EQ(pthread_rwlock_unlock(hot(i + 1)), 0);
	}
	CHECK_EQ(pthread_rwlock_unlock(hot(i)), 0);
	__atomic_add_fetch(&p->rounds, 1, __ATOMIC_RELAXED);
}

static void *live_on(void *seed)
{
	for (;;)
		live(seed);
	return NULL;
}

static void be_a_victim(uint64_t seed)
{
	uint64_t seeds[] = { seed, 0, seed ^ 0x5555, 0, seed ^ 0xaaaa };
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, live_on, &seeds[2]));
	CHECK(!pthread_create(&t, NULL, live_on, &seeds[4]));
	live_on(&seeds[0]);
}

static pid_t start(uint64_t seed)
{
	pid_t pid;

	CHILD(pid, be_a_victim(seed));
	return pid;
}

static void kill_many(double for_seconds)
{
	unsigned int kills = 0;
	uint64_t seed = me;
	pid_t pids[VICTIMS];
	double end;
	int i;

	for (i = 0; i < VICTIMS; i++)
		pids[i] = start(me * 1000 + (unsigned int)i);
	end = now_seconds() + for_seconds;
	while (now_seconds() < end) {
		int status;

		i = (int)random_below(&seed, VICTIMS);
		pause_ms(random_below(&seed, 250));
		/* Nobody has ended by himself, which would be a check that failed. */
		CHECK_EQ(waitpid(-1, &status, WNOHANG), 0);
		child_kill(pids[i]);
		kills++;
		pids[i] = start(seed);
	}
	for (i = 0; i < VICTIMS; i++)
		child_kill(pids[i]);
	printf("torture: %u killed; %lu rounds, %lu too late, %lu found it busy\n", kills,
	       p->rounds, p->late, p->busy);
	CHECK(!kills || p->rounds);
}

/* --- The end ---------------------------------------------------------------------------------- */

/* A part of all locks, for one thread. */
struct part {
	pthread_t thread;
	pthread_barrier_t *all_held;
	unsigned int begin;
	unsigned int end;
	double longest;
};

static void *have_part(void *arg)
{
	struct part *part = arg;
	unsigned int i;

	for (i = part->begin; i < part->end; i++) {
		struct timespec t = clock_in_ms(CLOCK_REALTIME, 60000);
		double begin = now_seconds();

		CHECK_EQ(pthread_rwlock_timedwrlock(lock_at(i), &t), 0);
		begin = now_seconds() - begin;
		part->longest = begin > part->longest ? begin : part->longest;
	}
	meet(part->all_held);
	for (i = part->begin; i < part->end; i++)
		CHECK_EQ(pthread_rwlock_unlock(lock_at(i)), 0);
	return NULL;
}

/* Nobody is left who could hold anything: this process gets all of them. */
static void have_all(void)
{
	struct part parts[PARTS] = { 0 };
	pthread_barrier_t all_held;
	double longest = 0;
	unsigned int i;

	CHECK(!pthread_barrier_init(&all_held, NULL, PARTS));
	for (i = 0; i < PARTS; i++) {
		parts[i].all_held = &all_held;
		parts[i].begin = (unsigned int)((unsigned long)n_locks * i / PARTS);
		parts[i].end = (unsigned int)((unsigned long)n_locks * (i + 1) / PARTS);
		CHECK(!pthread_create(&parts[i].thread, NULL, have_part, &parts[i]));
	}
	for (i = 0; i < PARTS; i++) {
		CHECK(!pthread_join(parts[i].thread, NULL));
		if (parts[i].longest > longest)
			longest = parts[i].longest;
	}
	printf("torture: %u locks at once, waited %.3f s for one at most\n", n_locks, longest);
}

static void in_children(void (*function)(unsigned int worker))
{
	pid_t pids[PROCS];
	unsigned int i;

	/* Neighbours are on other machines. */
	for (i = 0; i < PROCS; i++)
		CHILD(pids[i], {
			alarm(LIMIT);
			function(i * machines + me - 1);
		});
	children_ok(pids, PROCS);
}

static double say(double since)
{
	double now = now_seconds();

	printf("torture: %s: %.1f s\n", phase, now - since);
	fflush(stdout);
	return now;
}

int main(int argc, char **argv)
{
	size_t size;
	unsigned int i;
	double t;
	int fd;

	if (argc != 6) {
		fprintf(stderr, "usage: preload-torture FILE ME MACHINES LOCKS SECONDS\n");
		return 2;
	}
	me = argument_u32(argv[2]);
	machines = argument_u32(argv[3]);
	n_locks = argument_u32(argv[4]);
	if (!me || me > machines || n_locks < HOT * 2) {
		fprintf(stderr, "preload-torture: ME from 1 to MACHINES, LOCKS from %u\n", HOT * 2);
		return 2;
	}
	signal(SIGALRM, time_is_up);
	alarm(LIMIT);
	size = sizeof(*c) + (n_locks / A_PAGE + 2) * (size_t)PAGE;
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, (off_t)size));
	c = map_region(fd, size);
	close(fd);
	p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	set_up();
	meet(&c->machines);
	t = now_seconds();
	phase = "many locks held";
	in_children(hold_many);
	meet(&c->machines);
	t = say(t);
	phase = "many waiters";
	in_children(wait_many);
	meet(&c->machines);
	for (i = 0; i < DEPTH; i++) {
		CHECK_EQ(c->record[i].a, c->counted[i]);
		CHECK_EQ(c->record[i].b, c->counted[i]);
		CHECK(c->counted[i]);
	}
	meet(&c->machines);
	t = say(t);
	phase = "kill";
	kill_many(argument_real(argv[5]));
	meet(&c->machines);
	t = say(t);
	phase = "all locks";
	for (i = 1; i <= machines; i++) {
		if (i == me)
			have_all();
		meet(&c->machines);
	}
	say(t);
	return check_result();
}
