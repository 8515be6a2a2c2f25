// SPDX-License-Identifier: GPL-2.0-only
/*
 * The locks of weft-lockbench, without a rack: processes that share a file in
 * memory play the nodes, and weft's kernel part is played by tests/common/kernel/fake.c.
 *
 *	bench-locks-hammer
 *
 * Of each kind: who has it to write meets nobody, who has it to read never sees
 * the record torn, all writes are there in the end, and readers are in at the same
 * time.  That this finds what is wrong is shown with locks that are broken on
 * purpose: each of them has to be caught.
 */
#include <sched.h>
#include <sys/wait.h>

#include "tests/common/child.h"
#include "tests/common/folder.h"
#include "tests/common/kernel/fake.h"
#include "tools/bench/locks/bench.h"
#include "tools/common/random.h"

#define NODES		2
#define PROCS		2	/* of each */
#define ALL		(NODES * PROCS)
#define COPIES		16
#define RUN_MS		400
#define CATCH_MS	5000	/* in which a broken lock is caught */
#define PATIENCE	30	/* seconds */
#define ROOM		(32 * NODE_PAGE)

/* Nobody changes it but who has the lock to write. */
struct record {
	_Atomic uint64_t writer;
	_Atomic uint64_t copy[COPIES];
};

/* All zeros at first. */
struct scene {
	char lock[ROOM];
	struct record record __attribute__((aligned(4096)));
	_Atomic uint64_t writes __attribute__((aligned(4096)));
	_Atomic uint64_t done[ALL];
	_Atomic uint64_t wrong;
	_Atomic uint64_t inside;
	_Atomic uint64_t readers;
	_Atomic uint64_t met;
	_Atomic uint64_t stop;
};

static char directory[FOLDER_MAX];
static unsigned int scenes;
static struct sockaddr_in service;

static struct scene *new_scene(void)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "scene-%u", ++scenes);
	fd = make_region(directory, name, sizeof(struct scene));
	return map_region(fd, sizeof(struct scene));
}

/* The lock of the scene, for the process that plays @proc of @index. */
static void enter(struct lock *l, struct lock_place *p, const struct lock_kind *kind,
		  struct scene *s, unsigned int index)
{
	*p = (struct lock_place){
		.node = index / PROCS, .nodes = NODES, .proc = index % PROCS,
		.procs = PROCS, .timeout = PATIENCE, .service = service,
	};
	*l = (struct lock){
		.kind = kind, .place = p, .at = s->lock, .data = &s->record,
		.data_size = NODE_PAGE, .name = scenes,
	};
	CHECK(kind->size(p) <= ROOM);
	if (kind->init)
		kind->init(l);
}

static void take(struct lock *l, bool writes)
{
	l->writes = writes;
	if (writes)
		l->kind->wrlock(l);
	else
		l->kind->rdlock(l);
}

/* --- Exclusion -------------------------------------------------------------------- */

static void linger(uint64_t *random)
{
	uint64_t dice = random_u64(random) >> 32;

	if (!(dice % 256))
		pause_us(dice >> 8 & 255);
	else if (!(dice % 8))
		sched_yield();
}

static bool is_torn(struct record *r)
{
	uint64_t first = atomic_load(&r->copy[0]);
	unsigned int i;

	for (i = 1; i < COPIES; i++)
		if (atomic_load(&r->copy[i]) != first)
			return true;
	return false;
}

static bool look(struct record *r, uint64_t *random)
{
	uint64_t before = atomic_load(&r->copy[COPIES - 1]);
	bool good = !atomic_load(&r->writer) && !is_torn(r);

	linger(random);
	return good && !atomic_load(&r->writer) && !is_torn(r) &&
	       atomic_load(&r->copy[0]) == before;
}

static bool change(struct record *r, uint64_t me, uint64_t *random)
{
	bool good = !atomic_load(&r->writer) && !is_torn(r);
	uint64_t value = atomic_load(&r->copy[0]);
	unsigned int i;

	atomic_store(&r->writer, me);
	for (i = 0; i < COPIES; i++) {
		atomic_store(&r->copy[i], value + 1);
		if (i == COPIES / 2)
			linger(random);
	}
	good = good && atomic_load(&r->writer) == me && !is_torn(r) &&
	       atomic_load(&r->copy[0]) == value + 1;
	atomic_store(&r->writer, 0);
	return good;
}

static void work(const struct lock_kind *kind, struct scene *s, unsigned int index,
		 unsigned int readers)
{
	uint64_t random = random_stream(3, index);
	struct lock_place p;
	struct lock l;
	bool writes, good;

	enter(&l, &p, kind, s, index);
	while (!atomic_load(&s->stop)) {
		writes = random_below(&random, 100) >= readers;
		take(&l, writes);
		good = writes ? change(&s->record, index + 1, &random) :
				look(&s->record, &random);
		kind->unlock(&l);
		atomic_fetch_add(&s->done[index], 1);
		if (writes)
			atomic_fetch_add(&s->writes, 1);
		/* Not all of these locks are fair: a machine that is busy would let
		 * only one process have them, which is never stopped while it is free.
		 */
		linger(&random);
		if (!good) {
			atomic_fetch_add(&s->wrong, 1);
			atomic_store(&s->stop, 1);
		}
	}
}

/* Returns what went wrong, or NULL. */
static const char *hammer(const struct lock_kind *kind, unsigned int readers, long ms)
{
	struct scene *s = new_scene();
	const char *what = NULL;
	pid_t pid[ALL];
	unsigned int i;
	double end;

	for (i = 0; i < ALL; i++)
		CHILD(pid[i], work(kind, s, i, readers));
	end = now_seconds() + (double)ms / 1e3;
	while (now_seconds() < end && !atomic_load(&s->stop))
		pause_ms(5);
	/* All get their turn: a lock that nobody gets is none. */
	end = now_seconds() + PATIENCE;
	for (i = 0; i < ALL && !atomic_load(&s->stop); i++)
		while (!atomic_load(&s->done[i]) && !atomic_load(&s->stop) && now_seconds() < end)
			pause_ms(5);
	for (i = 0; i < ALL; i++)
		if (!atomic_load(&s->done[i]) && !atomic_load(&s->stop))
			what = "somebody never got it";
	atomic_store(&s->stop, 1);
	for (i = 0; i < ALL; i++)
		child_ok(pid[i]);
	if (atomic_load(&s->wrong))
		what = "somebody was there who may not be";
	else if (!what && atomic_load(&s->record.copy[0]) != atomic_load(&s->writes))
		what = "writes were lost";
	munmap(s, sizeof(*s));
	return what;
}

/* --- Readers together -------------------------------------------------------------- */

static void reads_with_others(const struct lock_kind *kind, struct scene *s,
			      unsigned int index)
{
	double end = now_seconds() + PATIENCE;
	struct lock_place p;
	struct lock l;

	enter(&l, &p, kind, s, index);
	take(&l, false);
	atomic_fetch_add(&s->readers, 1);
	atomic_fetch_add(&s->inside, 1);
	while (atomic_load(&s->inside) < ALL - 1 && now_seconds() < end)
		pause_ms(1);
	if (atomic_load(&s->inside) == ALL - 1)
		atomic_fetch_add(&s->met, 1);
	/* A writer that asks meanwhile has to wait. */
	give_time(50);
	if (atomic_load(&s->writes))
		atomic_fetch_add(&s->wrong, 1);
	atomic_fetch_sub(&s->readers, 1);
	kind->unlock(&l);
}

static void writes_after(const struct lock_kind *kind, struct scene *s, unsigned int index)
{
	double end = now_seconds() + PATIENCE;
	struct lock_place p;
	struct lock l;

	enter(&l, &p, kind, s, index);
	while (atomic_load(&s->inside) < ALL - 1 && now_seconds() < end)
		pause_ms(1);
	take(&l, true);
	atomic_store(&s->writes, 1);
	if (atomic_load(&s->readers))
		atomic_fetch_add(&s->wrong, 1);
	kind->unlock(&l);
}

static void readers_together(const struct lock_kind *kind)
{
	struct scene *s = new_scene();
	pid_t pid[ALL];
	unsigned int i;

	for (i = 0; i < ALL - 1; i++)
		CHILD(pid[i], reads_with_others(kind, s, i));
	CHILD(pid[i], writes_after(kind, s, i));
	for (i = 0; i < ALL; i++)
		child_ok(pid[i]);
	CHECK_EQ(atomic_load(&s->met), ALL - 1);
	CHECK_EQ(atomic_load(&s->wrong), 0);
	CHECK_EQ(atomic_load(&s->writes), 1);
	munmap(s, sizeof(*s));
}

/* --- Broken on purpose -------------------------------------------------------------- */

static _Atomic uint64_t *broken_word(struct lock *l)
{
	return l->at;
}

static size_t broken_size(const struct lock_place *p)
{
	(void)p;
	return NODE_PAGE;
}

static void nothing(struct lock *l)
{
	(void)l;
}

static const struct lock_kind lets_all_in = {
	.name = "lets-all-in", .size = broken_size,
	.rdlock = nothing, .wrlock = nothing, .unlock = nothing,
};

/*
 * Looks, then takes: another may have done so in between.  A pause makes sure of that,
 * here and below, also on a machine that has other things to do.
 */
static void looks_then_takes(struct lock *l)
{
	struct lock_wait w = { 0 };

	while (atomic_load(broken_word(l)))
		lock_wait(l, &w);
	sched_yield();
	atomic_store(broken_word(l), 1);
}

static void clears(struct lock *l)
{
	atomic_store(broken_word(l), 0);
}

static const struct lock_kind not_atomic = {
	.name = "not-atomic", .size = broken_size, .exclusive = true,
	.rdlock = looks_then_takes, .wrlock = looks_then_takes, .unlock = clears,
};

/* Writers exclude each other; readers look for a writer, but no writer for them. */
static void waits_for_writer(struct lock *l)
{
	struct lock_wait w = { 0 };

	while (atomic_load(broken_word(l)))
		lock_wait(l, &w);
}

static void excludes_writers(struct lock *l)
{
	struct lock_wait w = { 0 };

	while (atomic_exchange(broken_word(l), 1))
		lock_wait(l, &w);
}

static void writer_clears(struct lock *l)
{
	if (l->writes)
		clears(l);
}

static const struct lock_kind readers_unseen = {
	.name = "readers-unseen", .size = broken_size,
	.rdlock = waits_for_writer, .wrlock = excludes_writers, .unlock = writer_clears,
};

/* As "pernode", but a reader looks first and counts itself then. */
static void looks_then_counts(struct lock *l)
{
	waits_for_writer(l);
	sched_yield();
	atomic_fetch_add(broken_word(l) + 8, 1);
}

static void waits_for_readers(struct lock *l)
{
	struct lock_wait w = { 0 };

	excludes_writers(l);
	while (atomic_load(broken_word(l) + 8))
		lock_wait(l, &w);
}

static void leaves(struct lock *l)
{
	if (l->writes)
		clears(l);
	else
		atomic_fetch_sub(broken_word(l) + 8, 1);
}

static const struct lock_kind wrong_order = {
	.name = "wrong-order", .size = broken_size,
	.rdlock = looks_then_counts, .wrlock = waits_for_readers, .unlock = leaves,
};

static void must_be_caught(const struct lock_kind *kind)
{
	const char *what = hammer(kind, 50, CATCH_MS);

	if (!what) {
		fprintf(stderr, "not ok: the broken lock %s was not caught\n", kind->name);
		exit(1);
	}
	printf("caught: %s: %s\n", kind->name, what);
}

/* --- The service --------------------------------------------------------------------- */

static void bound(uint16_t port, void *arg)
{
	CHECK_EQ(write(*(int *)arg, &port, sizeof(port)), sizeof(port));
}

/* On any port; @loss of 1000 datagrams are lost. */
static pid_t start_service(unsigned int loss)
{
	uint16_t port = 0;
	int ends[2];
	pid_t pid;

	CHECK(!pipe(ends));
	CHILD(pid, server_run(&(struct server_options){
		.seconds = 300, .loss = loss, .bound = bound, .arg = &ends[1] }));
	CHECK_EQ(read(ends[0], &port, sizeof(port)), sizeof(port));
	close(ends[0]);
	close(ends[1]);
	service = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	return pid;
}

#define NAMES		3000

static void holds(struct scene *s)
{
	double end = now_seconds() + PATIENCE;
	struct lock_place p;
	struct lock l;

	enter(&l, &p, &lock_service, s, 0);
	take(&l, true);
	atomic_store(&s->inside, 1);
	while (!atomic_load(&s->met) && now_seconds() < end)
		pause_ms(1);
	/* The other one is asking now. */
	give_time(100);
	atomic_store(&s->done[0], 1);
	l.kind->unlock(&l);
}

static void uses_others(struct scene *s)
{
	double end = now_seconds() + PATIENCE;
	struct lock l, other;
	struct lock_place p;
	unsigned int i;

	enter(&l, &p, &lock_service, s, 1);
	while (!atomic_load(&s->inside) && now_seconds() < end)
		pause_ms(1);
	for (i = 0; i < NAMES; i++) {
		other = l;
		other.name = 1ull << 32 | i;
		take(&other, true);
		other.kind->unlock(&other);
	}
	atomic_store(&s->met, 1);
	take(&l, true);
	CHECK_EQ(atomic_load(&s->done[0]), 1);
	l.kind->unlock(&l);
}

/* A lock that somebody has stays his, however many others are used meanwhile. */
static void forgets_none(void)
{
	struct scene *s = new_scene();
	pid_t holder, other;

	CHILD(holder, holds(s));
	CHILD(other, uses_others(s));
	child_ok(other);
	child_ok(holder);
	munmap(s, sizeof(*s));
	printf("ok: service, %u locks while one is held\n", NAMES);
}

/* --- What is counted ----------------------------------------------------------------- */

static void histograms(void)
{
	static struct hist a, b;
	uint64_t i;

	for (i = 1; i <= 1000; i++)
		hist_add(i & 1 ? &a : &b, i * 1000);
	hist_join(&a, &b);
	CHECK_EQ(a.count, 1000);
	CHECK_EQ(a.max, 1000000);
	CHECK_EQ(a.sum, 500500000);
	/* within a step */
	CHECK(hist_quantile(&a, 500) > 500e3 * 31 / 32 && hist_quantile(&a, 500) < 500e3 * 33 / 32);
	CHECK(hist_quantile(&a, 990) > 990e3 * 31 / 32 && hist_quantile(&a, 990) <= 1000e3);
	memset(&a, 0, sizeof(a));
	CHECK(hist_quantile(&a, 500) == 0);
	hist_add(&a, 7);
	hist_add(&a, ~0ull);
	CHECK(hist_quantile(&a, 500) == 7);
}

static void set(struct tally *t, const uint64_t *values)
{
	static const char *const names[] = {
		"miss_upgrade", "miss_read_modified", "lock_requests", "sent_getm",
		"received_data", "home_in_getm", "home_out_data", "sent_call",
	};
	unsigned int i;

	t->len = 0;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		tally_one(t, "", names[i], values[i]);
}

static void tallies(void)
{
	static struct tally before, after, sum;

	set(&before, (uint64_t []){ 1, 2, 3, 4, 5, 6, 7, 8 });
	set(&after, (uint64_t []){ 11, 22, 33, 44, 50, 40, 9, 80 });
	CHECK_EQ(tally_get(&after, "home_in_getm"), 40);
	CHECK_EQ(tally_get(&after, "misses"), 0);
	tally_since(&after, &before);
	CHECK_EQ(tally_misses(&after), 10 + 20);
	CHECK_EQ(tally_get(&after, "lock_requests"), 30);
	/* 40 sent of which 34 arrived; 45 arrived of which 2 are known to be sent; a
	 * call has to do with no line
	 */
	CHECK_EQ(tally_messages(&after), 40 + 45);
	tally_add(&sum, &after);
	tally_add(&sum, &after);
	CHECK_EQ(tally_misses(&sum), 60);
	CHECK_EQ(tally_messages(&sum), 170);
	tally_since(&after, &after);
	CHECK_EQ(after.len, 0);
}

int main(void)
{
	static const unsigned int shares[] = { 0, 50, 95 };
	const struct lock_kind *kind;
	const char *what;
	unsigned int i, k;
	pid_t server;

	node_begin("bench-locks-hammer");
	histograms();
	tallies();
	server = start_service(0);
	folder_make(directory, sizeof(directory), folder_in_memory(), "hammer");
	fake_begin(directory);
	for (i = 0; lock_kinds[i]; i++) {
		kind = lock_kinds[i];
		for (k = 0; k < sizeof(shares) / sizeof(*shares); k++) {
			what = hammer(kind, shares[k], RUN_MS);
			if (what) {
				fprintf(stderr, "not ok: lock %s, %u %% readers: %s\n",
					kind->name, shares[k], what);
				return 1;
			}
		}
		if (!kind->exclusive)
			readers_together(kind);
		printf("ok: %s\n", kind->name);
	}
	forgets_none();
	child_kill(server);
	server = start_service(100);
	what = hammer(&lock_service, 50, RUN_MS);
	CHECK(!what);
	puts("ok: service, with a tenth of the datagrams lost");
	child_kill(server);
	must_be_caught(&lets_all_in);
	must_be_caught(&not_atomic);
	must_be_caught(&readers_unseen);
	must_be_caught(&wrong_order);
	return check_result();
}
